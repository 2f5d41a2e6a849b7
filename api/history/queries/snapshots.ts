// What accounts did, summed by the bucket of the grid it fell in, each event once.

import { bucketSql, type Grid, gridParameters } from '../snapshots/grid.ts';
import type { HistoryStore } from '../store.ts';

/** SQL that picks rows of the accounts in `{users:String}`, base58 keys separated by commas. */
const ofUsers = (column = 'user'): string =>
  `${column} IN (SELECT toFixedString(base58Decode(arrayJoin(splitByChar(',', {users:String}))), 32))`;
const BUCKET = `${bucketSql('ts')} AS bucket`;
const UNTIL = 'ts <= {last:Int64}';

/** One account and bucket; 64-bit numbers come as text. */
interface BucketRow {
  readonly user: string;
  readonly bucket: string;
}

export interface FillsRow extends BucketRow {
  readonly marketType: string;
  readonly marketIndex: number;
  /** Quote 1e6 of fills but position transfers. */
  readonly takerVolume: string;
  readonly makerVolume: string;
  /** Quote 1e6, both positive. */
  readonly feePaid: string;
  readonly feeRebate: string;
  /** Change of the position: base 1e9, positive = bought. */
  readonly base: string;
  /** Change of its entry amount: negative what a long cost, positive what a short brought. */
  readonly entry: string;
  /** Quote received minus quote paid and fees. */
  readonly cash: string;
  /** By the rule of history reference 4.12, fee share taken off. */
  readonly realized: string;
  /** Oracle price 1e6 of the last fill. */
  readonly oraclePrice: string;
}

/**
 * Fills. `closed` is the part of the filled base that closed a position (4.12): the existing base when the record has one (a
 * flip), all of it when it has the existing entry alone, else nothing. A record that names an existing base beyond what was
 * filled closed a part of it: all of the filled base, and the entry by the same part. Divisions are truncated toward zero.
 */
export function fillSums(store: HistoryStore, users: readonly string[], grid: Grid): Promise<readonly FillsRow[]> {
  return store.rows<FillsRow>(
    `SELECT base58Encode(user) AS user, bucket, market_type AS marketType, market_index AS marketIndex,
       toString(sumIf(quote, side = 'taker' AND NOT moved)) AS takerVolume,
       toString(sumIf(quote, side = 'maker' AND NOT moved)) AS makerVolume,
       toString(sum(greatest(fee, 0))) AS feePaid, toString(sum(greatest(-fee, 0))) AS feeRebate,
       toString(sum(sign * base)) AS base, toString(sum(-sign * (existing + quote - closedQuote))) AS entry,
       toString(sum(-sign * quote - fee)) AS cash,
       toString(sumIf(-sign * (closedQuote - existing) - feeShare, closes)) AS realized,
       toString(argMax(oracle_price, (ts, slot, event_index))) AS oraclePrice
     FROM (
       SELECT user, ts, slot, event_index, side, market_type, market_index, oracle_price, ${BUCKET},
         action_explanation = 'transferPerpPosition' AS moved,
         if(order_direction = 'long', 1, -1) AS sign,
         toInt256(base_asset_amount_filled) AS base, toInt256(quote_asset_amount_filled) AS quote, toInt256(account_action.fee) AS fee,
         existing_quote_entry_amount IS NOT NULL AND base > 0 AS closes,
         if(closes, toInt256(ifNull(existing_base_asset_amount, base_asset_amount_filled)), toInt256(0)) AS held,
         least(held, base) AS closed,
         intDiv(toInt256(ifNull(existing_quote_entry_amount, 0)) * closed, greatest(held, toInt256(1))) AS existing,
         intDiv(quote * closed, greatest(base, toInt256(1))) AS closedQuote,
         intDiv(fee * closed, greatest(base, toInt256(1))) AS feeShare
       FROM {db:Identifier}.account_action FINAL
       WHERE ${ofUsers()} AND action = 'fill' AND ${UNTIL}
     ) GROUP BY user, bucket, market_type, market_index`,
    { ...gridParameters(grid), users: users.join(',') },
  );
}

