// Levels of the vAMM (docs/internals/vamm-quotes.md): a hundred average prices per side along its curve.

import { type AmmState, BASE_PRECISION, type BookMarket, PRICE_PRECISION } from '../../schemas/index.ts';
import type { VammLevel } from './side.ts';
import { fitsNumber } from './size.ts';
import { squareRoot } from './whole.ts';

/** Orders per side. */
const VAMM_ORDERS = 100;
/** The vAMM does not quote when its oracle is older than this many slots. */
const VAMM_ORACLE_MAX_AGE_SLOTS = 160;

const RESERVE_TO_QUOTE = 1_000n;
const PEG_TO_QUOTE = 1_000_000_000n;

/** Square roots of 0.05 and 0.95 with five digits. */
const PREDICTION_ASK_ROOT = 22_361n;
const PREDICTION_BID_ROOT = 97_467n;
const PREDICTION_ROOT_SCALE = 100_000n;

/** Whole quote units of the first levels. */
const TOP_MAJOR: readonly bigint[] = [5_000n, 10_000n, 20_000n, 50_000n];
const TOP_OTHER: readonly bigint[] = [500n, 1_000n, 2_000n, 5_000n];
const MAJOR_MARKETS = 3;

export interface Reserves {
  readonly base: bigint;
  readonly quote: bigint;
}

interface Bounds {
  readonly min: bigint;
  readonly max: bigint;
}

/**
 * Reserves moved by a signed spread (1e6 = 100 %): half of it as a share of the quote reserve, but never nothing, and
 * within `bounds` where given (docs/internals/vamm-quotes.md).
 */
export function spreadReserves(
  reserves: Reserves,
  sqrtK: bigint,
  spread: bigint,
  bounds: Bounds | null = null,
): Reserves {
  if (spread === 0n) return reserves;
  const half = spread / 2n;
  const fraction = half === 0n ? (spread > 0n ? 1n : -1n) : half;
  const divisor = PRICE_PRECISION / fraction;
  if (divisor === 0n) return reserves;
  let quote = reserves.quote + reserves.quote / divisor;
  if (bounds && quote > bounds.max) quote = bounds.max;
  if (bounds && quote < bounds.min) quote = bounds.min;
  return quote > 0n ? { base: (sqrtK * sqrtK) / quote, quote } : reserves;
}

/** Quote reserves between which a prediction market quotes: asks from 0.05 to 1, bids from 0 to 0.95. */
export function predictionBounds(sqrtK: bigint, peg: bigint, side: 'bid' | 'ask'): Bounds {
  const scale = squareRoot(peg * PRICE_PRECISION + 1n) + 1n;
  const at = (root: bigint) => (sqrtK * root * scale) / PREDICTION_ROOT_SCALE / peg;
  if (side === 'ask') return { min: at(PREDICTION_ASK_ROOT), max: (sqrtK * scale) / peg };
  return { min: 0n, max: at(PREDICTION_BID_ROOT) };
}

/** Bid or ask reserves: as stored on the chain, else from the stored spreads (half base spread if none). */
export function quoteReserves(amm: AmmState, side: 'bid' | 'ask'): Reserves {
  const base = side === 'bid' ? amm.bidBaseAssetReserve : amm.askBaseAssetReserve;
  const quote = side === 'bid' ? amm.bidQuoteAssetReserve : amm.askQuoteAssetReserve;
  if (base > 0n && quote > 0n) return { base, quote };
  const never = amm.longSpread === 0 && amm.shortSpread === 0;
  const own = never ? Math.trunc(amm.baseSpread / 2) : side === 'bid' ? amm.shortSpread : amm.longSpread;
  const signed = (side === 'bid' ? -own : own) + amm.referencePriceOffset;
  const plain = { base: amm.baseAssetReserve, quote: amm.quoteAssetReserve };
  return spreadReserves(plain, amm.sqrtK, BigInt(signed));
}

/** Base amount that a side can still trade, 1e9; 0 when it is too little to quote. */
function openLiquidity(amm: AmmState, side: 'bid' | 'ask', stepSize: bigint, minOrderSize: bigint): bigint {
  const open =
    side === 'bid' ? amm.maxBaseAssetReserve - amm.baseAssetReserve : amm.baseAssetReserve - amm.minBaseAssetReserve;
  if (open <= 0n || open / 2n < stepSize || open < 2n * minOrderSize) return 0n;
  return open;
}

export interface VammInput {
  readonly side: 'bid' | 'ask';
  readonly reserves: Reserves;
  readonly openLiquidity: bigint;
  readonly sqrtK: bigint;
  readonly peg: bigint;
  readonly oracle: bigint;
  readonly stepSize: bigint;
  readonly tickSize: bigint;
  readonly marketIndex: number;
}

