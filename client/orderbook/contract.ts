// Operations of the order-book REST, from the document that the service serves at /openapi.json.
// Written by `npm run docs`. Do not edit.

/** Parameters, body and answer of each operation, by method and path. */
export interface OrderbookOperations {
  /** Price levels of a market */
  readonly 'GET /l2': {
    readonly params: {
      /** symbol in any letter case, for example SOL-PERP; takes precedence over marketIndex and marketType */
      readonly marketName?: string;
      /** index of the market; needs marketType; leading digits count (7x is 7) */
      readonly marketIndex?: number;
      /** kind of market, in any letter case */
      readonly marketType?: string;
      /** price levels per side; leading digits count, negative means 0, more than 100 means 100, a text without digits means 100 */
      readonly depth?: number;
      /** true in any letter case lays the indicative quotes over the book; anything else does not */
      readonly includeIndicative?: string;
      /** the book as published at this slot, at most 24 h ago; not together with includeIndicative; the error names the earliest slot available */
      readonly slot?: string;
      /** processed: the books that are one to three slots ahead, and undo what abandoned slots did */
      readonly commitment?: 'confirmed' | 'processed';
    };
    readonly body: undefined;
    readonly answer: L2Book;
  };
  /** Resting orders of a market */
  readonly 'GET /l3': {
    readonly params: {
      /** symbol in any letter case, for example SOL-PERP; takes precedence over marketIndex and marketType */
      readonly marketName?: string;
      /** index of the market; needs marketType; leading digits count (7x is 7) */
      readonly marketIndex?: number;
      /** kind of market, in any letter case */
      readonly marketType?: string;
      /** true in any letter case lays the indicative quotes over the book; anything else does not */
      readonly includeIndicative?: string;
      /** the book as published at this slot, at most 24 h ago; not together with includeIndicative; the error names the earliest slot available */
      readonly slot?: string;
      /** true in any letter case adds to each order the transaction that last wrote it, null where unknown; anything else does not */
      readonly cause?: string;
      /** processed: the books that are one to three slots ahead, and undo what abandoned slots did */
      readonly commitment?: 'confirmed' | 'processed';
    };
    readonly body: undefined;
    readonly answer: L3Book;
  };
  /** Price levels of several markets */
  readonly 'GET /batchL2': {
    readonly params: {
      /** values of marketName as in /l2 for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly marketName?: string;
      /** values of marketIndex as in /l2 for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly marketIndex?: string;
      /** values of marketType as in /l2 for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly marketType?: string;
      /** values of depth as in /l2 for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly depth?: string;
      /** values of includeIndicative, where only the exact text true counts for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly includeIndicative?: string;
      /** values of includeVamm, which changes nothing for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly includeVamm?: string;
      /** values of includePhoenix, which changes nothing for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly includePhoenix?: string;
      /** values of includeOpenbook, which changes nothing for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly includeOpenbook?: string;
      /** values of includeOracle, which changes nothing for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly includeOracle?: string;
    };
    readonly body: undefined;
    readonly answer: {
      readonly l2s: readonly L2Book[];
    };
  };
  /** Price levels of several markets */
  readonly 'GET /batchL2Cache': {
    readonly params: {
      /** values of marketName as in /l2 for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly marketName?: string;
      /** values of marketIndex as in /l2 for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly marketIndex?: string;
      /** values of marketType as in /l2 for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly marketType?: string;
      /** values of depth as in /l2 for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly depth?: string;
      /** values of includeIndicative, where only the exact text true counts for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly includeIndicative?: string;
      /** values of includeVamm, which changes nothing for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly includeVamm?: string;
      /** values of includePhoenix, which changes nothing for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly includePhoenix?: string;
      /** values of includeOpenbook, which changes nothing for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly includeOpenbook?: string;
      /** values of includeOracle, which changes nothing for each market, separated by commas, not trimmed; when present, as many as in every other list */
      readonly includeOracle?: string;
    };
    readonly body: undefined;
    readonly answer: {
      readonly l2s: readonly L2Book[];
    };
  };
  /** Makers of the best resting orders of one side */
  readonly 'GET /topMakers': {
    readonly params: {
      /** symbol in any letter case, for example SOL-PERP; takes precedence over marketIndex and marketType */
      readonly marketName?: string;
      /** index of the market; needs marketType; leading digits count (7x is 7) */
      readonly marketIndex?: number;
      /** kind of market, in any letter case */
      readonly marketType?: string;
      /** side of the book */
      readonly side: 'bid' | 'ask';
      /** makers at most; leading digits count, negative means 0, more than 100000 means 100000 */
      readonly limit?: number;
      /** true in any letter case adds the bytes of each account; anything else does not */
      readonly includeAccounts?: string;
    };
    readonly body: undefined;
    readonly answer: readonly PublicKey[] | readonly TopMakers[];
  };
  /** Order parameters for a market order, and the estimates behind them */
  readonly 'GET /auctionParams': {
    readonly params: {
      /** index of the market; leading digits count */
      readonly marketIndex: number;
      /** spot in any letter case; anything else is perp */
      readonly marketType: string;
      /** side of the order */
      readonly direction: 'long' | 'short';
      /** size, raw integer from 0 to 2^64 - 1: base 1e9 or quote 1e6, as assetType says */
      readonly amount: string;
      /** unit of amount */
      readonly assetType: 'base' | 'quote';
      /** from 2 on, recent taker fills count; from 3 on, auctions are short and start at the touch in every market */
      readonly version?: number;
      /** the order carries it; true and 1 mean true, any other text false */
      readonly reduceOnly?: string;
      /** no limit price; the auction alone bounds the fill; true and 1 mean true, any other text false */
      readonly allowInfSlippage?: string;
      /** the auction ends at the slippage limit itself; true and 1 mean true, any other text false */
      readonly forceUpToSlippage?: string;
      /** prices as offsets from the oracle; the default is true; true and 1 mean true, any other text false */
      readonly isOracleOrder?: string;
      /** percent (0.5 is 0.5 %); any other text means dynamic: from spread, depth and tier of the market */
      readonly slippageTolerance?: string;
      /** length of the auction in units of 400 ms; 20 by default, 5 from version 3 on */
      readonly auctionDuration?: number;
      /** percent (0.5 is 0.5 %), or marketBased: majors 0, others -0.1, from version 3 on -0.05 */
      readonly auctionStartPriceOffset?: string;
      /** percent (0.5 is 0.5 %); 0.1 by default */
      readonly auctionEndPriceOffset?: string;
      /** base price of the start offset; marketBased: majors mark, others and from version 3 on bestOffer */
      readonly auctionStartPriceOffsetFrom?:
        | 'marketBased'
        | 'oracle'
        | 'bestOffer'
        | 'entry'
        | 'worst'
        | 'mark'
        | 'best';
      /** base price of the end offset */
      readonly auctionEndPriceOffsetFrom?: 'oracle' | 'bestOffer' | 'entry' | 'worst' | 'mark' | 'best';
      /** moves limit and end of the auction away from the start, or towards it when negative; quote per base, integer of 1e-6 */
      readonly additionalEndPriceBuffer?: string;
      /** maxLeverageOrderSize replaces the size of the order; true and 1 mean true, any other text false */
      readonly maxLeverageSelected?: string;
      /** raw base integer from 0 to 2^64 - 1, 1e9 */
      readonly maxLeverageOrderSize?: string;
      /** the order carries it */
      readonly userOrderId?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly data: {
        /** the full order-parameter record */
        readonly params: {
          readonly orderType: 'oracle' | 'market';
          /** kind of market */
          readonly marketType: 'perp' | 'spot';
          /** as requested, else 0 */
          readonly userOrderId: number;
          readonly direction: 'long' | 'short';
          /** base, integer of 1e-9 (spot: of the token’s decimals) */
          readonly baseAssetAmount: string;
          /** limit; quote per base, integer of 1e-6; absent for oracle orders and with allowInfSlippage */
          readonly price?: string;
          /** index of the market in its kind */
          readonly marketIndex: number;
          /** as requested, else false */
          readonly reduceOnly: boolean;
          readonly postOnly: 'none';
          readonly bitFlags: 0;
          readonly triggerPrice: null;
          readonly triggerCondition: 'above';
          /** limit as an offset from the oracle, oracle orders only; quote per base, integer of 1e-6 */
          readonly oraclePriceOffset: string | null;
          /** length of the auction in units of 400 ms */
          readonly auctionDuration: number;
          readonly maxTs: null;
          /** offset from the oracle for oracle orders; quote per base, integer of 1e-6 */
          readonly auctionStartPrice: string;
          /** offset from the oracle for oracle orders; quote per base, integer of 1e-6 */
          readonly auctionEndPrice: string;
        };
        /** mean price of the estimated fill, 0 without one; quote per base, integer of 1e-6 */
        readonly entryPrice: string;
        /** first price of the needed side; quote per base, integer of 1e-6 */
        readonly bestPrice: string;
        /** last price of the estimated fill; quote per base, integer of 1e-6 */
        readonly worstPrice: string;
        /** quote per base, integer of 1e-6 */
        readonly oraclePrice: string;
        /** quote per base, integer of 1e-6 */
        readonly markPrice: string;
        /** |entry - best| / best as a fraction (0.012 is 1.2 %) */
        readonly priceImpact: number;
        /** the applied tolerance as a decimal fraction (0.005 is 0.5 %); 0.15 with allowInfSlippage, at most 0.99 */
        readonly slippageTolerance: string;
        /** Unix milliseconds */
        readonly generatedAt: number;
      };
    };
  };
  /** Priority fees of a market */
  readonly 'GET /priorityFees': {
    readonly params: {
      /** kind of market, exactly */
      readonly marketType?: 'perp' | 'spot';
      /** index of the market, exactly */
      readonly marketIndex?: string;
    };
    readonly body: undefined;
    readonly answer: {
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
      /** kind of market */
      readonly marketType: 'perp' | 'spot';
      /** index of the market in its kind */
      readonly marketIndex: number;
    };
  };
  /** Priority fees of several markets */
  readonly 'GET /batchPriorityFees': {
    readonly params: {
      /** kinds separated by commas, as many as indexes where both are given */
      readonly marketType?: string;
      /** indexes separated by commas */
      readonly marketIndex?: string;
    };
    readonly body: undefined;
    readonly answer: readonly BatchPriorityFees[];
  };
  /** Largest claimable gains and losses of a perp market */
  readonly 'GET /unsettledPnlUsers': {
    readonly params: {
      /** index of the perp market; the whole text must be a number, the empty text is 0 */
      readonly marketIndex: number;
    };
    readonly body: undefined;
    readonly answer: {
      /** as requested */
      readonly marketIndex: number;
      /** largest gain first */
      readonly gainers: readonly UnsettledPnlUsersGainers[];
      /** largest loss first */
      readonly losers: readonly UnsettledPnlUsersGainers[];
    };
  };
  /** Prices of oracle feeds, for the operator’s own clients */
  readonly 'GET /oracleLazer': {
    readonly params: {
      /** ids from 0 to 4294967295 separated by commas, at most 100 different ones */
      readonly feedIds: string;
    };
    readonly body: undefined;
    readonly answer: {
      readonly data: readonly OracleLazerData[];
      /** the provider’s signed message for Solana, hex */
      readonly solana?: string;
    };
  };
  /** Whether slots flow and the books follow the chain */
  readonly 'GET /health': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: undefined;
  };
  /** Whether slots flow and the books follow the chain */
  readonly 'GET /': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: undefined;
  };
  /** Whether books can be served */
  readonly 'GET /startup': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: undefined;
  };
  /** How fresh and how sound the data are, by market and source */
  readonly 'GET /quality': {
    readonly params: {
      /** symbol in any letter case, for example SOL-PERP; takes precedence over marketIndex and marketType */
      readonly marketName?: string;
      /** index of the market; needs marketType; leading digits count (7x is 7) */
      readonly marketIndex?: number;
      /** kind of market, in any letter case */
      readonly marketType?: string;
    };
    readonly body: undefined;
    readonly answer: {
      /** Unix milliseconds of the answer */
      readonly ts: number;
      /** newest known slot of the chain */
      readonly slot: number | null;
      /** sources that run at once; empty while one runs alone */
      readonly liveSources: readonly QualityLiveSources[];
      readonly markets: readonly QualityMarkets[];
      /** numbered records of all accounts in the log */
      readonly accountRecords: readonly QualityAccountRecords[];
    };
  };
  /** What readers may rely on, and what not */
  readonly 'GET /guarantees': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: undefined;
  };
  /** This document (OpenAPI 3.1) */
  readonly 'GET /openapi.json': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: Readonly<Record<string, unknown>>;
  };
  /** The WebSocket channels (AsyncAPI 3) */
  readonly 'GET /asyncapi.json': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: Readonly<Record<string, unknown>>;
  };
}

