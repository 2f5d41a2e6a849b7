// Account activity summed by bucket of the grid. Each event counts once.

import { fillSidesByAccount, fillSumsSql, LAST_FILL, moneyRows, moneySumsSql } from '../../../schemas/index.ts';
import { inKeysSql, keyList } from '../keys.ts';
import { DAY_S } from '../seconds.ts';
import { bucketSql, type Grid, gridParameters } from '../snapshots/grid.ts';
import type { HistoryStore } from '../store.ts';
import { both, DB, END_OF_DAY, type Span, sharesOf, storedFills, storedMoney } from './account-days.ts';

const ofUsers = (column = 'user'): string => inKeysSql(column, 'users');
const BUCKET = `${bucketSql('ts')} AS bucket`;
const UNTIL = 'ts <= {last:Int64}';

/** Everything up to the last point, separated at each point. */
const spanOf = ({ first, times }: Grid): Span => ({ until: times.at(-1) ?? first, cuts: times });

/** One account and bucket; 64-bit numbers are text. */
interface BucketRow {
  readonly user: string;
  readonly bucket: string;
}

export interface FillsRow extends BucketRow {
  readonly marketType: string;
  readonly marketIndex: number;
  /** Quote 1e6 of fills without position transfers. */
  readonly takerVolume: string;
  readonly makerVolume: string;
  /** Quote 1e6, both positive. */
  readonly feePaid: string;
  readonly feeRebate: string;
  /** Change of the position: base 1e9, positive = bought. */
  readonly base: string;
  /** Change of the entry amount: negative for the cost of a long, positive for the proceeds of a short. */
  readonly entry: string;
  /** Quote received less quote paid and fees. */
  readonly cash: string;
  /** Realized P&L less the fee share (docs/internals/history-semantics.md, "Closed positions"). */
  readonly realized: string;
  /** Oracle price 1e6 of the last fill. */
  readonly oraclePrice: string;
}

/** Sums of fills, defined by `fillSumsSql`. */
export function fillSums(
  store: HistoryStore,
  users: readonly string[],
  grid: Grid,
  clean: readonly number[],
): Promise<readonly FillsRow[]> {
  const shares = sharesOf(clean, spanOf(grid));
  const stored = storedFills(bucketSql(END_OF_DAY), `${ofUsers()} AND ${shares.stored}`);
  const open = fillSumsSql(fillSidesByAccount(DB, `${ofUsers()} AND ${shares.open}`), bucketSql('ts'));
  return store.rows<FillsRow>(
    `SELECT base58Encode(user) AS user, period AS bucket, market_type AS marketType, market_index AS marketIndex,
       toString(sum(taker_volume)) AS takerVolume, toString(sum(maker_volume)) AS makerVolume,
       toString(sum(fee_paid)) AS feePaid, toString(sum(fee_rebate)) AS feeRebate,
       toString(sum(base)) AS base, toString(sum(entry)) AS entry, toString(sum(cash)) AS cash,
       toString(sum(realized)) AS realized,
       toString(argMax(last_oracle_price, (${LAST_FILL.join(', ')}))) AS oraclePrice
     FROM ${both(stored, open)} GROUP BY user, period, market_type, market_index`,
    { ...gridParameters(grid), users: keyList(users) },
  );
}

export interface PerpMoneyRow extends BucketRow {
  readonly marketIndex: number;
  /** Quote 1e6: funding received, P&L settled, and P&L moved by liquidations, bankruptcies and expiry. */
  readonly funding: string;
  readonly settled: string;
  readonly moved: string;
  /** Position that ended by expiry: base 1e9, entry quote 1e6. */
  readonly expiredBase: string;
  readonly expiredEntry: string;
}

/** Sums of funding payments, settlements and liquidated P&L, defined by `moneySumsSql`. */
export function perpMoney(
  store: HistoryStore,
  users: readonly string[],
  grid: Grid,
  clean: readonly number[],
): Promise<readonly PerpMoneyRow[]> {
  const shares = sharesOf(clean, spanOf(grid));
  const stored = storedMoney(bucketSql(END_OF_DAY), `${ofUsers()} AND ${shares.stored}`);
  const open = moneySumsSql(
    moneyRows(DB, (column) => `${ofUsers(column)} AND ${shares.open}`),
    bucketSql('ts'),
  );
  return store.rows<PerpMoneyRow>(
    `SELECT base58Encode(user) AS user, period AS bucket, market_index AS marketIndex, toString(sum(funding)) AS funding,
       toString(sum(settled)) AS settled, toString(sum(moved)) AS moved,
       toString(sum(expired_base)) AS expiredBase, toString(sum(expired_entry)) AS expiredEntry
     FROM ${both(stored, open)} GROUP BY user, period, market_index`,
    { ...gridParameters(grid), users: keyList(users) },
  );
}

