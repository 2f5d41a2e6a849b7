// Every list of the history with its expected rows: one entry per endpoint and scope, newest row first.

import { actionsByOrder, orderRow } from './orders.ts';
import {
  closedPositionRow,
  depositRow,
  insuranceRow,
  liquidationRow,
  perpRow,
  poolRow,
  type Row,
  swapRow,
  tradeRow,
} from './rows.ts';
import { type Data, type MonthEvent, type MonthTruth, PERP_SYMBOLS, SPOT_SYMBOLS, STRANGER } from './truth.ts';

export interface ListCheck {
  /** As the contract names it: `/market/{symbol}/trades`. */
  readonly endpoint: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** All rows of the chain's life, newest first. */
  readonly rows: readonly Row[];
  /** The largest page, where it differs from that of all lists. */
  readonly pageRows?: number;
  /** Length of the slots of its archive; absent: no archive. */
  readonly archive?: 'day' | 'month';
}

/** Lists of a kind of record with one scope. */
interface Kind {
  readonly name: string;
  readonly record: string;
  readonly row: (event: MonthEvent) => Row;
  readonly counter?: string;
  readonly filter?: (data: Data) => boolean;
}

const isReward = (data: Data): boolean => data.explanation === 'reward';
const DEPOSITS: Kind = {
  name: 'deposits',
  record: 'DepositRecord',
  row: depositRow,
  filter: (data) => !isReward(data),
};
const REWARDS: Kind = { name: 'rewards', record: 'DepositRecord', row: depositRow, filter: isReward };
const SWAPS: Kind = { name: 'swaps', record: 'SwapRecord', row: swapRow };
const STAKES: Kind = { name: 'insuranceFundStake', record: 'InsuranceFundStakeRecord', row: depositRow };

const USER_KINDS: readonly Kind[] = [
  { name: 'fundingPayments', record: 'FundingPaymentRecord', row: perpRow },
  { name: 'liquidations', record: 'LiquidationRecord', row: liquidationRow },
  { name: 'settlePnl', record: 'SettlePnlRecord', row: perpRow },
  SWAPS,
  DEPOSITS,
  REWARDS,
];

/** Members under `{user}` in a path, under a market, under an authority. */
export function marketLists(truth: MonthTruth): readonly ListCheck[] {
  const perps = PERP_SYMBOLS.flatMap((symbol, index): ListCheck[] => [
    {
      endpoint: '/market/{symbol}/trades',
      path: `/market/${symbol}/trades`,
      rows: truth
        .newestFirst(
          truth.fills((data) => data.market_type === 'perp' && data.market_index === index),
          'fill_record_id',
        )
        .map((event) => tradeRow(event, null)),
      archive: 'day',
    },
    {
      endpoint: '/market/{symbol}/fundingRates',
      path: `/market/${symbol}/fundingRates`,
      rows: truth
        .newestFirst(
          truth.of('FundingRateRecord', (data) => data.market_index === index),
          'record_id',
        )
        .map(perpRow),
      pageRows: 750,
      archive: 'day',
    },
  ]);
  const spots = SPOT_SYMBOLS.flatMap((symbol, index) => {
    const of = (kind: Kind, inMarket: (data: Data) => boolean): ListCheck => ({
      endpoint: `/market/{symbol}/${kind.name}`,
      path: `/market/${symbol}/${kind.name}`,
      rows: rowsOf(truth, kind, inMarket),
      archive: 'day',
    });
    const here = (data: Data): boolean => data.market_index === index;
    return [
      of({ name: 'trades', record: 'OrderActionRecord', row: (event) => tradeRow(event, null) }, () => false),
      of(DEPOSITS, here),
      of(REWARDS, here),
      of(SWAPS, (data) => data.in_market_index === index || data.out_market_index === index),
      of(
        { name: 'insuranceFund', record: 'InsuranceFundRecord', row: insuranceRow },
        (data) => data.spot_market_index === index,
      ),
      of(STAKES, here),
    ];
  });
  return [...perps, ...spots];
}

/**
 * For each kind of list the account with most rows; a closed account, a late one, and a stranger. `isFew`: an account that has rows of several
 * kinds stands for all of them.
 */
export function busiestAccounts(truth: MonthTruth, isFew = false): readonly string[] {
  const chosen = new Set<string>();
  const most = (events: readonly MonthEvent[], member: string): void => {
    const counts = new Map<string, number>();
    for (const { data } of events) {
      if (typeof data[member] === 'string') counts.set(data[member], (counts.get(data[member]) ?? 0) + 1);
    }
    if (isFew && [...chosen].some((user) => counts.has(user))) return;
    const found = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).find(([user]) => !chosen.has(user));
    if (found) chosen.add(found[0]);
  };
  for (const kind of USER_KINDS) most(truth.of(kind.record, kind.filter), 'user');
  most(truth.fills(), 'taker');
  most(truth.fills(), 'maker');
  most(
    truth.fills((data) => data.action_explanation === 'transferPerpPosition'),
    'taker',
  );
  most(truth.of('DeleteUserRecord'), 'user');
  most(truth.of('NewUserRecord').slice(-1), 'user');
  return [...chosen, STRANGER];
}

/** Wallets with most stakes and with most mints of pool shares, and a stranger. */
export function busiestWallets(truth: MonthTruth): readonly string[] {
  const ranked = (name: string, member: string): readonly string[] => {
    const counts = new Map<string, number>();
    for (const { data } of truth.of(name)) {
      counts.set(String(data[member]), (counts.get(String(data[member])) ?? 0) + 1);
    }
    return [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([wallet]) => wallet);
  };
  const stakers = ranked('InsuranceFundStakeRecord', 'user_authority').slice(0, 3);
  return [...new Set([...stakers, ...ranked('LPMintRedeemRecord', 'authority').slice(0, 3), STRANGER])];
}