export interface TopMakers {
  readonly userAccountPubKey: PublicKey;
  /** bytes of the account on the chain; null when they cannot be read, and beyond the first 100 makers */
  readonly accountBase64: string | null;
}

/** without levels when no fees are known */
export interface BatchPriorityFees {
  /** micro-lamports per compute unit */
  readonly min?: number;
  /** micro-lamports per compute unit */
  readonly low?: number;
  /** micro-lamports per compute unit */
  readonly medium?: number;
  /** micro-lamports per compute unit */
  readonly high?: number;
  /** micro-lamports per compute unit */
  readonly veryHigh?: number;
  /** micro-lamports per compute unit */
  readonly unsafeMax?: number;
  /** as requested */
  readonly marketType?: string;
  /** as requested; null when it is not a number */
  readonly marketIndex?: number | null;
}

export interface UnsettledPnlUsersGainers {
  readonly userPubKey: PublicKey;
  /** claimable profit or loss in whole quote units (1.5 is 1.5 USDC) */
  readonly pnl: number;
}

/** members that the provider reports for the feed */
export interface OracleLazerData {
  readonly priceFeedId: number;
  /** integer; multiply by 10^exponent */
  readonly price?: string;
  /** integer; multiply by 10^exponent */
  readonly bestAskPrice?: string;
  /** integer; multiply by 10^exponent */
  readonly bestBidPrice?: string;
  /** power of ten */
  readonly exponent?: number;
}