export type TokenMoveKind = 'deposit' | 'withdraw' | 'reward' | 'swap' | 'settle' | 'liquidation';

export interface TokenMoveRow extends BucketRow {
  readonly slot: string;
  readonly marketIndex: number;
  readonly kind: TokenMoveKind;
  /** Tokens, mint decimals; positive = received. */
  readonly delta: string;
  /** Tokens after a deposit record; null for other movements. */
  readonly after: string | null;
  /** Counter of the market's deposit records, in chain order. */
  readonly recordId: string;
  /** Cumulative interest 1e10 of a deposit record. */
  readonly depositInterest: string;
  readonly borrowInterest: string;
  /** Price 1e6 in the record; 0 where it names none. */
  readonly price: string;
}

/** SQL of an array with (market, tokens received, price) of each token that a liquidation moves on one side of it. */
function liquidationMoves(side: 'user' | 'liquidator'): string {
  const received = (amount: string): string => (side === 'user' ? amount : `-(${amount})`);
  const one = (market: string, delta: string, price: string): string =>
    `(toUInt16(${market}), toInt256(${delta}), toInt64(${price}))`;
  const fees = side === 'user' ? ' - liquidate_spot_if_fee - ifNull(liquidate_spot_protocol_fee, 0)' : '';
  const kinds: Readonly<Record<string, readonly string[]>> = {
    liquidateSpot: [
      one(
        'liquidate_spot_asset_market_index',
        received('-toInt256(liquidate_spot_asset_transfer)'),
        'liquidate_spot_asset_price',
      ),
      one(
        'liquidate_spot_liability_market_index',
        received(`toInt256(liquidate_spot_liability_transfer)${fees}`),
        'liquidate_spot_liability_price',
      ),
    ],
    liquidateBorrowForPerpPnl: [
      one(
        'liquidate_borrow_for_perp_pnl_liability_market_index',
        received('toInt256(liquidate_borrow_for_perp_pnl_liability_transfer)'),
        'liquidate_borrow_for_perp_pnl_liability_price',
      ),
    ],
    liquidatePerpPnlForDeposit: [
      one(
        'liquidate_perp_pnl_for_deposit_asset_market_index',
        received('-toInt256(liquidate_perp_pnl_for_deposit_asset_transfer)'),
        'liquidate_perp_pnl_for_deposit_asset_price',
      ),
    ],
    // Nobody pays the account for a debt that is written off.
    ...(side === 'user'
      ? { spotBankruptcy: [one('spot_bankruptcy_market_index', 'toInt256(spot_bankruptcy_borrow_amount)', '0')] }
      : {}),
  };
  const branches = Object.entries(kinds).map(([kind, moves]) => `liquidation_type = '${kind}', [${moves.join(', ')}]`);
  return `multiIf(${branches.join(', ')}, CAST([], 'Array(Tuple(UInt16, Int256, Int64))'))`;
}