export interface PerpMoneyRow extends BucketRow {
  readonly marketIndex: number;
  /** Quote 1e6: funding received, P&L settled, and what liquidations, bankruptcies and expiry moved to the account's P&L. */
  readonly funding: string;
  readonly settled: string;
  readonly moved: string;
  /** Position that ended by expiry: base 1e9, entry quote 1e6. */
  readonly expiredBase: string;
  readonly expiredEntry: string;
}

const ZERO = 'toInt256(0)';

/** Funding payments, settlements, and profit or loss that liquidations moved; fees of liquidations are in their fills. */
export function perpMoney(store: HistoryStore, users: readonly string[], grid: Grid): Promise<readonly PerpMoneyRow[]> {
  const pnlMoves = (column: 'user' | 'liquidator', sign: '' | '-') => `
       SELECT ${column} AS user, ${BUCKET},
         multiIf(liquidation_type = 'liquidateBorrowForPerpPnl', liquidate_borrow_for_perp_pnl_perp_market_index,
           liquidation_type = 'liquidatePerpPnlForDeposit', liquidate_perp_pnl_for_deposit_perp_market_index,
           perp_bankruptcy_market_index) AS market_index,
         ${ZERO} AS funding, ${ZERO} AS settled,
         ${sign}multiIf(liquidation_type = 'liquidateBorrowForPerpPnl', -toInt256(liquidate_borrow_for_perp_pnl_pnl_transfer),
           liquidation_type = 'liquidatePerpPnlForDeposit', toInt256(liquidate_perp_pnl_for_deposit_pnl_transfer),
           -toInt256(perp_bankruptcy_pnl)) AS moved,
         ${ZERO} AS expired_base, ${ZERO} AS expired_entry
       FROM {db:Identifier}.liquidation FINAL
       WHERE ${ofUsers(column)} AND ${UNTIL} AND liquidation_type IN ('liquidateBorrowForPerpPnl',
         'liquidatePerpPnlForDeposit'${column === 'user' ? ", 'perpBankruptcy'" : ''})`;
  return store.rows<PerpMoneyRow>(
    `SELECT base58Encode(user) AS user, bucket, market_index AS marketIndex, toString(sum(funding)) AS funding,
       toString(sum(settled)) AS settled, toString(sum(moved)) AS moved,
       toString(sum(expired_base)) AS expiredBase, toString(sum(expired_entry)) AS expiredEntry
     FROM (
       SELECT user, ${BUCKET}, market_index, toInt256(funding_payment) AS funding, ${ZERO} AS settled, ${ZERO} AS moved,
         ${ZERO} AS expired_base, ${ZERO} AS expired_entry
       FROM {db:Identifier}.funding_payment FINAL WHERE ${ofUsers()} AND ${UNTIL}
       UNION ALL
       SELECT user, ${BUCKET}, market_index, ${ZERO} AS funding, toInt256(pnl) AS settled,
         if(explanation = 'expiredPosition', intDiv(toInt256(base_asset_amount) * settle_price, toInt256(1000000000)),
           ${ZERO}) AS moved,
         if(explanation = 'expiredPosition', toInt256(base_asset_amount), ${ZERO}) AS expired_base,
         if(explanation = 'expiredPosition', toInt256(quote_entry_amount), ${ZERO}) AS expired_entry
       FROM {db:Identifier}.settle_pnl FINAL WHERE ${ofUsers()} AND ${UNTIL}
       UNION ALL ${pnlMoves('user', '')}
       UNION ALL ${pnlMoves('liquidator', '-')}
     ) GROUP BY user, bucket, market_index`,
    { ...gridParameters(grid), users: users.join(',') },
  );
}

export type TokenMoveKind = 'deposit' | 'withdraw' | 'reward' | 'swap' | 'settle' | 'liquidation';