export interface QualityLiveSources {
  /** host and port */
  readonly name: string;
  readonly kind: 'grpc' | 'pubsub';
  readonly role: 'leader' | 'follower' | 'down';
  /** newest complete slot; null before the first */
  readonly slot: number | null;
  /** slots behind the first of all sources */
  readonly lagSlots: number;
  /** account changes that another source delivered and this one did not */
  readonly missingAccounts: number;
  /** transactions that another source delivered and this one did not */
  readonly missingTransactions: number;
  /** accounts and blocks of a slot that differ from another source's; they count for both */
  readonly contradictions: number;
  /** missing or other data that a read of the chain proved */
  readonly faults: number;
  /** whether so many faults are proven that the source does not lead any more */
  readonly lying: boolean;
  /** newest proven fault; null without one */
  readonly reason: string | null;
  /** milliseconds since ingest reported this */
  readonly msSinceReport: number;
}

export interface QualityMarkets {
  /** symbol in upper case */
  readonly marketName: string;
  /** kind of market */
  readonly marketType: 'perp' | 'spot';
  /** index of the market in its kind */
  readonly marketIndex: number;
  /** epoch of the published book; null before the first */
  readonly epoch: number | null;
  /** sequence number in the epoch */
  readonly seq: number | null;
  /** slot of the published book */
  readonly slot: number | null;
  readonly sources: {
    readonly user: {
      /** newest slot of the source; null before the first */
      readonly slot: number | null;
      /** milliseconds since its newest event arrived; null before the first */
      readonly msSinceLastEvent: number | null;
      /** events received */
      readonly events: number;
      /** gaps found: outages, each once, including those between two runs of ingest; for trades, missing transactions */
      readonly gapsFound: number;
      /** gaps whose accounts or transactions have all been read since */
      readonly gapsFilled: number;
    };
    readonly clob: {
      /** newest slot of the source; null before the first */
      readonly slot: number | null;
      /** milliseconds since its newest event arrived; null before the first */
      readonly msSinceLastEvent: number | null;
      /** events received */
      readonly events: number;
      /** gaps found: outages, each once, including those between two runs of ingest; for trades, missing transactions */
      readonly gapsFound: number;
      /** gaps whose accounts or transactions have all been read since */
      readonly gapsFilled: number;
    };
    readonly market: {
      /** newest slot of the source; null before the first */
      readonly slot: number | null;
      /** milliseconds since its newest event arrived; null before the first */
      readonly msSinceLastEvent: number | null;
      /** events received */
      readonly events: number;
      /** gaps found: outages, each once, including those between two runs of ingest; for trades, missing transactions */
      readonly gapsFound: number;
      /** gaps whose accounts or transactions have all been read since */
      readonly gapsFilled: number;
    };
    readonly oracle: {
      /** newest slot of the source; null before the first */
      readonly slot: number | null;
      /** milliseconds since its newest event arrived; null before the first */
      readonly msSinceLastEvent: number | null;
      /** events received */
      readonly events: number;
      /** gaps found: outages, each once, including those between two runs of ingest; for trades, missing transactions */
      readonly gapsFound: number;
      /** gaps whose accounts or transactions have all been read since */
      readonly gapsFilled: number;
    };
    readonly trades: {
      /** newest slot of the source; null before the first */
      readonly slot: number | null;
      /** milliseconds since its newest event arrived; null before the first */
      readonly msSinceLastEvent: number | null;
      /** events received */
      readonly events: number;
      /** gaps found: outages, each once, including those between two runs of ingest; for trades, missing transactions */
      readonly gapsFound: number;
      /** gaps whose accounts or transactions have all been read since */
      readonly gapsFilled: number;
    };
  };
  readonly checks: {
    /** bytes of every account in a fresh snapshot of the chain against the accounts of ingest at its slot */
    readonly accounts: {
      /** comparisons made */
      readonly comparisons: number;
      /** comparisons that found a difference */
      readonly differences: number;
      /** slot of the newest comparison; null before the first */
      readonly lastSlot: number | null;
      readonly lastResult: 'none' | 'equal' | 'differs';
    };
    /** open orders, market, oracle, levels, vAMM and queue rebuilt from such a snapshot against the book and its publications */
    readonly book: {
      /** comparisons made */
      readonly comparisons: number;
      /** comparisons that found a difference */
      readonly differences: number;
      /** slot of the newest comparison; null before the first */
      readonly lastSlot: number | null;
      readonly lastResult: 'none' | 'equal' | 'differs';
    };
    /** the book of this process against its published snapshots, since the start of the process */
    readonly view: {
      /** comparisons made */
      readonly comparisons: number;
      /** comparisons that found a difference */
      readonly differences: number;
      /** slot of the newest comparison; null before the first */
      readonly lastSlot: number | null;
      readonly lastResult: 'none' | 'equal' | 'differs';
    };
  };
  /** numbered records of the market in the log; without holes it is complete from firstId to chainId */
  readonly records: readonly QualityMarketsRecord[];
}

