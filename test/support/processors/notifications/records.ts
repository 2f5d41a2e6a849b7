// Records of `events` and `margin` for notification tests.

import { encodeEvent, encodeMessage, type MarginPosition, type MarketMargin } from '../../../../schemas/index.ts';
import { fillEvent, sampleEvent, signatureOf } from '../history/events.ts';

const FIRST_SLOT = 300_000_000;
export const FIRST_TS = 1_767_225_600;

/** A key that begins with a kind and a number. */
export const key = (kind: number, n: number): Uint8Array => new Uint8Array(32).fill(kind).fill(n, 1, 2);
export const user = (n: number): Uint8Array => key(1, n);
/** Two accounts for each wallet. */
export const wallet = (n: number): Uint8Array => key(2, Math.floor(n / 2));

export function event(name: string, n: number, data: Record<string, unknown>): Uint8Array {
  const base = name === 'OrderActionRecord' ? fillEvent(n) : sampleEvent(name, n);
  const ts = BigInt(FIRST_TS + n);
  return encodeEvent({ ...base, signature: signatureOf(n), eventIndex: 0, data: { ...base.data, ts, ...data } });
}

export const fill = (n: number, taker: number, maker: number | null): Uint8Array =>
  event('OrderActionRecord', n, {
    action: 'fill',
    action_explanation: 'orderFilledWithMatch',
    market_type: 'perp',
    market_index: 0,
    taker: user(taker),
    maker: maker === null ? null : user(maker),
  });

export const position = (members: Partial<MarginPosition> = {}): MarginPosition => ({
  marketIndex: 0,
  baseAssetAmount: 0n,
  quoteAssetAmount: 0n,
  lastCumulativeFundingRate: 0n,
  openBids: 0n,
  openAsks: 0n,
  openOrders: 0,
  isIsolated: false,
  isolatedScaledBalance: 0n,
  isBeingLiquidated: false,
  ...members,
});

/** SOL-PERP at 150: 5 percent of maintenance margin. */
export const perpMarket = (members: Partial<MarketMargin> = {}): MarketMargin => ({
  marketType: 'perp',
  marketIndex: 0,
  slot: FIRST_SLOT,
  symbol: 'SOL-PERP',
  status: 'active',
  oraclePrice: 150_000_000n,
  expiryPrice: 0n,
  imfFactor: 0,
  perp: {
    marginRatioMaintenance: 500,
    pnlAssetWeightMaintenance: 10_000,
    cumulativeFundingRateLong: 0n,
    cumulativeFundingRateShort: 0n,
    quoteMarketIndex: 0,
  },
  spot: null,
  ...members,
});

/** The quote token at 1, without interest. */
export const quoteMarket = (members: Partial<MarketMargin> = {}): MarketMargin => ({
  ...perpMarket({ marketType: 'spot', symbol: 'USDT', oraclePrice: 1_000_000n, perp: null }),
  spot: {
    assetWeightMaintenance: 10_000,
    liabilityWeightMaintenance: 10_000,
    cumulativeDepositInterest: 10n ** 10n,
    cumulativeBorrowInterest: 10n ** 10n,
    decimals: 6,
  },
  ...members,
});

/** Scaled balance of quote tokens (whole units) without interest. */
export const tokens = (whole: bigint): bigint => whole * 10n ** 9n;

export function account(n: number, quote: bigint, positions: readonly MarginPosition[], isBeingLiquidated = false) {
  const balances = quote === 0n ? [] : [{ marketIndex: 0, scaledBalance: tokens(quote), isBorrow: false }];
  return { slot: FIRST_SLOT, user: user(n), authority: wallet(n), isBeingLiquidated, balances, positions };
}

export const accountRecord = (...members: Parameters<typeof account>): Uint8Array =>
  encodeMessage('AccountMargin', account(...members));
export const marketRecord = (market: MarketMargin): Uint8Array => encodeMessage('MarketMargin', market);
/** The n-th block time. */
export const timeRecord = (n: number, isWhole = false): Uint8Array =>
  encodeMessage('MarginTime', { slot: FIRST_SLOT + n * 50, ts: FIRST_TS + n * 20, isWhole });
export const beginRecord = (n: number): Uint8Array => encodeMessage('MarginBegin', { slot: FIRST_SLOT + n });
