// Funding: the hourly rate of a market (docs/internals/vamm-quotes.md, "Velocity: funding") and its payments.

import { abs, BASE_SCALE, clamp, FUNDING_BUFFER, max } from './amounts.ts';
import { FUNDING_PERIOD_SECONDS } from './genesis.ts';
import type { PerpMarket, StoredPerp } from './markets.ts';
import { cumulativeFunding, settleFunding } from './positions.ts';
import { FUNDING_OFFSET_PART } from './spreads.ts';
import { emit, enterExchange, leave, type Transaction, touch } from './transaction.ts';
import { perpAt, type Trader, type World } from './world.ts';

const HOURS_PER_DAY = 24n;
const CLAMP_PARTS: Readonly<Record<string, bigint>> = { a: 33n, b: 33n, c: 20n };
const OTHER_CLAMP_PART = 10n;

export function fundingIsDue(perp: StoredPerp, now: number): boolean {
  return BigInt(now) >= perp.account.last_funding_rate_ts + BigInt(FUNDING_PERIOD_SECONDS);
}

/** Rate of one period in quote per base unit, 1e9: premium beyond the dead zone, plus the offset, within the tier's clamp. */
export function fundingRate(market: PerpMarket): bigint {
  const { market_stats: stats } = market;
  const oracle = stats.historical_oracle_data.last_oracle_price_twap;
  const premium = stats.last_mark_price_twap - oracle;
  const threshold = (oracle * BigInt(market.funding_clamp_threshold)) / 10_000n;
  const beyond = premium > threshold ? premium - threshold : premium < -threshold ? premium + threshold : 0n;
  const sloped = (beyond * BigInt(market.funding_ramp_slope)) / 1_000_000n;
  const limit = oracle / (CLAMP_PARTS[market.contract_tier] ?? OTHER_CLAMP_PART);
  const bounded = clamp(sloped + abs(oracle) / FUNDING_OFFSET_PART, -limit, limit);
  return (bounded * FUNDING_BUFFER) / HOURS_PER_DAY;
}

/** Rates of both sides. Receivers get at most the payers' amount plus a third of the vAMM's budget. */
function sideRates(market: PerpMarket, rate: bigint): { long: bigint; short: bigint } {
  const longsPay = rate > 0n;
  const payers = longsPay ? market.base_asset_amount_long : -market.base_asset_amount_short;
  const receivers = longsPay ? -market.base_asset_amount_short : market.base_asset_amount_long;
  if (receivers <= payers || receivers === 0n) return { long: rate, short: rate };
  const { amm, fee_ledger: fees } = market;
  const budget = max(0n, amm.total_fee_minus_distributions - fees.total_exchange_fee / 2n) / 3n;
  const covered = payers * abs(rate) + budget * BASE_SCALE * FUNDING_BUFFER;
  const limited = covered < receivers * abs(rate) ? covered / receivers : abs(rate);
  const received = rate > 0n ? limited : -limited;
  return longsPay ? { long: rate, short: received } : { long: received, short: rate };
}

export function updateFundingRate(tx: Transaction, perp: StoredPerp): void {
  enterExchange(tx, 'UpdateFundingRate');
  const market = perp.account;
  const { amm, market_stats: stats } = market;
  const rate = fundingRate(market);
  const sides = sideRates(market, rate);
  market.cumulative_funding_rate_long += sides.long;
  market.cumulative_funding_rate_short += sides.short;
  market.last_funding_rate = rate;
  market.last_funding_rate_long = sides.long;
  market.last_funding_rate_short = sides.short;
  // An hour without an update has no funding.
  const period = BigInt(FUNDING_PERIOD_SECONDS);
  market.last_funding_rate_ts += ((BigInt(tx.now) - market.last_funding_rate_ts) / period) * period;
  const owed = sides.long * market.base_asset_amount_long + sides.short * market.base_asset_amount_short;
  const toUsers = -owed / BASE_SCALE / FUNDING_BUFFER;
  market.net_unsettled_funding_pnl += toUsers;
  amm.total_fee_minus_distributions -= toUsers;
  amm.net_revenue_since_last_funding = 0n;
  amm.last_cumulative_funding_rate_long = market.cumulative_funding_rate_long;
  amm.last_cumulative_funding_rate_short = market.cumulative_funding_rate_short;
  stats.last_24h_avg_funding_rate = (stats.last_24h_avg_funding_rate * (HOURS_PER_DAY - 1n) + rate) / HOURS_PER_DAY;
  stats.last_funding_oracle_twap = stats.historical_oracle_data.last_oracle_price_twap;
  touch(tx, perp);
  emit(tx, 'FundingRateRecord', {
    ts: BigInt(tx.now),
    record_id: market.next_funding_rate_record_id++,
    market_index: market.market_index,
    funding_rate: rate,
    funding_rate_long: sides.long,
    funding_rate_short: sides.short,
    cumulative_funding_rate_long: market.cumulative_funding_rate_long,
    cumulative_funding_rate_short: market.cumulative_funding_rate_short,
    oracle_price_twap: stats.historical_oracle_data.last_oracle_price_twap,
    mark_price_twap: stats.last_mark_price_twap,
    base_asset_amount_with_amm: amm.base_asset_amount_with_amm,
  });
  leave(tx);
}

/** Whether a trader has unpaid funding in any market. */
export function hasUnpaidFunding(world: World, trader: Trader): boolean {
  return trader.account.perp_positions.some((position) => {
    const base = position.base_asset_amount;
    const market = perpAt(world, position.market_index).account;
    return base !== 0n && cumulativeFunding(market, base) !== position.last_cumulative_funding_rate;
  });
}

/** Settles a trader's funding in all markets. */
export function payFunding(tx: Transaction, trader: Trader): void {
  enterExchange(tx, 'SettleFundingPayment');
  for (const position of trader.account.perp_positions) {
    settleFunding(tx, trader, perpAt(tx.world, position.market_index));
  }
  leave(tx);
}
