// Data of the compatible channels, from the contract of the gateway.
// Written by `npm run docs`. Do not edit.

export interface Level {
  /** quote per base, integer of 1e-6 */
  readonly price: string;
  /** sum of the sources; base, integer of 1e-9 (spot: of the token’s decimals) */
  readonly size: string;
  /** only sources that are present */
  readonly sources: {
    /** size of indicative quotes; base, integer of 1e-9 (spot: of the token’s decimals) */
    readonly indicative?: string;
    /** size of resting orders; base, integer of 1e-9 (spot: of the token’s decimals) */
    readonly dlob?: string;
    /** size the AMM offers; base, integer of 1e-9 (spot: of the token’s decimals) */
    readonly vamm?: string;
  };
}

/** the exchange oracle */
export interface OracleData {
  /** quote per base, integer of 1e-6 */
  readonly price: string;
  /** slot of the price */
  readonly slot: string;
  /** half-width; quote per base, integer of 1e-6 */
  readonly confidence: string;
  /** false when too few publishers contribute to the price */
  readonly hasSufficientNumberOfDataPoints: boolean;
  /** time-weighted mean, or the price when the oracle account has none; quote per base, integer of 1e-6 */
  readonly twap?: string;
  /** time-weighted mean of the half-width, or the price when there is none; quote per base, integer of 1e-6 */
  readonly twapConfidence?: string;
  /** highest price the market allows; quote per base, integer of 1e-6 */
  readonly maxPrice?: string;
}

/** the market-maker oracle; absent while unknown */
export interface MarketMakerOracleData {
  /** quote per base, integer of 1e-6 */
  readonly price: string;
  /** slot of the price */
  readonly slot: string;
  /** half-width; quote per base, integer of 1e-6 */
  readonly confidence: string;
  /** false when too few publishers contribute to the price */
  readonly hasSufficientNumberOfDataPoints: boolean;
  /** time-weighted mean, or the price when the oracle account has none; quote per base, integer of 1e-6 */
  readonly twap?: string;
  /** time-weighted mean of the half-width, or the price when there is none; quote per base, integer of 1e-6 */
  readonly twapConfidence?: string;
  /** highest price the market allows; quote per base, integer of 1e-6 */
  readonly maxPrice?: string;
  /** whether the exchange uses it */
  readonly isMMOracleActive: boolean;
}

/** price levels; all other members describe the whole book. Best prices and spreads are absent when a side is empty, oracle members while the oracle is unknown */
export interface L2Book {
  /** highest price first */
  readonly bids: readonly Level[];
  /** lowest price first */
  readonly asks: readonly Level[];
  /** symbol in upper case, for example SOL-PERP */
  readonly marketName: string;
  /** kind of market */
  readonly marketType: 'perp' | 'spot';
  /** index of the market in its kind */
  readonly marketIndex: number;
  /** Unix milliseconds at which the server received this book; null for an earlier slot of unknown time */
  readonly ts: number | null;
  /** newest slot the book includes; judge staleness by it */
  readonly slot: number;
  /** middle of the best prices, or the oracle when a side is empty; quote per base, integer of 1e-6 */
  readonly markPrice?: string;
  /** quote per base, integer of 1e-6 */
  readonly bestBidPrice?: string;
  /** quote per base, integer of 1e-6 */
  readonly bestAskPrice?: string;
  /** spread over mark price, in percent, integer of 1e-6 */
  readonly spreadPct?: string;
  /** quote per base, integer of 1e-6 */
  readonly spreadQuote?: string;
  /** price of the exchange oracle; quote per base, integer of 1e-6, as a number */
  readonly oracle?: number;
  readonly oracleData?: OracleData;
  readonly mmOracleData?: MarketMakerOracleData;
  /** slot of the market account in the book */
  readonly marketSlot: number;
}

/** a fill */
export interface Trade {
  /** Unix seconds of the block */
  readonly ts: number;
  /** index of the market in its kind */
  readonly marketIndex: number;
  /** kind of market */
  readonly marketType: 'perp' | 'spot';
  /** user account that filled */
  readonly filler?: string;
  /** 0 when none; whole quote units (1.5 is 1.5 USDC) */
  readonly takerFee: number;
  /** negative for a rebate, 0 when none; whole quote units (1.5 is 1.5 USDC) */
  readonly makerFee: number;
  /** 0 when none; whole quote units (1.5 is 1.5 USDC) */
  readonly quoteAssetAmountSurplus: number;
  /** whole base units (1.5 is 1.5 SOL) */
  readonly baseAssetAmountFilled: number;
  /** whole quote units (1.5 is 1.5 USDC) */
  readonly quoteAssetAmountFilled: number;
  /** user account */
  readonly taker?: string;
  /** order id of the taker */
  readonly takerOrderId?: number;
  readonly takerOrderDirection?: 'long' | 'short';
  /** 0 without a taker order; whole base units (1.5 is 1.5 SOL) */
  readonly takerOrderBaseAssetAmount: number;
  /** whole base units (1.5 is 1.5 SOL) */
  readonly takerOrderCumulativeBaseAssetAmountFilled: number;
  /** whole quote units (1.5 is 1.5 USDC) */
  readonly takerOrderCumulativeQuoteAssetAmountFilled: number;
  /** user account; absent when the AMM made the fill */
  readonly maker?: string;
  /** order id of the maker */
  readonly makerOrderId?: number;
  readonly makerOrderDirection?: 'long' | 'short';
  /** 0 without a maker order; whole base units (1.5 is 1.5 SOL) */
  readonly makerOrderBaseAssetAmount: number;
  /** whole base units (1.5 is 1.5 SOL) */
  readonly makerOrderCumulativeBaseAssetAmountFilled: number;
  /** whole quote units (1.5 is 1.5 USDC) */
  readonly makerOrderCumulativeQuoteAssetAmountFilled: number;
  /** quote per base in whole units */
  readonly oraclePrice: number;
  /** 0 when none; whole quote units (1.5 is 1.5 USDC) */
  readonly referrerReward: number;
  /** signature of the transaction, base58 */
  readonly txSig: string;
  /** slot of the chain */
  readonly slot: number;
  /** running number of the fill in its market; decimal text above 2^53, where a JSON number would lose digits */
  readonly fillRecordId: number | string;
  /** kind of record, for example fill */
  readonly action: string;
  /** how it was filled, for example orderFilledWithMatch */
  readonly actionExplanation: string;
  /** flags of the record */
  readonly bitFlags: number;
  /** the maker, when it quotes on the quote socket */
  readonly makerIndicativeKey?: string;
}

/** priority fees, micro-lamports per compute unit */
export interface FeeLevels {
  /** micro-lamports per compute unit */
  readonly min: number;
  /** micro-lamports per compute unit */
  readonly low: number;
  /** micro-lamports per compute unit */
  readonly medium: number;
  /** micro-lamports per compute unit */
  readonly high: number;
  /** micro-lamports per compute unit */
  readonly veryHigh: number;
  /** micro-lamports per compute unit */
  readonly unsafeMax: number;
}