export interface QualityMarketsRecord {
  /** fills, funding, deposits or bookOrders */
  readonly stream: string;
  /** first stored number; null before the first record */
  readonly firstId: number | null;
  /** newest stored number; null before the first record */
  readonly lastId: number | null;
  /** newest number on the chain; null when unknown */
  readonly chainId: number | null;
  /** records missing up to the newest on the chain */
  readonly missing: number;
  /** missing records that no node has */
  readonly lost: number;
  /** missing numbers, oldest first, at most 20 */
  readonly holes: readonly QualityMarketsRecordHoles[];
}

export interface QualityMarketsRecordHoles {
  /** first missing number */
  readonly fromId: number;
  /** last missing number */
  readonly toId: number;
  /** slot */
  readonly fromSlot: number;
  /** slot */
  readonly toSlot: number;
  /** true when the blocks were read again without the records: no node has them */
  readonly lost: boolean;
  /** of lost fills, the exact sum for each order that later records or account states prove; a hole of several numbers may have more */
  readonly reconstructed: readonly QualityMarketsRecordHolesReconstructed[];
}

export interface QualityMarketsRecordHolesReconstructed {
  /** account */
  readonly user: string;
  /** order */
  readonly orderId: number;
  /** direction of the order */
  readonly direction: string;
  /** sum of its lost fills, base 1e9 */
  readonly baseAssetAmount: string;
  /** the same in quote, 1e6; null where an account state without it bounds the sum */
  readonly quoteAssetAmount: string | null;
}

