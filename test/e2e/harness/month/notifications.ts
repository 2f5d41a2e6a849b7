// The notifications that a month's records make by the table of causes (docs/internals/notifications.md), and the stored ones.

import { createClient } from '@clickhouse/client';
import { big, type Data, type MonthEvent, type MonthTruth } from './truth.ts';

/** Whole quote units; set for the month, so that payments lie on both sides of it. */
export const FUNDING_MIN = 1;
const QUOTE_SCALE = 1_000_000n;

/** One cause for one account. */
export interface MonthCause {
  readonly txSig: string;
  readonly txSigIndex: number;
  readonly ts: number;
  readonly user: string;
  readonly authority: string | null;
  readonly type: string;
  readonly record: string;
  /** Amounts and names that the notification repeats from the record. */
  readonly members: Readonly<Record<string, unknown>>;
}

/** Every cause that is a record. Health and market states are none: they follow from accounts. */
export function expectedCauses(truth: MonthTruth): readonly MonthCause[] {
  return truth.events.flatMap((event) => causesOf(event).map((cause) => withPlace(truth, event, cause)));
}

type Cause = Pick<MonthCause, 'user' | 'type' | 'record' | 'members'>;

function withPlace(truth: MonthTruth, { signature, index, ts }: MonthEvent, cause: Cause): MonthCause {
  return { txSig: signature, txSigIndex: index, ts, authority: truth.walletOf(cause.user), ...cause };
}

function causesOf({ name, data }: MonthEvent): readonly Cause[] {
  const user = String(data.user);
  if (name === 'OrderActionRecord') return ofOrders(data);
  if (name === 'LiquidationRecord') {
    const members = { liquidationType: data.liquidation_type, marginFreed: String(data.margin_freed) };
    return [{ user, type: 'ACCOUNT_UPDATE', record: 'liquidation', members }];
  }
  if (name === 'DepositRecord') {
    const { direction, market_index: marketIndex, amount, explanation } = data;
    const members = { direction, marketIndex, amount: String(amount), explanation };
    return [{ user, type: 'RECORD_UPDATE', record: 'deposit', members }];
  }
  if (name !== 'FundingPaymentRecord') return [];
  const payment = big(data.funding_payment);
  if ((payment < 0n ? -payment : payment) < BigInt(FUNDING_MIN) * QUOTE_SCALE) return [];
  const members = { marketIndex: data.market_index, fundingPayment: String(payment) };
  return [{ user, type: 'RECORD_UPDATE', record: 'fundingPayment', members }];
}

/** Actions of the order's own account notify nobody. */
function ofOrders(data: Data): readonly Cause[] {
  const { action, action_explanation: why } = data;
  const isByOwner = why === 'none' && (data.filler ?? null) === null;
  const isCause =
    (action === 'fill' && why !== 'transferPerpPosition') ||
    action === 'trigger' ||
    action === 'expire' ||
    (action === 'cancel' && !isByOwner);
  if (!isCause) return [];
  return (['taker', 'maker'] as const).flatMap((side): Cause[] => {
    const user = data[side];
    const isLiquidated = action === 'fill' && why === 'liquidation' && side === 'taker';
    if (typeof user !== 'string' || isLiquidated) return [];
    const order = { side, orderId: data[`${side}_order_id`] ?? null, marketIndex: data.market_index };
    if (action !== 'fill') return [{ user, type: 'RECORD_UPDATE', record: 'orderAction', members: order }];
    const fill = {
      ...order,
      baseAssetAmountFilled: String(data.base_asset_amount_filled),
      quoteAssetAmountFilled: String(data.quote_asset_amount_filled),
      fee: String(data[`${side}_fee`]),
    };
    return [{ user, type: 'RECORD_UPDATE', record: 'trade', members: fill }];
  });
}

export interface StoredNotification {
  readonly id: string;
  readonly authority: string;
  readonly user: string | null;
  readonly type: string;
  readonly ts: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Every stored notification, oldest first. `url` is that of ClickHouse. */
export async function storedNotifications(url: string): Promise<readonly StoredNotification[]> {
  const client = createClient({ url, database: 'slotbook' });
  try {
    const query = `SELECT id, authority, user, type, toUInt32(ts) AS ts, data FROM notification FINAL ORDER BY ts, id`;
    const rows = await (await client.query({ query, format: 'JSONEachRow' })).json<
      Omit<StoredNotification, 'data'> & { readonly data: string }
    >();
    return rows.map((row) => ({ ...row, data: JSON.parse(row.data) as StoredNotification['data'] }));
  } finally {
    await client.close();
  }
}

/** Records whose notifications follow from the state of accounts and markets. */
const STATE_RECORDS: ReadonlySet<unknown> = new Set(['health', 'market']);

/** Accounts with the same bucket of health in two notifications in a row: nothing changed in between. */
export function bucketsInARow(stored: readonly StoredNotification[]): readonly string[] {
  const last = new Map<string | null, unknown>();
  return stored.flatMap(({ user, data }) => {
    if (data.record !== 'health') return [];
    const isRepeated = last.get(user) === data.bucket;
    last.set(user, data.bucket);
    return isRepeated ? [`${user} ${String(data.bucket)} at ${String(data.ts)}`] : [];
  });
}

/** One line for each difference between the stored notifications of records and the expected causes. */
export function notificationDifferences(
  expected: readonly MonthCause[],
  stored: readonly StoredNotification[],
): readonly string[] {
  const lineOf = ({ members, ...cause }: MonthCause): string =>
    JSON.stringify({ ...sorted(cause), members: sorted(members) });
  const membersByKey = new Map(expected.map((cause) => [placeOf(cause.record, cause.txSig, cause), cause.members]));
  const got = stored
    .filter(({ data }) => !STATE_RECORDS.has(data.record))
    .map(({ authority, user, type, ts, data }): string => {
      const { txSig, txSigIndex, record, side } = data as {
        txSig: string;
        txSigIndex: number;
        record: string;
        side?: string;
      };
      const place = { txSigIndex, user: user ?? '', members: { side } };
      const names = Object.keys(membersByKey.get(placeOf(record, txSig, place)) ?? {});
      const members = Object.fromEntries(names.map((name) => [name, data[name] ?? null]));
      return lineOf({ txSig, txSigIndex, ts, user: user ?? '', authority, type, record, members });
    });
  const wanted = expected.map(lineOf);
  return [...surplus(got, wanted, 'not expected'), ...surplus(wanted, got, 'missing')];
}

function placeOf(
  record: string,
  txSig: string,
  { txSigIndex, user, members }: Pick<MonthCause, 'txSigIndex' | 'user' | 'members'>,
): string {
  return [record, txSig, txSigIndex, user, members.side ?? ''].join('/');
}

const sorted = (members: object) => Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Lines that the first list has more often than the second. */
function surplus(lines: readonly string[], others: readonly string[], why: string): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.flatMap((line) => {
    const left = counts.get(line) ?? 0;
    counts.set(line, left - 1);
    return left > 0 ? [] : [`${why}: ${line}`];
  });
}