/** Every movement of tokens, by account, market and time. */
export function tokenMoves(
  store: HistoryStore,
  users: readonly string[],
  grid: Grid,
): Promise<readonly TokenMoveRow[]> {
  const head = 'ts, slot, ifNull(tx_index, 0) AS place, event_index';
  const none = `CAST(NULL AS Nullable(Int256)) AS after, toUInt64(0) AS record_id, toUInt128(0) AS deposit_interest,
       toUInt128(0) AS borrow_interest`;
  const move = (market: string, kind: string, delta: string, price: string) =>
    `${head}, ${market} AS market, ${kind} AS kind, ${delta} AS delta, ${none}, toInt64(${price}) AS price`;
  // The table is wide: it is read once for each side, whatever a liquidation moved.
  const liquidations = (column: 'user' | 'liquidator') => `
       SELECT ${column} AS user, ${head}, moved.1 AS market, 'liquidation' AS kind, moved.2 AS delta, ${none}, moved.3 AS price
       FROM (SELECT ${column}, ts, slot, tx_index, event_index, arrayJoin(${liquidationMoves(column)}) AS moved
         FROM {db:Identifier}.liquidation FINAL WHERE ${ofUsers(column)} AND ${UNTIL})`;
  const queries = [
    `SELECT user, ${head}, market_index AS market,
         if(explanation = 'reward', 'reward', direction) AS kind,
         if(direction = 'deposit', toInt256(amount), -toInt256(amount)) AS delta,
         CAST(user_token_amount_after AS Nullable(Int256)) AS after, deposit_record_id AS record_id,
         market_cumulative_deposit_interest AS deposit_interest, market_cumulative_borrow_interest AS borrow_interest,
         oracle_price AS price
       FROM {db:Identifier}.deposit FINAL WHERE ${ofUsers()} AND ${UNTIL}`,
    `SELECT user, ${move('in_market_index', "'swap'", '-toInt256(amount_in)', 'in_oracle_price')}
       FROM {db:Identifier}.swap FINAL WHERE ${ofUsers()} AND ${UNTIL}`,
    `SELECT user, ${move('out_market_index', "'swap'", 'toInt256(amount_out)', 'out_oracle_price')}
       FROM {db:Identifier}.swap FINAL WHERE ${ofUsers()} AND ${UNTIL}`,
    `SELECT user, ${move('toUInt16(0)', "'settle'", 'toInt256(pnl)', '0')}
       FROM {db:Identifier}.settle_pnl FINAL WHERE ${ofUsers()} AND ${UNTIL}`,
    liquidations('user'),
    liquidations('liquidator'),
  ];
  return store.rows<TokenMoveRow>(
    `SELECT base58Encode(user) AS user, ${BUCKET}, slot, market AS marketIndex, kind, toString(delta) AS delta,
       toString(after) AS after, toString(record_id) AS recordId, toString(deposit_interest) AS depositInterest,
       toString(borrow_interest) AS borrowInterest, toString(price) AS price
     FROM (${queries.join('\n       UNION ALL\n       ')})
     ORDER BY ts, slot, place, event_index, market, kind, delta`,
    { ...gridParameters(grid), users: keyList(users) },
  );
}

export interface MarketPointRow {
  readonly market: string;
  readonly bucket: string;
  readonly price: string;
}

/** How long before a time a sample still gives the price of that time. */
export const PRICE_LOOKBACK_S = DAY_S;

/** Last sampled oracle price 1e6 of each market and bucket, from a day before the first point. `markets` are like `perp-0`. */
export async function sampledPrices(
  store: HistoryStore,
  markets: readonly string[],
  grid: Grid,
): Promise<readonly MarketPointRow[]> {
  if (markets.length === 0) return [];
  return store.rows<MarketPointRow>(
    `SELECT concat(market_type, '-', toString(market_index)) AS market, ${BUCKET},
       toString(argMax(assumeNotNull(oracle_price), (ts, slot))) AS price
     FROM {db:Identifier}.market_sample
     WHERE (market_type, market_index) IN (
         SELECT splitByChar('-', name)[1] AS t, toUInt16(splitByChar('-', name)[2]) AS i
         FROM (SELECT arrayJoin(splitByChar(',', {markets:String})) AS name))
       AND ts > {first:Int64} - ${PRICE_LOOKBACK_S} AND ${UNTIL} AND oracle_price IS NOT NULL
     GROUP BY market_type, market_index, bucket`,
    { ...gridParameters(grid), markets: markets.join(',') },
  );
}

export interface InterestRow {
  readonly marketIndex: number;
  readonly bucket: string;
  /** Slot of the record. */
  readonly newestSlot: string;
  readonly depositInterest: string;
  readonly borrowInterest: string;
}

/** Last recorded cumulative interest 1e10 of each spot market and bucket. */
export async function recordedInterest(
  store: HistoryStore,
  spotIndexes: readonly number[],
  grid: Grid,
): Promise<readonly InterestRow[]> {
  if (spotIndexes.length === 0) return [];
  return store.rows<InterestRow>(
    `SELECT market_index AS marketIndex, ${BUCKET}, toString(max(slot)) AS newestSlot,
       toString(argMax(cumulative_deposit_interest, (ts, slot, event_index))) AS depositInterest,
       toString(argMax(cumulative_borrow_interest, (ts, slot, event_index))) AS borrowInterest
     FROM {db:Identifier}.spot_interest
     WHERE market_index IN (SELECT toUInt16(arrayJoin(splitByChar(',', {indexes:String})))) AND ${UNTIL}
     GROUP BY market_index, bucket`,
    { ...gridParameters(grid), indexes: spotIndexes.join(',') },
  );
}