export function userLists(truth: MonthTruth, users: readonly string[]): readonly ListCheck[] {
  const actions = actionsByOrder(truth);
  return users.flatMap((user) => {
    const archive = { archive: 'month' as const };
    const fills = truth.newestFirst(
      truth.fills((data) => data.taker === user || data.maker === user),
      'fill_record_id',
    );
    const trades = fills.map((event) => tradeRow(event, user));
    const placed = truth.newestFirst(truth.of('OrderRecord', (data) => data.user === user));
    const orders = placed.map((event) => {
      const id = (event.data.order as Data).order_id;
      return orderRow(event, actions.get(`${user}/${id}`) ?? []);
    });
    const ofUser = (
      suffix: string,
      pattern: string,
      rows: readonly Row[],
      more: Partial<ListCheck> = {},
    ): ListCheck => ({
      endpoint: `/user/{accountId}/${pattern}`,
      path: `/user/${user}/${suffix}`,
      rows,
      ...more,
    });
    const busiest = busiestOrder(user, actions);
    return [
      ofUser('trades', 'trades', trades, archive),
      ...PERP_SYMBOLS.map((symbol) =>
        ofUser(
          `trades/${symbol}`,
          'trades/{symbol}',
          trades.filter((row) => row.symbol === symbol),
        ),
      ),
      ofUser('positions', 'positions', closedPositions(fills, user)),
      ofUser('orders/perp', 'orders/{marketFilter}', orders),
      ofUser('orders/spot', 'orders/{marketFilter}', []),
      ofUser(
        'orders/perp',
        'orders/{marketFilter}',
        orders.filter((row) => row.baseAssetAmountFilled !== '0'),
        { query: { hasFill: true } },
      ),
      ofUser(
        'orders/perp/ETH-PERP',
        'orders/{marketFilter}/{symbol}',
        orders.filter((row) => row.symbol === 'ETH-PERP'),
      ),
      ...(busiest === undefined
        ? []
        : [
            ofUser(
              `orders/${busiest}/actions`,
              'orders/{orderId}/actions',
              truth
                .newestFirst(
                  (actions.get(`${user}/${busiest}`) ?? []).map(({ event }) => event),
                  placeInLife,
                )
                .map((event) => tradeRow(event, user)),
            ),
          ]),
      ...USER_KINDS.map((kind) =>
        ofUser(
          kind.name,
          kind.name,
          rowsOf(truth, kind, (data) => data.user === user),
          archive,
        ),
      ),
    ];
  });
}

export function authorityLists(truth: MonthTruth, wallets: readonly string[]): readonly ListCheck[] {
  return wallets.flatMap((wallet) => [
    {
      endpoint: '/authority/{authorityId}/insuranceFundStake',
      path: `/authority/${wallet}/insuranceFundStake`,
      rows: rowsOf(truth, STAKES, (data) => data.user_authority === wallet),
      archive: 'month' as const,
    },
    {
      endpoint: '/authority/{authorityId}/lpMintRedeem',
      path: `/authority/${wallet}/lpMintRedeem`,
      rows: rowsOf(
        truth,
        { name: 'lpMintRedeem', record: 'LPMintRedeemRecord', row: poolRow },
        (data) => data.authority === wallet,
      ),
      archive: 'month' as const,
    },
  ]);
}

/** Exchange-wide lists. */
export function statsLists(truth: MonthTruth): readonly ListCheck[] {
  const all = (filter: (kind: string) => boolean): readonly Row[] =>
    rowsOf(truth, { name: '', record: 'LiquidationRecord', row: liquidationRow }, (data) =>
      filter(String(data.liquidation_type)),
    );
  return [
    { endpoint: '/stats/liquidations', path: '/stats/liquidations', rows: all((kind) => !/Bankruptcy$/.test(kind)) },
    { endpoint: '/stats/bankruptcies', path: '/stats/bankruptcies', rows: all((kind) => /Bankruptcy$/.test(kind)) },
  ];
}

function rowsOf(truth: MonthTruth, kind: Kind, inScope: (data: Data) => boolean): readonly Row[] {
  const events = truth.of(kind.record, (data) => (kind.filter?.(data) ?? true) && inScope(data));
  return truth.newestFirst(events, kind.counter).map(kind.row);
}

function closedPositions(fills: readonly MonthEvent[], user: string): readonly Row[] {
  return fills.flatMap((event) =>
    (['taker', 'maker'] as const).flatMap((side) => {
      const row = event.data[side] === user ? closedPositionRow(event, side) : null;
      return row ? [row] : [];
    }),
  );
}

const LIFE = ['place', 'trigger', 'fill'];
/** Actions of one order in one slot: by what they do, then by fill id. */
function placeInLife({ data }: MonthEvent): bigint {
  const place = LIFE.indexOf(String(data.action));
  return BigInt(place < 0 ? LIFE.length : place) * 2n ** 64n + BigInt(String(data.fill_record_id ?? 0));
}

/** The order of an account with most records. */
function busiestOrder(user: string, actions: ReturnType<typeof actionsByOrder>): number | undefined {
  let found: number | undefined;
  let most = 0;
  for (const [key, list] of actions) {
    const [owner, id] = key.split('/');
    if (owner !== user || list.length <= most) continue;
    most = list.length;
    found = Number(id);
  }
  return found;
}