export interface TokenMoveRow extends BucketRow {
  readonly slot: string;
  readonly marketIndex: number;
  readonly kind: TokenMoveKind;
  /** Tokens, mint decimals; positive = came in. */
  readonly delta: string;
  /** Tokens after a deposit record; null for what is no deposit record. */
  readonly after: string | null;
  /** Counts the deposit records of the market, in the order of the chain. */
  readonly recordId: string;
  /** Cumulative interest 1e10 of a deposit record. */
  readonly depositInterest: string;
  readonly borrowInterest: string;
  /** Price 1e6 the record was made at; 0 where it names none. */
  readonly price: string;
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
  const liquidation = (column: 'user' | 'liquidator', kind: string, market: string, delta: string, price: string) => `
       SELECT ${column} AS user, ${move(market, "'liquidation'", delta, price)}
       FROM {db:Identifier}.liquidation FINAL WHERE ${ofUsers(column)} AND ${UNTIL} AND liquidation_type = '${kind}'`;
  const bothSides = (kind: string, market: string, delta: string, price: string) => [
    liquidation('user', kind, market, delta, price),
    liquidation('liquidator', kind, market, `-(${delta})`, price),
  ];
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
    ...bothSides(
      'liquidateSpot',
      'liquidate_spot_asset_market_index',
      '-toInt256(liquidate_spot_asset_transfer)',
      'liquidate_spot_asset_price',
    ),
    liquidation(
      'user',
      'liquidateSpot',
      'liquidate_spot_liability_market_index',
      'toInt256(liquidate_spot_liability_transfer) - liquidate_spot_if_fee - ifNull(liquidate_spot_protocol_fee, 0)',
      'liquidate_spot_liability_price',
    ),
    liquidation(
      'liquidator',
      'liquidateSpot',
      'liquidate_spot_liability_market_index',
      '-toInt256(liquidate_spot_liability_transfer)',
      'liquidate_spot_liability_price',
    ),
    ...bothSides(
      'liquidateBorrowForPerpPnl',
      'liquidate_borrow_for_perp_pnl_liability_market_index',
      'toInt256(liquidate_borrow_for_perp_pnl_liability_transfer)',
      'liquidate_borrow_for_perp_pnl_liability_price',
    ),
    ...bothSides(
      'liquidatePerpPnlForDeposit',
      'liquidate_perp_pnl_for_deposit_asset_market_index',
      '-toInt256(liquidate_perp_pnl_for_deposit_asset_transfer)',
      'liquidate_perp_pnl_for_deposit_asset_price',
    ),
    liquidation(
      'user',
      'spotBankruptcy',
      'spot_bankruptcy_market_index',
      'toInt256(spot_bankruptcy_borrow_amount)',
      '0',
    ),
  ];
  return store.rows<TokenMoveRow>(
    `SELECT base58Encode(user) AS user, ${BUCKET}, slot, market AS marketIndex, kind, toString(delta) AS delta,
       toString(after) AS after, toString(record_id) AS recordId, toString(deposit_interest) AS depositInterest,
       toString(borrow_interest) AS borrowInterest, toString(price) AS price
     FROM (${queries.join('\n       UNION ALL\n       ')})
     ORDER BY ts, slot, place, event_index, market, kind, delta`,
    { ...gridParameters(grid), users: users.join(',') },
  );
}

export interface MarketPointRow {
  readonly market: string;
  readonly bucket: string;
  readonly price: string;
}

const LOOKBACK_S = 86_400;

/** Last sampled oracle price 1e6 of each market and bucket, from a day before the first point; `markets` as `perp-0`. */
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
       AND ts > {first:Int64} - ${LOOKBACK_S} AND ${UNTIL} AND oracle_price IS NOT NULL
     GROUP BY market_type, market_index, bucket`,
    { ...gridParameters(grid), markets: markets.join(',') },
  );
}

export interface InterestRow {
  readonly marketIndex: number;
  readonly bucket: string;
  /** Of the record that says so. */
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