/** Slices of the curve with their average price, best first. Equal prices stay separate. */
export function vammLevels(input: VammInput): VammLevel[] {
  const { side, openLiquidity: open, peg, oracle, tickSize } = input;
  const levels: VammLevel[] = [];
  if (open <= 0n || oracle <= 0n) return levels;
  const top = input.marketIndex < MAJOR_MARKETS ? TOP_MAJOR : TOP_OTHER;
  const step = input.stepSize > 0n ? input.stepSize : 1n;
  const slices = BigInt(Math.max(1, VAMM_ORDERS - top.length));
  const k = input.sqrtK * input.sqrtK;
  let { base, quote } = input.reserves;
  let filledTop = 0n;
  let size = open / slices;
  for (let i = 0; i < VAMM_ORDERS && size > 0n; i++) {
    const amount = top[i];
    let slice = size;
    if (amount !== undefined) {
      const wanted = (amount * PRICE_PRECISION * RESERVE_TO_QUOTE * PRICE_PRECISION) / oracle;
      const stepped = wanted - (wanted % step);
      slice = stepped < open - filledTop ? stepped : open - filledTop;
    }
    if (slice <= 0n) break;
    const nextBase = side === 'bid' ? base + slice : base - slice;
    if (nextBase <= 0n) break;
    const nextQuote = k / nextBase;
    const moved = nextQuote > quote ? nextQuote - quote : quote - nextQuote;
    const paid = side === 'bid' ? (moved * peg) / PEG_TO_QUOTE : ((moved + 1n) * peg) / PEG_TO_QUOTE + 1n;
    base = nextBase;
    quote = nextQuote;
    if (amount !== undefined) {
      filledTop += slice;
      size = (open - filledTop) / slices;
    }
    const price = toTick((paid * BASE_PRECISION) / slice, tickSize, side);
    if (fitsNumber(price)) levels.push({ price: Number(price), size: slice });
  }
  return levels;
}

function toTick(price: bigint, tickSize: bigint, side: 'bid' | 'ask'): bigint {
  if (tickSize <= 1n) return price;
  const over = price % tickSize;
  if (over === 0n) return price;
  return side === 'bid' ? price - over : price - over + tickSize;
}

/** Whether the vAMM quotes: a perp market, AMM fills not paused, and a fresh oracle. */
export function vammQuotes(market: BookMarket, oracleSlot: bigint, slot: number): boolean {
  if (market.marketType !== 'perp' || market.amm === null || market.ammPaused) return false;
  return market.oracleSource === 'prelaunch' || BigInt(slot) - oracleSlot <= BigInt(VAMM_ORACLE_MAX_AGE_SLOTS);
}

/** Both sides of a quoting market at an oracle price (1e6), from its curve at that price. */
export function vammBook(
  market: BookMarket,
  amm: AmmState,
  oracle: bigint,
): { readonly bids: readonly VammLevel[]; readonly asks: readonly VammLevel[] } {
  const levels = (side: 'bid' | 'ask') =>
    vammLevels({
      side,
      reserves: quoteReserves(amm, side),
      openLiquidity: openLiquidity(amm, side, market.stepSize, market.minOrderSize),
      sqrtK: amm.sqrtK,
      peg: amm.pegMultiplier,
      oracle,
      stepSize: market.stepSize,
      tickSize: market.tickSize,
      marketIndex: market.marketIndex,
    });
  return { bids: levels('bid'), asks: levels('ask') };
}

/** True when two curves give the same vAMM levels at equal oracle prices. */
export function quotesAlike(left: Quoting, right: Quoting): boolean {
  for (const field of MARKET_INPUTS) if (left.market[field] !== right.market[field]) return false;
  for (const field of CURVE_INPUTS) if (left.curve[field] !== right.curve[field]) return false;
  return true;
}

export interface Quoting {
  readonly market: BookMarket;
  readonly curve: AmmState;
}

const MARKET_INPUTS = ['stepSize', 'tickSize', 'minOrderSize', 'marketIndex'] as const;
const CURVE_INPUTS = [
  'baseAssetReserve',
  'quoteAssetReserve',
  'sqrtK',
  'pegMultiplier',
  'minBaseAssetReserve',
  'maxBaseAssetReserve',
  'askBaseAssetReserve',
  'askQuoteAssetReserve',
  'bidBaseAssetReserve',
  'bidQuoteAssetReserve',
  'baseSpread',
  'longSpread',
  'shortSpread',
  'referencePriceOffset',
] as const;