export interface QualityAccountRecords {
  /** orders or liquidations */
  readonly stream: string;
  /** accounts with a record or a count */
  readonly accounts: number;
  /** accounts with missing records */
  readonly withHoles: number;
  /** missing records of all accounts */
  readonly missing: number;
  /** missing records that no node has */
  readonly lost: number;
  /** accounts that are no longer followed, because there were too many */
  readonly forgotten: number;
}

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

/** cause with cause=true */
export interface L3Order {
  /** quote per base, integer of 1e-6 */
  readonly price: string;
  /** remaining size; base, integer of 1e-9 (spot: of the token’s decimals) */
  readonly size: string;
  /** user account of the maker; one fixed key for all indicative quotes */
  readonly maker: string;
  /** order id of the maker, or a running number of an indicative quote */
  readonly orderId: number;
  readonly cause?: OrderCause | null;
}

/** the transaction that last wrote an order, or removed it */
export interface OrderCause {
  /** slot of the transaction */
  readonly slot: number;
  /** signature of the transaction, base58 */
  readonly signature: string;
  /** index of the transaction in its block; null where unknown */
  readonly index: number | null;
}

/** every visible resting order; the AMM has none */
export interface L3Book {
  /** best first */
  readonly bids: readonly L3Order[];
  /** best first */
  readonly asks: readonly L3Order[];
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
  /** price of the exchange oracle; quote per base, integer of 1e-6, as a number */
  readonly oracle?: number;
  readonly oracleData?: OracleData;
  readonly mmOracleData?: MarketMakerOracleData;
  /** slot of the market account in the book */
  readonly marketSlot: number;
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

/** 32 bytes in base58 */
export type PublicKey = string;
