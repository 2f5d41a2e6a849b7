// Operations of the history REST, from the document that the service serves at /openapi.json.
// Written by `npm run docs`. Do not edit.

/** Parameters, body and answer of each operation, by method and path. */
export interface HistoryOperations {
  /** Fills of a market, last 31 days */
  readonly 'GET /market/{symbol}/trades': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketTradesRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Fills of a market, one day (UTC) */
  readonly 'GET /market/{symbol}/trades/{year}/{month}/{day}': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      readonly year: number;
      readonly month: number;
      readonly day: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketTradesRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Funding rates of a perp market, last 31 days */
  readonly 'GET /market/{symbol}/fundingRates': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketFundingRatesRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Funding rates of a perp market, one day (UTC) */
  readonly 'GET /market/{symbol}/fundingRates/{year}/{month}/{day}': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      readonly year: number;
      readonly month: number;
      readonly day: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketFundingRatesRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Deposits, withdrawals and transfers of a spot market, last 31 days */
  readonly 'GET /market/{symbol}/deposits': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketDepositsRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Deposits, withdrawals and transfers of a spot market, one day (UTC) */
  readonly 'GET /market/{symbol}/deposits/{year}/{month}/{day}': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      readonly year: number;
      readonly month: number;
      readonly day: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketDepositsRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Rewards paid in a spot market, last 31 days */
  readonly 'GET /market/{symbol}/rewards': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketDepositsRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Rewards paid in a spot market, one day (UTC) */
  readonly 'GET /market/{symbol}/rewards/{year}/{month}/{day}': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      readonly year: number;
      readonly month: number;
      readonly day: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketDepositsRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Swaps out of or into a spot market, last 31 days */
  readonly 'GET /market/{symbol}/swaps': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketSwapsRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Swaps out of or into a spot market, one day (UTC) */
  readonly 'GET /market/{symbol}/swaps/{year}/{month}/{day}': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      readonly year: number;
      readonly month: number;
      readonly day: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketSwapsRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Movements of a spot market's insurance vault, last 31 days */
  readonly 'GET /market/{symbol}/insuranceFund': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketInsuranceFundRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Movements of a spot market's insurance vault, one day (UTC) */
  readonly 'GET /market/{symbol}/insuranceFund/{year}/{month}/{day}': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      readonly year: number;
      readonly month: number;
      readonly day: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketInsuranceFundRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Stakes in a spot market's insurance fund, last 31 days */
  readonly 'GET /market/{symbol}/insuranceFundStake': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketInsuranceFundStakeRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Stakes in a spot market's insurance fund, one day (UTC) */
  readonly 'GET /market/{symbol}/insuranceFundStake/{year}/{month}/{day}': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      readonly year: number;
      readonly month: number;
      readonly day: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketInsuranceFundStakeRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Candles of a market, of any age; unlike records, in human units */
  readonly 'GET /market/{symbol}/candles/{resolution}': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      readonly resolution: '1' | '5' | '15' | '60' | '240' | 'D' | 'W' | 'M';
      /** rows per page */
      readonly limit?: number;
      /** newest bucket, unix seconds, inclusive; must be after endTs */
      readonly startTs?: number;
      /** oldest bucket, unix seconds, inclusive; must be before startTs */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketCandlesRecord[];
    };
  };
  /** A range of candles of a market in one answer, as JSON, CSV or Parquet; in human units */
  readonly 'GET /market/{symbol}/candles/{resolution}/bulk': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      readonly resolution: '1' | '5' | '15' | '60' | '240' | 'D' | 'W' | 'M';
      /** oldest bucket, unix seconds, inclusive */
      readonly from: number;
      /** end of the range, unix seconds, exclusive; now when absent */
      readonly to?: number;
      readonly format?: 'json' | 'csv' | 'parquet';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketCandlesRecord[];
    };
  };
  /** Fills of a market, last 31 days, by offset: new rows shift the pages */
  readonly 'GET /trades': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol?: string;
      /** the same as symbol */
      readonly marketName?: string;
      /** rows per page */
      readonly limit?: number;
      /** from 0 */
      readonly pageIndex?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketTradesRecord[];
      readonly meta: {
        /** the next pageIndex; null when no more rows */
        readonly nextPage: number | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** The newest funding rates of a perp market within 30 days, oldest first */
  readonly 'GET /fundingRates': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol?: string;
      /** the same as symbol */
      readonly marketName?: string;
      /** the newest rows alone; absent: all of the 30 days */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly fundingRates: readonly MarketFundingRatesRecord[];
    };
  };
  /** Fills with the account as taker or maker, last 31 days */
  readonly 'GET /user/{accountId}/trades': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly UserTradesRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Fills with the account as taker or maker, one month (UTC) */
  readonly 'GET /user/{accountId}/trades/{year}/{month}': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      readonly year: number;
      readonly month: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly UserTradesRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Fills that reduced, closed or flipped a position, last 31 days */
  readonly 'GET /user/{accountId}/positions': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly UserPositionsRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Funding paid and received, last 31 days */
  readonly 'GET /user/{accountId}/fundingPayments': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly UserFundingPaymentsRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Funding paid and received, one month (UTC) */
  readonly 'GET /user/{accountId}/fundingPayments/{year}/{month}': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      readonly year: number;
      readonly month: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly UserFundingPaymentsRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Liquidations and bankruptcies of the account, last 31 days */
  readonly 'GET /user/{accountId}/liquidations': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly UserLiquidationsRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Liquidations and bankruptcies of the account, one month (UTC) */
  readonly 'GET /user/{accountId}/liquidations/{year}/{month}': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      readonly year: number;
      readonly month: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly UserLiquidationsRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Settlements of profit and loss, last 31 days */
  readonly 'GET /user/{accountId}/settlePnl': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly UserSettlePnlRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Settlements of profit and loss, one month (UTC) */
  readonly 'GET /user/{accountId}/settlePnl/{year}/{month}': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      readonly year: number;
      readonly month: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly UserSettlePnlRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Swaps, last 31 days */
  readonly 'GET /user/{accountId}/swaps': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketSwapsRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Swaps, one month (UTC) */
  readonly 'GET /user/{accountId}/swaps/{year}/{month}': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      readonly year: number;
      readonly month: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketSwapsRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Deposits, withdrawals and transfers, last 31 days */
  readonly 'GET /user/{accountId}/deposits': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketDepositsRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Deposits, withdrawals and transfers, one month (UTC) */
  readonly 'GET /user/{accountId}/deposits/{year}/{month}': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      readonly year: number;
      readonly month: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketDepositsRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Rewards, last 31 days */
  readonly 'GET /user/{accountId}/rewards': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketDepositsRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Rewards, one month (UTC) */
  readonly 'GET /user/{accountId}/rewards/{year}/{month}': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      readonly year: number;
      readonly month: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketDepositsRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Fills with the account as taker or maker, of one market, last 31 days */
  readonly 'GET /user/{accountId}/trades/{symbol}': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly UserTradesRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Orders of one market type, by when they were placed, last 31 days */
  readonly 'GET /user/{accountId}/orders/{marketFilter}': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      /** type of market */
      readonly marketFilter: 'perp' | 'spot';
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
      /** only orders with a filled amount */
      readonly hasFill?: boolean;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly UserOrdersRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Orders of one market, by when they were placed, last 31 days */
  readonly 'GET /user/{accountId}/orders/{marketFilter}/{symbol}': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      /** type of market */
      readonly marketFilter: 'perp' | 'spot';
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
      /** only orders with a filled amount */
      readonly hasFill?: boolean;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly UserOrdersRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** What happened to an order, last 31 days */
  readonly 'GET /user/{accountId}/orders/{orderId}/actions': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      /** the account's order id */
      readonly orderId: number;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly UserOrdersActionsRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** One order, of any age */
  readonly 'GET /user/{accountId}/orders/id/{orderId}': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      /** the account's order id */
      readonly orderId: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly record: UserOrdersRecord;
    };
  };
  /** One order, of any age, of one market type */
  readonly 'GET /user/{accountId}/orders/{marketFilter}/id/{orderId}': {
    readonly params: {
      /** sub-account, base58 */
      readonly accountId: string;
      /** type of market */
      readonly marketFilter: 'perp' | 'spot';
      /** the account's order id */
      readonly orderId: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly record: UserOrdersRecord;
    };
  };
  /** Trading of an account */
  readonly 'GET /user/{accountId}/snapshots/trading': {
    readonly params: {
      /** public key, base58 */
      readonly accountId: string;
      /** how far back; 1 gives hourly points, more daily ones */
      readonly days?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** oldest first, from the first event of the account on */
      readonly snapshots: readonly UserSnapshotsTradingSnapshots[];
      /** over the life of the account */
      readonly metrics: {
        /** raw integer, quote 1e6 */
        readonly cumulativeMakerVolume: string;
        /** raw integer, quote 1e6 */
        readonly cumulativeTakerVolume: string;
        /** raw integer, quote 1e6 */
        readonly cumulativeFeePaid: string;
        /** raw integer, quote 1e6 */
        readonly cumulativeFeeRebate: string;
      };
    };
  };
  /** What the tokens of an account brought */
  readonly 'GET /user/{accountId}/snapshots/earn': {
    readonly params: {
      /** public key, base58 */
      readonly accountId: string;
      /** how far back; 1 gives hourly points, more daily ones */
      readonly days?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** oldest first, daily, from the first movement of tokens on */
      readonly snapshots: readonly UserSnapshotsEarnSnapshots[];
      readonly meta: {
        /** tokens moved before the first deposit record: the starting balance is unknown */
        readonly flagged: boolean;
      };
    };
  };
  /** Vault deposits of a depositor account, or of the wallet of a trading account */
  readonly 'GET /user/{accountId}/snapshots/vaults': {
    readonly params: {
      /** public key, base58 */
      readonly accountId: string;
      /** how far back; 1 gives hourly points, more daily ones */
      readonly days?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** oldest first, from the first record of the deposit on; worth at the oracle price, fees that run up not taken off */
      readonly snapshots: readonly UserSnapshotsVaultsSnapshots[];
    };
  };
  /** Trading, earning and vaults of the accounts of a wallet */
  readonly 'GET /authority/{authorityId}/snapshots/overview': {
    readonly params: {
      /** public key, base58 */
      readonly authorityId: string;
      /** how far back; 1 gives hourly points, more daily ones */
      readonly days?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly products: {
        readonly trade: readonly AuthoritySnapshotsOverviewProductsTrade[];
        readonly earn: readonly AuthoritySnapshotsOverviewProductsEarn[];
        readonly vaults: readonly AuthoritySnapshotsOverviewProductsVaults[];
      };
    };
  };
  /** Trading of the accounts of a wallet */
  readonly 'GET /authority/{authorityId}/snapshots/trading': {
    readonly params: {
      /** public key, base58 */
      readonly authorityId: string;
      /** how far back; 1 gives hourly points, more daily ones */
      readonly days?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly accounts: readonly AuthoritySnapshotsOverviewProductsTrade[];
    };
  };
  /** What the tokens of the accounts of a wallet brought */
  readonly 'GET /authority/{authorityId}/snapshots/earn': {
    readonly params: {
      /** public key, base58 */
      readonly authorityId: string;
      /** how far back; 1 gives hourly points, more daily ones */
      readonly days?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly accounts: readonly AuthoritySnapshotsOverviewProductsEarn[];
    };
  };
  /** Vault deposits of a wallet */
  readonly 'GET /authority/{authorityId}/snapshots/vaults': {
    readonly params: {
      /** public key, base58 */
      readonly authorityId: string;
      /** how far back; 1 gives hourly points, more daily ones */
      readonly days?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly accounts: readonly AuthoritySnapshotsOverviewProductsVaults[];
    };
  };
  /** Users that a wallet referred, their volume and the rewards */
  readonly 'GET /authority/{authorityId}/snapshots/referrals': {
    readonly params: {
      /** public key, base58 */
      readonly authorityId: string;
      /** how far back; 1 gives hourly points, more daily ones */
      readonly days?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** oldest first, from the first referral on */
      readonly snapshots: readonly AuthoritySnapshotsReferralsSnapshots[];
    };
  };
  /** Insurance-fund stakes of a wallet, last 31 days */
  readonly 'GET /authority/{authorityId}/insuranceFundStake': {
    readonly params: {
      /** public key, base58 */
      readonly authorityId: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketInsuranceFundStakeRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Insurance-fund stakes of a wallet, one month (UTC) */
  readonly 'GET /authority/{authorityId}/insuranceFundStake/{year}/{month}': {
    readonly params: {
      /** public key, base58 */
      readonly authorityId: string;
      readonly year: number;
      readonly month: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly MarketInsuranceFundStakeRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** What a wallet minted and redeemed of liquidity pools, last 31 days */
  readonly 'GET /authority/{authorityId}/lpMintRedeem': {
    readonly params: {
      /** public key, base58 */
      readonly authorityId: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly AuthorityLpMintRedeemRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** What a wallet minted and redeemed of liquidity pools, one month (UTC) */
  readonly 'GET /authority/{authorityId}/lpMintRedeem/{year}/{month}': {
    readonly params: {
      /** public key, base58 */
      readonly authorityId: string;
      readonly year: number;
      readonly month: number;
      /** meta.nextPage of the previous response, or a page number */
      readonly page?: string;
      /** csv holds the whole period */
      readonly format?: 'json' | 'csv';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly AuthorityLpMintRedeemRecord[];
      readonly meta: {
        /** rows on this page */
        readonly records: number;
        /** rows of the whole period */
        readonly totalRecords: number;
        /** 0 when the period is empty */
        readonly totalPages: number;
        /** starts at 1 */
        readonly currentPage: number;
        /** pass back as page */
        readonly nextPage: string | null;
        /** true once the chain has finalized the period, so that it takes no row back */
        readonly isFinal: boolean;
        /** true while the period is not over */
        readonly includesLatest?: boolean;
      };
    };
  };
  /** Sub-accounts of a wallet that were not deleted */
  readonly 'GET /authority/{authorityId}/accounts': {
    readonly params: {
      /** public key, base58 */
      readonly authorityId: string;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly accounts: readonly AuthorityAccountsAccounts[];
      /** what the wallet earned as a builder */
      readonly builderRevenueShareAccount: {
        /** public key, base58 */
        readonly accountId: string;
        /** raw integer, quote 1e6 */
        readonly totalBuilderRewards: string;
      } | null;
      /** builders that the wallet approved */
      readonly revenueShareEscrow: {
        /** public key, base58 */
        readonly accountId: string;
        /** builders whose highest fee is above 0 */
        readonly approvedBuilders: readonly AuthorityAccountsRevenueShareEscrowApprovedBuilders[];
      } | null;
    };
  };
  /** Ask for a statement: a CSV file of one kind of rows, gzip */
  readonly 'POST /authority/{authorityId}/exports': {
    readonly params: {
      /** public key, base58 */
      readonly authorityId: string;
    };
    readonly body: {
      /** trades: fills with the account as taker or maker; marketTrades: fills of a market; fundingRates: funding rates of a perp market; fundingPayments: funding paid and received; deposits: deposits, withdrawals and transfers; liquidations: liquidations and bankruptcies of the account; settlePnl: settlements of profit and loss; swaps: swaps; rewards: rewards; insuranceFundStake: insurance-fund stakes of the wallet; balances: opening balance, movements and closing balance of each token */
      readonly fileType:
        | 'trades'
        | 'marketTrades'
        | 'fundingRates'
        | 'fundingPayments'
        | 'deposits'
        | 'liquidations'
        | 'settlePnl'
        | 'swaps'
        | 'rewards'
        | 'insuranceFundStake'
        | 'balances';
      /** oldest row, unix seconds, inclusive */
      readonly from: number;
      /** newest row, unix seconds, inclusive; after from, by at most 31622400 seconds */
      readonly to: number;
      /** sub-accounts of the authority. marketTrades, fundingRates and insuranceFundStake have the same rows for any */
      readonly userPublicKeys: readonly string[];
      /** only rows of this market; required by marketTrades and fundingRates */
      readonly market?: string;
    };
    readonly answer: {
      readonly success: true;
      readonly requestId: string;
      readonly status: 'pending';
    };
  };
  /** Statements that a wallet asked for, newest first */
  readonly 'GET /authority/{authorityId}/exports': {
    readonly params: {
      /** public key, base58 */
      readonly authorityId: string;
      /** meta.nextPage of the previous response */
      readonly page?: string;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly AuthorityExportsRecord[];
      readonly meta: {
        /** opaque cursor; null when no more jobs */
        readonly nextPage: string | null;
      };
    };
  };
  /** Download a statement by the URL of the list of exports */
  readonly 'GET /exports/files/{name}': {
    readonly params: {
      /** name of the file */
      readonly name: string;
      /** end of the URL, unix seconds */
      readonly expires?: number;
      /** signature of the service */
      readonly signature?: string;
    };
    readonly body: undefined;
    readonly answer: undefined;
  };
  /** Market summaries: unlike records, JSON numbers in human units */
  readonly 'GET /stats/markets': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: readonly StatsMarkets[];
  };
  /** Volumes of the markets until now; liquidation fills count, position transfers do not */
  readonly 'GET /stats/markets/volume/{interval}': {
    readonly params: {
      readonly interval: '1h' | '24h' | '30d';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** raw integer, quote 1e6, of all markets */
      readonly total: string;
      readonly markets: readonly StatsMarketsVolumeMarkets[];
    };
  };
  /** Volumes of the markets over 1 to 24 whole hours; liquidation fills count, position transfers do not */
  readonly 'GET /stats/markets/volume': {
    readonly params: {
      /** unix seconds, aligned down to the hour, inclusive */
      readonly startTs: number;
      /** unix seconds, aligned down to the hour, exclusive */
      readonly endTs: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** raw integer, quote 1e6, of all markets */
      readonly total: string;
      readonly markets: readonly StatsMarketsVolumeMarkets[];
      /** unix seconds */
      readonly startTs: number;
      /** unix seconds */
      readonly endTs: number;
    };
  };
  /** Fill prices of the markets, now and 24 hours ago */
  readonly 'GET /stats/markets/prices': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly markets: readonly StatsMarketsPricesMarkets[];
    };
  };
  /** Mean funding of the perp markets */
  readonly 'GET /stats/fundingRates': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly markets: readonly StatsFundingRatesMarkets[];
    };
  };
  /** Funding of other venues, as the deployment names them; a venue that cannot be reached is absent */
  readonly 'GET /stats/fundingRates/external': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly StatsFundingRatesExternalRecord[];
    };
  };
  /** Interest rates and balances of a spot market, the last of each hour of 31 days */
  readonly 'GET /stats/{symbol}/rateHistory/{type}': {
    readonly params: {
      /** market symbol, for example SOL-PERP */
      readonly symbol: string;
      readonly type: 'deposit' | 'borrow' | 'deposit_balance' | 'borrow_balance';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** [ts, value]: rates are raw integers 1e6 = 100 % a year, balances tokens in mint decimals */
      readonly rates: readonly (readonly (number | string)[])[];
    };
  };
  /** Liquidations, last 31 days, without bankruptcies; stats has their count and amounts */
  readonly 'GET /stats/liquidations': {
    readonly params: {
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly stats: {
        readonly '24h': {
          readonly count: number;
          /** raw integer, quote 1e6 */
          readonly amount: string;
        };
        readonly '30d': {
          readonly count: number;
          /** raw integer, quote 1e6 */
          readonly amount: string;
        };
      };
      readonly records: readonly UserLiquidationsRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Bankruptcies, last 31 days; stats are over all that are stored */
  readonly 'GET /stats/bankruptcies': {
    readonly params: {
      /** meta.nextPage of the previous response */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
      /** one end of the interval, unix seconds, inclusive */
      readonly startTs?: number;
      /** the other end of the interval, unix seconds, inclusive */
      readonly endTs?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly stats: {
        /** raw integer, quote 1e6 */
        readonly totalAmount: string;
        /** raw integer, quote 1e6 */
        readonly ifPayment: string;
        /** raw integer, quote 1e6 */
        readonly socialLoss: string;
        readonly totalCount: number;
      };
      readonly records: readonly UserLiquidationsRecord[];
      readonly meta: {
        /** opaque cursor; null when no more rows */
        readonly nextPage: string | null;
        /** unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final */
        readonly finalBefore: number | null;
      };
    };
  };
  /** Vaults as their accounts say */
  readonly 'GET /stats/vaults': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly vaults: readonly StatsVaultsVaults[];
    };
  };
  /** Insurance fund of each spot market that has one, from its records */
  readonly 'GET /stats/insuranceFund': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly data: readonly StatsInsuranceFundData[];
    };
  };
  /** Value of the liquidity pools; 1 day gives hourly points, more daily ones */
  readonly 'GET /stats/dlp/snapshots': {
    readonly params: {
      /** how far back; 1 gives hourly points, more daily ones */
      readonly days?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly snapshots: readonly StatsDlpSnapshotsSnapshots[];
    };
  };
  /** Wallets by P&L or volume of perps over the last 30 days */
  readonly 'GET /stats/leaderboard': {
    readonly params: {
      readonly sort?: 'pnl' | 'volume';
      /** meta.nextPage of the previous response, or a page number from 1 */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly data: {
        readonly leaderboard: readonly StatsLeaderboardDataLeaderboard[];
      };
      readonly meta: {
        /** pass back as page; null when no more rows */
        readonly nextPage: string | null;
      };
    };
  };
  /** Ranks of a wallet on the boards of the last 30 days */
  readonly 'GET /stats/leaderboard/{authorityId}': {
    readonly params: {
      /** public key, base58 */
      readonly authorityId: string;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly data: {
        /** raw integer, quote 1e6 */
        readonly pnl: string;
        /** raw integer, quote 1e6 */
        readonly volume: string;
        readonly rank: {
          /** from 1; null for a wallet that is not on the board */
          readonly pnl: number | null;
          /** from 1; null for a wallet that is not on the board */
          readonly volume: number | null;
        };
      };
    };
  };
  /** Wallets by maker volume of perps in the current calendar month (UTC) */
  readonly 'GET /stats/leaderboard/maker': {
    readonly params: {
      /** meta.nextPage of the previous response, or a page number from 1 */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** YYYY-MM */
      readonly month: string;
      readonly records: readonly StatsLeaderboardMakerRecord[];
      readonly meta: {
        /** pass back as page; null when no more rows */
        readonly nextPage: string | null;
      };
    };
  };
  /** Wallets by taker volume of perps in the current calendar month (UTC) */
  readonly 'GET /stats/leaderboard/taker': {
    readonly params: {
      /** meta.nextPage of the previous response, or a page number from 1 */
      readonly page?: string;
      /** rows per page */
      readonly limit?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** YYYY-MM */
      readonly month: string;
      readonly records: readonly StatsLeaderboardMakerRecord[];
      readonly meta: {
        /** pass back as page; null when no more rows */
        readonly nextPage: string | null;
      };
    };
  };
  /** Users' net position against the AMM */
  readonly 'GET /amm/position': {
    readonly params: {
      /** perp market; required */
      readonly marketName?: string;
      /** another name of marketName */
      readonly symbol?: string;
      /** unix seconds, inclusive; a day before the end unless given */
      readonly start?: number;
      /** unix seconds, inclusive; now unless given */
      readonly end?: number;
      /** most points; steps are at least 20 seconds */
      readonly samples?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** [ts, base 1e9], positive = users are long, raw integers as text */
      readonly data: readonly (readonly (number | string)[])[];
    };
  };
  /** What the AMM quotes */
  readonly 'GET /amm/bidAskPrice': {
    readonly params: {
      /** perp market; required */
      readonly marketName?: string;
      /** another name of marketName */
      readonly symbol?: string;
      /** unix seconds, inclusive; a day before the end unless given */
      readonly start?: number;
      /** unix seconds, inclusive; now unless given */
      readonly end?: number;
      /** most points; steps are at least 20 seconds */
      readonly samples?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** [ts, bid 1e6, ask 1e6], raw integers as text */
      readonly data: readonly (readonly (number | string)[])[];
    };
  };
  /** Oracle price */
  readonly 'GET /amm/oraclePrice': {
    readonly params: {
      /** perp market; required */
      readonly marketName?: string;
      /** another name of marketName */
      readonly symbol?: string;
      /** unix seconds, inclusive; a day before the end unless given */
      readonly start?: number;
      /** unix seconds, inclusive; now unless given */
      readonly end?: number;
      /** most points; steps are at least 20 seconds */
      readonly samples?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** [ts, price 1e6], raw integers as text */
      readonly data: readonly (readonly (number | string)[])[];
    };
  };
  /** Spreads of the AMM */
  readonly 'GET /amm/spreads': {
    readonly params: {
      /** perp market; required */
      readonly marketName?: string;
      /** another name of marketName */
      readonly symbol?: string;
      /** unix seconds, inclusive; a day before the end unless given */
      readonly start?: number;
      /** unix seconds, inclusive; now unless given */
      readonly end?: number;
      /** most points; steps are at least 20 seconds */
      readonly samples?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** [ts, long, short], 1e6 = 100 %, raw integers as text */
      readonly data: readonly (readonly (number | string)[])[];
    };
  };
  /** Open interest, the larger side */
  readonly 'GET /amm/openInterest': {
    readonly params: {
      /** perp market; required */
      readonly marketName?: string;
      /** another name of marketName */
      readonly symbol?: string;
      /** unix seconds, inclusive; a day before the end unless given */
      readonly start?: number;
      /** unix seconds, inclusive; now unless given */
      readonly end?: number;
      /** most points; steps are at least 20 seconds */
      readonly samples?: number;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** [ts, base 1e9], raw integers as text */
      readonly data: readonly (readonly (number | string)[])[];
    };
  };
  /** Parameters of the exchange: its markets, and the decimals that raw integers have */
  readonly 'GET /params': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly params: {
        readonly precisions: {
          readonly price: number;
          readonly quote: number;
          readonly base: number;
          readonly funding: number;
          readonly interest: number;
        };
        readonly markets: readonly ParamsParamsMarkets[];
      };
      /** when this answer was made, unix seconds */
      readonly updatedAt: number;
    };
  };
  /** Vaults of the deployment */
  readonly 'GET /vaults': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: readonly Readonly<Record<string, unknown>>[];
  };
  /** Notifications of the wallet, newest first */
  readonly 'GET /notifications': {
    readonly params: {
      /** token of the previous page */
      readonly page?: string;
      /** only notifications in this state */
      readonly status?: 'PENDING' | 'SENT' | 'FAILED' | 'READ';
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly records: readonly NotificationsRecord[];
      readonly meta: {
        readonly nextPage: string | null;
      };
    };
  };
  /** Mark a notification as read */
  readonly 'PATCH /notifications/{notificationId}': {
    readonly params: {
      /** as in the feed */
      readonly notificationId: string;
    };
    readonly body: {
      readonly status: 'READ';
    };
    readonly answer: {
      readonly success: true;
    };
  };
  /** Types that the wallet does not want pushed */
  readonly 'GET /notifications/preferences': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly preferences: {
        /** public key, base58 */
        readonly authorityId: string;
        readonly pushOptOutTypes: readonly (
          | 'PRICE_ALERT'
          | 'RECORD_UPDATE'
          | 'ACCOUNT_UPDATE'
          | 'TEST'
          | 'NEW_MARKET'
          | 'PRODUCT_UPDATE'
          | 'ANNOUNCEMENT'
          | 'REDUCE_ONLY'
          | 'CUSTOM'
        )[];
      };
    };
  };
  /** Replace the types that the wallet does not want pushed */
  readonly 'PUT /notifications/preferences': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: {
      readonly pushOptOutTypes: readonly (
        | 'PRICE_ALERT'
        | 'RECORD_UPDATE'
        | 'ACCOUNT_UPDATE'
        | 'TEST'
        | 'NEW_MARKET'
        | 'PRODUCT_UPDATE'
        | 'ANNOUNCEMENT'
        | 'REDUCE_ONLY'
        | 'CUSTOM'
      )[];
    };
    readonly answer: {
      readonly success: true;
      readonly preferences: {
        /** public key, base58 */
        readonly authorityId: string;
        readonly pushOptOutTypes: readonly (
          | 'PRICE_ALERT'
          | 'RECORD_UPDATE'
          | 'ACCOUNT_UPDATE'
          | 'TEST'
          | 'NEW_MARKET'
          | 'PRODUCT_UPDATE'
          | 'ANNOUNCEMENT'
          | 'REDUCE_ONLY'
          | 'CUSTOM'
        )[];
      };
    };
  };
  /** Devices that get pushes for the wallet */
  readonly 'GET /notifications/devices': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      readonly devices: readonly NotificationsDevicesDevices[];
    };
  };
  /** Register a device, or replace its token */
  readonly 'POST /notifications/devices': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: {
      /** the client's own name of the device */
      readonly deviceId: string;
      readonly token?: string | null;
      readonly platform: 'ios' | 'android' | 'web' | '';
    };
    readonly answer: {
      readonly success: true;
      readonly device: {
        readonly deviceId: string;
        readonly token: string | null;
        readonly platform: 'ios' | 'android' | 'web' | '';
        /** unix seconds */
        readonly createdAt: number;
        /** webhooks: key of the signatures */
        readonly secret?: string;
      };
    };
  };
  /** Remove a device */
  readonly 'DELETE /notifications/devices/{deviceId}': {
    readonly params: {
      /** the client's own name of the device */
      readonly deviceId: string;
    };
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
    };
  };
  /** Perp markets for market-data aggregators */
  readonly 'GET /external/coingecko/contracts': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      /** human units as text; empty where nothing is known. Funding: fraction per hour, positive = longs pay; the next rate is the last one, due at the next full hour (unix seconds) */
      readonly contracts: readonly ExternalCoingeckoContractsContracts[];
    };
  };
  /** Perp markets for market-data aggregators */
  readonly 'GET /contracts': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      /** human units as text; empty where nothing is known. Funding: fraction per hour, positive = longs pay; the next rate is the last one, due at the next full hour (unix seconds) */
      readonly contracts: readonly ExternalCoingeckoContractsContracts[];
    };
  };
  /** Newest rows of each stream, and gaps */
  readonly 'GET /freshness': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: {
      readonly success: true;
      /** newest slot of any stream; null before the first event */
      readonly newest: {
        /** slot */
        readonly slot: number;
        /** unix seconds */
        readonly ts: number;
        /** seconds that it lies behind the clock of the service */
        readonly behindClock: number;
      } | null;
      /** events in the log that the store does not hold yet; null when the log was never written */
      readonly eventsNotStored: number | null;
      /** a stream without events for a while lags without being late; eventsNotStored is the true lag */
      readonly streams: readonly FreshnessStreams[];
      /** numbered streams of markets, and of accounts with missing records; at most 500 */
      readonly coverage: readonly FreshnessCoverage[];
      /** totals of the numbered streams of accounts; accounts with missing records are in coverage */
      readonly accounts: readonly FreshnessAccounts[];
      /** gaps in the chain data, newest first, at most 200, open ones before filled ones; null when the log was never written */
      readonly gaps: readonly FreshnessGaps[] | null;
    };
  };
  /** Transaction that deposits tokens */
  readonly 'POST /tx/deposit': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: {
      /** key of the user account, base58 */
      readonly accountId: string;
      /** token units, a decimal text with at most the decimals of the token */
      readonly amount: string;
      /** spot market, for example USDT */
      readonly symbol: string;
      /** try the transaction on the node first */
      readonly simulate?: boolean;
    };
    readonly answer: {
      readonly success: true;
      /** base64 of an unsigned versioned transaction; its payer is the authority of the account */
      readonly tx: string;
      readonly message: string;
    };
  };
  /** Transaction that withdraws tokens */
  readonly 'POST /tx/withdraw': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: {
      /** key of the user account, base58 */
      readonly accountId: string;
      /** token units, a decimal text with at most the decimals of the token */
      readonly amount: string;
      /** spot market, for example USDT */
      readonly symbol: string;
      /** try the transaction on the node first */
      readonly simulate?: boolean;
    };
    readonly answer: {
      readonly success: true;
      /** base64 of an unsigned versioned transaction; its payer is the authority of the account */
      readonly tx: string;
      readonly message: string;
    };
  };
  /** Transaction that places a perp order */
  readonly 'POST /tx/order/place': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: {
      /** key of the user account, base58 */
      readonly accountId: string;
      /** perp market, for example SOL-PERP */
      readonly symbol: string;
      readonly direction: 'long' | 'short';
      /** base units, a decimal text with at most 9 decimals */
      readonly amount: string;
      readonly orderType: 'market' | 'limit' | 'triggerMarket' | 'triggerLimit' | 'oracle';
      /** a decimal text with at most 6 decimals; required for limit and triggerLimit orders, unless a limit order has an oraclePriceOffset; refused for others */
      readonly price?: string;
      /** price less the oracle price, a decimal text with at most 6 decimals; required for oracle orders */
      readonly oraclePriceOffset?: string;
      /** oracle price that activates the order; required for trigger orders */
      readonly triggerPrice?: string;
      /** required for trigger orders */
      readonly triggerCondition?: 'above' | 'below';
      /** largest leverage of the position from here on, from 1 to 1000, a decimal text with at most 2 decimals */
      readonly positionMaxLeverage?: string;
      /** a builder that the authority has approved, and its fee */
      readonly builderParams?: {
        /** place of the builder in the escrow */
        readonly builderIdx: number;
        /** fee, tenths of a basis point; at most the approved one */
        readonly builderFeeTenthBps: number;
      };
      readonly reduceOnly?: boolean;
      /** limit orders only; fails when the order would cross */
      readonly postOnly?: boolean;
      /** isolated moves the initial margin of the order to the position, unless the order only reduces it */
      readonly marginMode?: 'cross' | 'isolated';
      readonly useSwift?: boolean;
      /** try the transaction on the node first */
      readonly simulate?: boolean;
    };
    readonly answer: {
      readonly success: true;
      /** base64 of an unsigned versioned transaction; its payer is the authority of the account */
      readonly tx: string | null;
      /** with useSwift */
      readonly swift?: {
        readonly payload: {
          readonly market_index: number;
          readonly market_type: 'perp';
          /** hex text of the order message; its domain prefix is not part of it */
          readonly message: string;
          /** for the base64 signature of the wallet */
          readonly signature: '';
          /** public key, base58 */
          readonly signing_authority: string;
          /** public key, base58 */
          readonly taker_authority: string;
        };
        readonly meta: {
          /** base64 */
          readonly signedMsgOrderUuid: string;
          /** slot in the message */
          readonly slotForSignedMsg: string;
          readonly slotsTillAuctionEnd: number;
          /** time to sign, milliseconds */
          readonly expirationTimeMs: number;
        };
      };
      readonly message: string;
    };
  };
  /** Transaction that cancels orders */
  readonly 'POST /tx/order/cancel': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: {
      /** key of the user account, base58 */
      readonly accountId: string;
      readonly orderId?: number;
      readonly orderIds?: readonly number[];
      /** perp market */
      readonly symbol?: string;
      /** try the transaction on the node first */
      readonly simulate?: boolean;
    };
    readonly answer: {
      readonly success: true;
      /** base64 of an unsigned versioned transaction; its payer is the authority of the account */
      readonly tx: string;
      readonly message: string;
    };
  };
  /** Transaction that settles P&L */
  readonly 'POST /tx/settlePnl': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: {
      /** key of the user account, base58 */
      readonly accountId: string;
      /** perp markets; absent: all with a position */
      readonly symbols?: readonly string[];
      /** try the transaction on the node first */
      readonly simulate?: boolean;
    };
    readonly answer: {
      readonly success: true;
      /** base64 of an unsigned versioned transaction; its payer is the authority of the account */
      readonly tx: string;
      readonly message: string;
    };
  };
  /** Transaction that opens the revenue-share account of a builder */
  readonly 'POST /tx/builder/init': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: {
      /** wallet of the builder, base58 */
      readonly builderId: string;
      /** try the transaction on the node first */
      readonly simulate?: boolean;
    };
    readonly answer: {
      readonly success: true;
      /** base64 of an unsigned versioned transaction; its payer is the authority of the account */
      readonly tx: string;
      readonly message: string;
    };
  };
  /** Transaction that approves a builder */
  readonly 'POST /tx/builder/approve': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: {
      /** wallet of the user, base58 */
      readonly authorityId: string;
      /** wallet of the builder, base58 */
      readonly builderId: string;
      /** highest fee, tenths of a basis point */
      readonly maxFeeTenthBps: number;
      /** orders that the escrow holds at once */
      readonly numOrders?: number;
      /** try the transaction on the node first */
      readonly simulate?: boolean;
    };
    readonly answer: {
      readonly success: true;
      /** base64 of an unsigned versioned transaction; its payer is the authority of the account */
      readonly tx: string;
      readonly message: string;
    };
  };
  /** Send a signed transaction */
  readonly 'POST /tx/execute': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: {
      /** base64 of the signed transaction, at most 1232 bytes */
      readonly signedTx: string;
      /** try the transaction on the node first */
      readonly simulate?: boolean;
      readonly commitment?: 'processed' | 'confirmed' | 'finalized';
    };
    readonly answer: {
      readonly success: true;
      /** signature of the transaction, base58 */
      readonly txSig: string;
    };
  };
  /** This document */
  readonly 'GET /openapi.json': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: Readonly<Record<string, unknown>>;
  };
  /** WebSocket; `/asyncapi.json` describes its messages */
  readonly 'GET /ws': {
    readonly params: Readonly<Record<string, never>>;
    readonly body: undefined;
    readonly answer: undefined;
  };
}

/** Operations that need a wallet signature. */
export const SIGNED_OPERATIONS: readonly string[] = [
  'POST /authority/{authorityId}/exports',
  'GET /authority/{authorityId}/exports',
  'GET /notifications',
  'PATCH /notifications/{notificationId}',
  'GET /notifications/preferences',
  'PUT /notifications/preferences',
  'GET /notifications/devices',
  'POST /notifications/devices',
  'DELETE /notifications/devices/{deviceId}',
];

export interface MarketTradesRecord {
  /** unix seconds */
  readonly ts: number;
  /** transaction signature */
  readonly txSig: string;
  /** index of the event inside its transaction */
  readonly txSigIndex: number;
  /** slot */
  readonly slot: number;
  /** raw integer, quote 1e6 */
  readonly fillerReward: string | null;
  /** raw integer, base 1e9 */
  readonly baseAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly quoteAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly takerFee: string | null;
  /** raw integer, quote 1e6: 0 without a maker, negative when paid to the maker */
  readonly makerRebate: string;
  /** raw integer, quote 1e6 */
  readonly referrerReward: string | null;
  /** raw integer, quote 1e6 */
  readonly quoteAssetAmountSurplus: string | null;
  /** raw integer, base 1e9 */
  readonly takerOrderBaseAssetAmount: string | null;
  /** raw integer, base 1e9 */
  readonly takerOrderCumulativeBaseAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly takerOrderCumulativeQuoteAssetAmountFilled: string | null;
  /** raw integer, base 1e9 */
  readonly makerOrderBaseAssetAmount: string | null;
  /** raw integer, base 1e9 */
  readonly makerOrderCumulativeBaseAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly makerOrderCumulativeQuoteAssetAmountFilled: string | null;
  /** raw integer, price 1e6 */
  readonly oraclePrice: string;
  /** raw integer, quote 1e6 */
  readonly makerFee: string | null;
  /** always fill */
  readonly action: string;
  /** why the action happened */
  readonly actionExplanation: string;
  /** market index */
  readonly marketIndex: number;
  /** perp or spot */
  readonly marketType: string;
  /** keeper account */
  readonly filler: string | null;
  /** raw integer, identifier */
  readonly fillRecordId: string | null;
  /** taker account */
  readonly taker: string | null;
  /** order id of the taker */
  readonly takerOrderId: number | null;
  /** long or short */
  readonly takerOrderDirection: string | null;
  /** maker account; null when the AMM filled */
  readonly maker: string | null;
  /** order id of the maker */
  readonly makerOrderId: number | null;
  /** long or short */
  readonly makerOrderDirection: string | null;
  /** raw integer, quote 1e6 */
  readonly spotFulfillmentMethodFee: string | null;
  /** perp or spot */
  readonly marketFilter: string;
  /** the account a row was listed under; null in market lists */
  readonly user: string | null;
  /** market symbol */
  readonly symbol: string;
  /** flags of the fill */
  readonly bitFlags: number;
  /** raw integer, quote 1e6 */
  readonly takerExistingQuoteEntryAmount: string | null;
  /** raw integer, base 1e9 */
  readonly takerExistingBaseAssetAmount: string | null;
  /** raw integer, quote 1e6 */
  readonly makerExistingQuoteEntryAmount: string | null;
  /** raw integer, base 1e9 */
  readonly makerExistingBaseAssetAmount: string | null;
  /** raw integer, price 1e6 */
  readonly triggerPrice: string | null;
  /** builder index */
  readonly builderIdx: number | null;
  /** raw integer, quote 1e6 */
  readonly builderFee: string | null;
  /** raw integer, price 1e6 */
  readonly price: string | null;
  /** index of the transaction in its block; null where unknown */
  readonly txIndex: number | null;
}

export interface MarketFundingRatesRecord {
  /** unix seconds */
  readonly ts: number;
  /** transaction signature */
  readonly txSig: string;
  /** index of the event inside its transaction */
  readonly txSigIndex: number;
  /** slot */
  readonly slot: number;
  /** raw integer, identifier */
  readonly recordId: string;
  /** market index */
  readonly marketIndex: number;
  /** market symbol */
  readonly symbol: string;
  /** raw integer, funding 1e9 */
  readonly fundingRate: string;
  /** raw integer, funding 1e9 */
  readonly fundingRateLong: string;
  /** raw integer, funding 1e9 */
  readonly fundingRateShort: string;
  /** raw integer, funding 1e9 */
  readonly cumulativeFundingRateLong: string;
  /** raw integer, funding 1e9 */
  readonly cumulativeFundingRateShort: string;
  /** raw integer, price 1e6 */
  readonly oraclePriceTwap: string;
  /** raw integer, price 1e6 */
  readonly markPriceTwap: string;
  /** raw integer, base 1e9 */
  readonly baseAssetAmountWithAmm: string;
  /** index of the transaction in its block; null where unknown */
  readonly txIndex: number | null;
}

export interface MarketDepositsRecord {
  /** unix seconds */
  readonly ts: number;
  /** transaction signature */
  readonly txSig: string;
  /** index of the event inside its transaction */
  readonly txSigIndex: number;
  /** slot */
  readonly slot: number;
  /** owner of the account */
  readonly userAuthority: string;
  /** account */
  readonly user: string;
  /** deposit or withdraw */
  readonly direction: string;
  /** raw integer, identifier */
  readonly depositRecordId: string;
  /** raw integer, token, mint decimals */
  readonly amount: string;
  /** market index */
  readonly marketIndex: number;
  /** market symbol */
  readonly symbol: string;
  /** raw integer, price 1e6 */
  readonly oraclePrice: string;
  /** raw integer, scaled balance 1e9 */
  readonly marketDepositBalance: string;
  /** raw integer, scaled balance 1e9 */
  readonly marketWithdrawBalance: string;
  /** raw integer, interest 1e10 */
  readonly marketCumulativeDepositInterest: string;
  /** raw integer, interest 1e10 */
  readonly marketCumulativeBorrowInterest: string;
  /** raw integer, quote 1e6 */
  readonly totalDepositsAfter: string;
  /** raw integer, quote 1e6 */
  readonly totalWithdrawsAfter: string;
  /** none, transfer, borrow, repayBorrow or reward */
  readonly explanation: string;
  /** the other account of a transfer */
  readonly transferUser: string | null;
  /** who signed */
  readonly signer: string | null;
  /** raw integer, token, mint decimals */
  readonly userTokenAmountAfter: string | null;
  /** index of the transaction in its block; null where unknown */
  readonly txIndex: number | null;
}

export interface MarketSwapsRecord {
  /** unix seconds */
  readonly ts: number;
  /** transaction signature */
  readonly txSig: string;
  /** index of the event inside its transaction */
  readonly txSigIndex: number;
  /** slot */
  readonly slot: number;
  /** account */
  readonly user: string;
  /** raw integer, token, mint decimals */
  readonly amountOut: string;
  /** raw integer, token, mint decimals */
  readonly amountIn: string;
  /** spot market that arrived */
  readonly outMarketIndex: number;
  /** spot market that left */
  readonly inMarketIndex: number;
  /** market symbol */
  readonly outSymbol: string;
  /** market symbol */
  readonly inSymbol: string;
  /** raw integer, price 1e6 */
  readonly outOraclePrice: string;
  /** raw integer, price 1e6 */
  readonly inOraclePrice: string;
  /** raw integer, token, mint decimals */
  readonly fee: string;
  /** index of the transaction in its block; null where unknown */
  readonly txIndex: number | null;
}

export interface MarketInsuranceFundRecord {
  /** unix seconds */
  readonly ts: number;
  /** transaction signature */
  readonly txSig: string;
  /** index of the event inside its transaction */
  readonly txSigIndex: number;
  /** slot */
  readonly slot: number;
  /** spot market */
  readonly spotMarketIndex: number;
  /** perp market */
  readonly perpMarketIndex: number;
  /** market symbol */
  readonly symbol: string;
  /** share of stakers, 1e6 */
  readonly userIfFactor: number;
  /** share of the insurance fund, 1e6 */
  readonly totalIfFactor: number;
  /** raw integer, token, mint decimals */
  readonly vaultAmountBefore: string;
  /** raw integer, token, mint decimals */
  readonly insuranceVaultAmountBefore: string;
  /** raw integer, shares */
  readonly totalIfSharesBefore: string;
  /** raw integer, shares */
  readonly totalIfSharesAfter: string;
  /** raw integer, token, mint decimals */
  readonly amount: string;
  /** index of the transaction in its block; null where unknown */
  readonly txIndex: number | null;
}

export interface MarketInsuranceFundStakeRecord {
  /** unix seconds */
  readonly ts: number;
  /** transaction signature */
  readonly txSig: string;
  /** index of the event inside its transaction */
  readonly txSigIndex: number;
  /** slot */
  readonly slot: number;
  /** staker */
  readonly userAuthority: string;
  /** stake, unstakeRequest, unstakeCancelRequest, unstake, unstakeTransfer, stakeTransfer or adminDeposit */
  readonly action: string;
  /** raw integer, token, mint decimals */
  readonly amount: string;
  /** spot market */
  readonly marketIndex: number;
  /** market symbol */
  readonly symbol: string;
  /** raw integer, token, mint decimals */
  readonly insuranceVaultAmountBefore: string;
  /** raw integer, shares */
  readonly ifSharesBefore: string;
  /** raw integer, shares */
  readonly ifSharesAfter: string;
  /** raw integer, shares */
  readonly userIfSharesBefore: string;
  /** raw integer, shares */
  readonly userIfSharesAfter: string;
  /** raw integer, shares */
  readonly totalIfSharesBefore: string;
  /** raw integer, shares */
  readonly totalIfSharesAfter: string;
  /** index of the transaction in its block; null where unknown */
  readonly txIndex: number | null;
}

export interface MarketCandlesRecord {
  /** bucket start, unix seconds */
  readonly ts: number;
  /** human price */
  readonly fillOpen: number;
  /** human price */
  readonly fillHigh: number;
  /** human price */
  readonly fillLow: number;
  /** human price */
  readonly fillClose: number;
  /** human price */
  readonly oracleOpen: number;
  /** human price */
  readonly oracleHigh: number;
  /** human price */
  readonly oracleLow: number;
  /** human price */
  readonly oracleClose: number;
  /** human quote amount */
  readonly quoteVolume: number;
  /** human base amount; 0 when nothing was traded */
  readonly baseVolume: number;
}

export interface UserTradesRecord {
  /** unix seconds */
  readonly ts: number;
  /** transaction signature */
  readonly txSig: string;
  /** index of the event inside its transaction */
  readonly txSigIndex: number;
  /** slot */
  readonly slot: number;
  /** raw integer, quote 1e6 */
  readonly fillerReward: string | null;
  /** raw integer, base 1e9 */
  readonly baseAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly quoteAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly takerFee: string | null;
  /** raw integer, quote 1e6: 0 without a maker, negative when paid to the maker */
  readonly makerRebate: string;
  /** raw integer, quote 1e6 */
  readonly referrerReward: string | null;
  /** raw integer, quote 1e6 */
  readonly quoteAssetAmountSurplus: string | null;
  /** raw integer, base 1e9 */
  readonly takerOrderBaseAssetAmount: string | null;
  /** raw integer, base 1e9 */
  readonly takerOrderCumulativeBaseAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly takerOrderCumulativeQuoteAssetAmountFilled: string | null;
  /** raw integer, base 1e9 */
  readonly makerOrderBaseAssetAmount: string | null;
  /** raw integer, base 1e9 */
  readonly makerOrderCumulativeBaseAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly makerOrderCumulativeQuoteAssetAmountFilled: string | null;
  /** raw integer, price 1e6 */
  readonly oraclePrice: string;
  /** raw integer, quote 1e6 */
  readonly makerFee: string | null;
  /** always fill */
  readonly action: string;
  /** why the action happened */
  readonly actionExplanation: string;
  /** market index */
  readonly marketIndex: number;
  /** perp or spot */
  readonly marketType: string;
  /** keeper account */
  readonly filler: string | null;
  /** raw integer, identifier */
  readonly fillRecordId: string | null;
  /** taker account */
  readonly taker: string | null;
  /** order id of the taker */
  readonly takerOrderId: number | null;
  /** long or short */
  readonly takerOrderDirection: string | null;
  /** maker account; null when the AMM filled */
  readonly maker: string | null;
  /** order id of the maker */
  readonly makerOrderId: number | null;
  /** long or short */
  readonly makerOrderDirection: string | null;
  /** raw integer, quote 1e6 */
  readonly spotFulfillmentMethodFee: string | null;
  /** perp or spot */
  readonly marketFilter: string;
  /** the account the row is listed under */
  readonly user: string;
  /** market symbol */
  readonly symbol: string;
  /** flags of the fill */
  readonly bitFlags: number;
  /** raw integer, quote 1e6 */
  readonly takerExistingQuoteEntryAmount: string | null;
  /** raw integer, base 1e9 */
  readonly takerExistingBaseAssetAmount: string | null;
  /** raw integer, quote 1e6 */
  readonly makerExistingQuoteEntryAmount: string | null;
  /** raw integer, base 1e9 */
  readonly makerExistingBaseAssetAmount: string | null;
  /** raw integer, price 1e6 */
  readonly triggerPrice: string | null;
  /** builder index */
  readonly builderIdx: number | null;
  /** raw integer, quote 1e6 */
  readonly builderFee: string | null;
  /** raw integer, price 1e6 */
  readonly price: string | null;
  /** index of the transaction in its block; null where unknown */
  readonly txIndex: number | null;
}

export interface UserPositionsRecord {
  /** unix seconds */
  readonly ts: number;
  /** transaction signature */
  readonly txSig: string;
  /** index of the event inside its transaction */
  readonly txSigIndex: number;
  /** slot */
  readonly slot: number;
  /** raw integer, quote 1e6 */
  readonly fillerReward: string | null;
  /** raw integer, base 1e9 */
  readonly baseAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly quoteAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly takerFee: string | null;
  /** raw integer, quote 1e6: 0 without a maker, negative when paid to the maker */
  readonly makerRebate: string;
  /** raw integer, quote 1e6 */
  readonly referrerReward: string | null;
  /** raw integer, quote 1e6 */
  readonly quoteAssetAmountSurplus: string | null;
  /** raw integer, base 1e9 */
  readonly takerOrderBaseAssetAmount: string | null;
  /** raw integer, base 1e9 */
  readonly takerOrderCumulativeBaseAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly takerOrderCumulativeQuoteAssetAmountFilled: string | null;
  /** raw integer, base 1e9 */
  readonly makerOrderBaseAssetAmount: string | null;
  /** raw integer, base 1e9 */
  readonly makerOrderCumulativeBaseAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly makerOrderCumulativeQuoteAssetAmountFilled: string | null;
  /** raw integer, price 1e6 */
  readonly oraclePrice: string;
  /** raw integer, quote 1e6 */
  readonly makerFee: string | null;
  /** always fill */
  readonly action: string;
  /** why the action happened */
  readonly actionExplanation: string;
  /** market index */
  readonly marketIndex: number;
  /** perp or spot */
  readonly marketType: string;
  /** keeper account */
  readonly filler: string | null;
  /** raw integer, identifier */
  readonly fillRecordId: string | null;
  /** taker account */
  readonly taker: string | null;
  /** order id of the taker */
  readonly takerOrderId: number | null;
  /** long or short */
  readonly takerOrderDirection: string | null;
  /** maker account; null when the AMM filled */
  readonly maker: string | null;
  /** order id of the maker */
  readonly makerOrderId: number | null;
  /** long or short */
  readonly makerOrderDirection: string | null;
  /** raw integer, quote 1e6 */
  readonly spotFulfillmentMethodFee: string | null;
  /** perp or spot */
  readonly marketFilter: string;
  /** the account the row is listed under */
  readonly user: string;
  /** market symbol */
  readonly symbol: string;
  /** flags of the fill */
  readonly bitFlags: number;
  /** raw integer, quote 1e6 */
  readonly takerExistingQuoteEntryAmount: string | null;
  /** raw integer, base 1e9 */
  readonly takerExistingBaseAssetAmount: string | null;
  /** raw integer, quote 1e6 */
  readonly makerExistingQuoteEntryAmount: string | null;
  /** raw integer, base 1e9 */
  readonly makerExistingBaseAssetAmount: string | null;
  /** raw integer, price 1e6 */
  readonly triggerPrice: string | null;
  /** builder index */
  readonly builderIdx: number | null;
  /** raw integer, quote 1e6 */
  readonly builderFee: string | null;
  /** raw integer, price 1e6 */
  readonly price: string | null;
  /** raw integer, quote 1e6 */
  readonly userFee: string | null;
  /** raw integer, base 1e9 */
  readonly baseClosedForPnl: string;
  /** raw integer, quote 1e6 */
  readonly userExistingQuoteEntryAmount: string | null;
  /** raw integer, base 1e9 */
  readonly userExistingBaseAssetAmount: string | null;
  /** index of the transaction in its block; null where unknown */
  readonly txIndex: number | null;
}

export interface UserFundingPaymentsRecord {
  /** unix seconds */
  readonly ts: number;
  /** transaction signature */
  readonly txSig: string;
  /** index of the event inside its transaction */
  readonly txSigIndex: number;
  /** slot */
  readonly slot: number;
  /** owner of the account */
  readonly userAuthority: string;
  /** account */
  readonly user: string;
  /** perp market */
  readonly marketIndex: number;
  /** market symbol */
  readonly symbol: string;
  /** raw integer, quote 1e6 */
  readonly fundingPayment: string;
  /** raw integer, base 1e9 */
  readonly baseAssetAmount: string;
  /** raw integer, funding 1e9 */
  readonly userLastCumulativeFunding: string;
  /** raw integer, funding 1e9 */
  readonly ammCumulativeFundingLong: string;
  /** raw integer, funding 1e9 */
  readonly ammCumulativeFundingShort: string;
  /** index of the transaction in its block; null where unknown */
  readonly txIndex: number | null;
}

export interface UserLiquidationsRecord {
  /** unix seconds */
  readonly ts: number;
  /** transaction signature */
  readonly txSig: string;
  /** index of the event inside its transaction */
  readonly txSigIndex: number;
  /** slot */
  readonly slot: number;
  /** liquidated account */
  readonly user: string;
  /** liquidating account */
  readonly liquidator: string;
  /** liquidatePerp, liquidateSpot, liquidateBorrowForPerpPnl, liquidatePerpPnlForDeposit, perpBankruptcy, spotBankruptcy */
  readonly liquidationType: string;
  /** per account, wraps at 65,536 */
  readonly liquidationId: number;
  /** whether the account was bankrupt */
  readonly bankrupt: boolean;
  /** raw integer, quote 1e6 */
  readonly marginRequirement: string;
  /** raw integer, quote 1e6 */
  readonly totalCollateral: string;
  /** raw integer, quote 1e6 */
  readonly marginFreed: string;
  /** orders that were cancelled */
  readonly canceledOrderIds: readonly number[];
  /** 1 = isolated position */
  readonly bitFlags: number | null;
  /** of liquidatePerp only */
  readonly liquidatePerp_marketIndex: number;
  /** raw integer, price 1e6 */
  readonly liquidatePerp_oraclePrice: string;
  /** raw integer, base 1e9 */
  readonly liquidatePerp_baseAssetAmount: string;
  /** raw integer, quote 1e6 */
  readonly liquidatePerp_quoteAssetAmount: string;
  /** raw integer, identifier */
  readonly liquidatePerp_fillRecordId: string;
  /** of liquidatePerp only */
  readonly liquidatePerp_userOrderId: number;
  /** of liquidatePerp only */
  readonly liquidatePerp_liquidatorOrderId: number;
  /** raw integer, quote 1e6 */
  readonly liquidatePerp_liquidatorFee: string;
  /** raw integer, quote 1e6 */
  readonly liquidatePerp_ifFee: string;
  /** raw integer, quote 1e6 */
  readonly liquidatePerp_protocolFee: string | null;
  /** of liquidateSpot only */
  readonly liquidateSpot_assetMarketIndex: number;
  /** raw integer, price 1e6 */
  readonly liquidateSpot_assetPrice: string;
  /** raw integer, token, mint decimals */
  readonly liquidateSpot_assetTransfer: string;
  /** of liquidateSpot only */
  readonly liquidateSpot_liabilityMarketIndex: number;
  /** raw integer, price 1e6 */
  readonly liquidateSpot_liabilityPrice: string;
  /** raw integer, token, mint decimals */
  readonly liquidateSpot_liabilityTransfer: string;
  /** raw integer, token, mint decimals */
  readonly liquidateSpot_ifFee: string;
  /** raw integer, token, mint decimals */
  readonly liquidateSpot_protocolFee: string | null;
  /** of liquidateBorrowForPerpPnl only */
  readonly liquidateBorrowForPerpPnl_perpMarketIndex: number;
  /** raw integer, price 1e6 */
  readonly liquidateBorrowForPerpPnl_marketOraclePrice: string;
  /** raw integer, quote 1e6 */
  readonly liquidateBorrowForPerpPnl_pnlTransfer: string;
  /** of liquidateBorrowForPerpPnl only */
  readonly liquidateBorrowForPerpPnl_liabilityMarketIndex: number;
  /** raw integer, price 1e6 */
  readonly liquidateBorrowForPerpPnl_liabilityPrice: string;
  /** raw integer, token, mint decimals */
  readonly liquidateBorrowForPerpPnl_liabilityTransfer: string;
  /** of liquidatePerpPnlForDeposit only */
  readonly liquidatePerpPnlForDeposit_perpMarketIndex: number;
  /** raw integer, price 1e6 */
  readonly liquidatePerpPnlForDeposit_marketOraclePrice: string;
  /** raw integer, quote 1e6 */
  readonly liquidatePerpPnlForDeposit_pnlTransfer: string;
  /** of liquidatePerpPnlForDeposit only */
  readonly liquidatePerpPnlForDeposit_assetMarketIndex: number;
  /** raw integer, price 1e6 */
  readonly liquidatePerpPnlForDeposit_assetPrice: string;
  /** raw integer, token, mint decimals */
  readonly liquidatePerpPnlForDeposit_assetTransfer: string;
  /** of perpBankruptcy only */
  readonly perpBankruptcy_marketIndex: number;
  /** raw integer, quote 1e6 */
  readonly perpBankruptcy_pnl: string;
  /** raw integer, quote 1e6 */
  readonly perpBankruptcy_ifPayment: string;
  /** of perpBankruptcy only */
  readonly perpBankruptcy_clawbackUser: string | null;
  /** raw integer, quote 1e6 */
  readonly perpBankruptcy_clawbackUserPayment: string | null;
  /** raw integer, funding 1e9 */
  readonly perpBankruptcy_cumulativeFundingRateDelta: string;
  /** of spotBankruptcy only */
  readonly spotBankruptcy_marketIndex: number;
  /** raw integer, token, mint decimals */
  readonly spotBankruptcy_borrowAmount: string;
  /** raw integer, token, mint decimals */
  readonly spotBankruptcy_ifPayment: string;
  /** raw integer, interest 1e10 */
  readonly spotBankruptcy_cumulativeDepositInterestDelta: string;
  /** index of the transaction in its block; null where unknown */
  readonly txIndex: number | null;
}

export interface UserSettlePnlRecord {
  /** unix seconds */
  readonly ts: number;
  /** transaction signature */
  readonly txSig: string;
  /** index of the event inside its transaction */
  readonly txSigIndex: number;
  /** slot */
  readonly slot: number;
  /** account */
  readonly user: string;
  /** perp market */
  readonly marketIndex: number;
  /** market symbol */
  readonly symbol: string;
  /** raw integer, quote 1e6 */
  readonly pnl: string;
  /** raw integer, base 1e9 */
  readonly baseAssetAmount: string;
  /** raw integer, quote 1e6 */
  readonly quoteAssetAmountAfter: string;
  /** raw integer, quote 1e6 */
  readonly quoteEntryAmount: string;
  /** raw integer, price 1e6 */
  readonly settlePrice: string;
  /** none or expiredPosition */
  readonly explanation: string;
  /** index of the transaction in its block; null where unknown */
  readonly txIndex: number | null;
}

export interface UserOrdersRecord {
  /** unix seconds */
  readonly ts: number;
  /** transaction signature */
  readonly txSig: string;
  /** index of the event inside its transaction */
  readonly txSigIndex: number;
  /** slot */
  readonly slot: number;
  /** account */
  readonly user: string;
  /** init, open, filled or canceled */
  readonly status: string;
  /** market, limit, triggerMarket, triggerLimit or oracle */
  readonly orderType: string;
  /** perp or spot */
  readonly marketType: string;
  /** perp or spot */
  readonly marketFilter: string;
  /** market index */
  readonly marketIndex: number;
  /** market symbol */
  readonly symbol: string;
  /** per account, never used again */
  readonly orderId: number;
  /** the client's own number */
  readonly userOrderId: number;
  /** raw integer, price 1e6 */
  readonly price: string;
  /** raw integer, price 1e6 */
  readonly triggerPrice: string;
  /** raw integer, base 1e9 */
  readonly baseAssetAmount: string;
  /** raw integer, base 1e9 */
  readonly baseAssetAmountFilled: string;
  /** raw integer, quote 1e6 */
  readonly quoteAssetAmount: string | null;
  /** raw integer, quote 1e6 */
  readonly quoteAssetAmountFilled: string;
  /** long or short */
  readonly direction: string;
  /** long or short */
  readonly existingPositionDirection: string;
  /** may only reduce a position */
  readonly reduceOnly: boolean;
  /** may only make */
  readonly postOnly: boolean;
  /** cancels the amount that does not fill at once */
  readonly immediateOrCancel: boolean;
  /** above, below, triggeredAbove or triggeredBelow */
  readonly triggerCondition: string;
  /** raw integer, price 1e6 */
  readonly oraclePriceOffset: string;
  /** slots */
  readonly auctionDuration: number | null;
  /** raw integer, price 1e6 */
  readonly auctionStartPrice: string | null;
  /** raw integer, price 1e6 */
  readonly auctionEndPrice: string | null;
  /** unix seconds, 0 = none */
  readonly maxTs: number;
  /** open, partial_fill, filled, cancelled, partial_fill_cancelled, expired or trigger */
  readonly lastActionStatus: string;
  /** why the last action happened */
  readonly lastActionExplanation: string;
  /** unix seconds */
  readonly lastUpdatedTs: number;
  /** raw integer, quote 1e6 */
  readonly cumulativeFee: string;
  /** index of the transaction in its block; null where unknown */
  readonly txIndex: number | null;
}

export interface UserOrdersActionsRecord {
  /** unix seconds */
  readonly ts: number;
  /** transaction signature */
  readonly txSig: string;
  /** index of the event inside its transaction */
  readonly txSigIndex: number;
  /** slot */
  readonly slot: number;
  /** raw integer, quote 1e6 */
  readonly fillerReward: string | null;
  /** raw integer, base 1e9 */
  readonly baseAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly quoteAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly takerFee: string | null;
  /** raw integer, quote 1e6: 0 without a maker, negative when paid to the maker */
  readonly makerRebate: string;
  /** raw integer, quote 1e6 */
  readonly referrerReward: string | null;
  /** raw integer, quote 1e6 */
  readonly quoteAssetAmountSurplus: string | null;
  /** raw integer, base 1e9 */
  readonly takerOrderBaseAssetAmount: string | null;
  /** raw integer, base 1e9 */
  readonly takerOrderCumulativeBaseAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly takerOrderCumulativeQuoteAssetAmountFilled: string | null;
  /** raw integer, base 1e9 */
  readonly makerOrderBaseAssetAmount: string | null;
  /** raw integer, base 1e9 */
  readonly makerOrderCumulativeBaseAssetAmountFilled: string | null;
  /** raw integer, quote 1e6 */
  readonly makerOrderCumulativeQuoteAssetAmountFilled: string | null;
  /** raw integer, price 1e6 */
  readonly oraclePrice: string;
  /** raw integer, quote 1e6 */
  readonly makerFee: string | null;
  /** place, cancel, fill, trigger or expire */
  readonly action: string;
  /** why the action happened */
  readonly actionExplanation: string;
  /** market index */
  readonly marketIndex: number;
  /** perp or spot */
  readonly marketType: string;
  /** keeper account */
  readonly filler: string | null;
  /** raw integer, identifier */
  readonly fillRecordId: string | null;
  /** taker account */
  readonly taker: string | null;
  /** order id of the taker */
  readonly takerOrderId: number | null;
  /** long or short */
  readonly takerOrderDirection: string | null;
  /** maker account; null when the AMM filled */
  readonly maker: string | null;
  /** order id of the maker */
  readonly makerOrderId: number | null;
  /** long or short */
  readonly makerOrderDirection: string | null;
  /** raw integer, quote 1e6 */
  readonly spotFulfillmentMethodFee: string | null;
  /** perp or spot */
  readonly marketFilter: string;
  /** the account the row is listed under */
  readonly user: string;
  /** market symbol */
  readonly symbol: string;
  /** flags of the fill */
  readonly bitFlags: number;
  /** raw integer, quote 1e6 */
  readonly takerExistingQuoteEntryAmount: string | null;
  /** raw integer, base 1e9 */
  readonly takerExistingBaseAssetAmount: string | null;
  /** raw integer, quote 1e6 */
  readonly makerExistingQuoteEntryAmount: string | null;
  /** raw integer, base 1e9 */
  readonly makerExistingBaseAssetAmount: string | null;
  /** raw integer, price 1e6 */
  readonly triggerPrice: string | null;
  /** builder index */
  readonly builderIdx: number | null;
  /** raw integer, quote 1e6 */
  readonly builderFee: string | null;
  /** raw integer, price 1e6 */
  readonly price: string | null;
  /** index of the transaction in its block; null where unknown */
  readonly txIndex: number | null;
}

export interface UserSnapshotsTradingSnapshots {
  /** unix seconds */
  readonly ts: number;
  /** raw integer, quote 1e6 */
  readonly accountBalance: string;
  /** raw integer, quote 1e6 */
  readonly unrealizedPnl: string;
  /** raw integer, quote 1e6 */
  readonly cumulativeRealizedPnl: string;
  /** raw integer, quote 1e6 */
  readonly unsettledPnl: string;
  /** raw integer, quote 1e6 */
  readonly cumulativeSettledPnl: string;
  /** raw integer, quote 1e6 */
  readonly cumulativeFunding: string;
  /** raw integer, quote 1e6 */
  readonly cumulativeFeePaid: string;
  /** raw integer, quote 1e6 */
  readonly cumulativeFeeRebate: string;
  /** raw integer, quote 1e6 */
  readonly cumulativeTakerVolume: string;
  /** raw integer, quote 1e6 */
  readonly cumulativeMakerVolume: string;
}

export interface UserSnapshotsEarnSnapshots {
  /** unix seconds */
  readonly ts: number;
  readonly assets: readonly UserSnapshotsEarnSnapshotsAssets[];
}

export interface UserSnapshotsEarnSnapshotsAssets {
  readonly marketIndex: number;
  /** raw integer, token, mint decimals */
  readonly balance: string;
  /** raw integer, token, mint decimals */
  readonly deposits: string;
  /** raw integer, token, mint decimals */
  readonly withdrawals: string;
  /** raw integer, token, mint decimals */
  readonly rewards: string;
  /** raw integer, token, mint decimals */
  readonly pnl: string;
  /** raw integer, token, mint decimals */
  readonly interestBaseValue: string;
  /** raw integer, quote 1e6 */
  readonly interestQuoteValue: string;
  /** raw integer, price 1e6 */
  readonly oraclePrice: string;
}

export interface UserSnapshotsVaultsSnapshots {
  /** unix seconds */
  readonly ts: number;
  /** public key, base58 */
  readonly vault: string;
  /** raw integer, quote 1e6 */
  readonly totalAccountValue: string;
  /** raw integer, token, mint decimals */
  readonly totalAccountBaseValue: string;
  /** spot market of the vault's token */
  readonly marketIndex: number;
}

export interface AuthoritySnapshotsOverviewProductsTrade {
  /** public key, base58 */
  readonly accountId: string;
  /** oldest first, from the first event of the account on */
  readonly snapshots: readonly UserSnapshotsTradingSnapshots[];
  /** over the life of the account */
  readonly metrics: {
    /** raw integer, quote 1e6 */
    readonly cumulativeMakerVolume: string;
    /** raw integer, quote 1e6 */
    readonly cumulativeTakerVolume: string;
    /** raw integer, quote 1e6 */
    readonly cumulativeFeePaid: string;
    /** raw integer, quote 1e6 */
    readonly cumulativeFeeRebate: string;
  };
}

export interface AuthoritySnapshotsOverviewProductsEarn {
  /** public key, base58 */
  readonly accountId: string;
  /** oldest first, daily, from the first movement of tokens on */
  readonly snapshots: readonly UserSnapshotsEarnSnapshots[];
}

export interface AuthoritySnapshotsOverviewProductsVaults {
  /** public key, base58 */
  readonly accountId: string;
  /** oldest first, from the first record of the deposit on; worth at the oracle price, fees that run up not taken off */
  readonly snapshots: readonly UserSnapshotsVaultsSnapshots[];
}

export interface AuthoritySnapshotsReferralsSnapshots {
  /** unix seconds */
  readonly ts: number;
  readonly referralCount: number;
  /** raw integer, quote 1e6 */
  readonly referralRewards: string;
  /** raw integer, quote 1e6 */
  readonly referredVolume30D: string;
  readonly referredUsers: readonly string[];
}

export interface AuthorityLpMintRedeemRecord {
  /** unix seconds */
  readonly ts: number;
  /** transaction signature */
  readonly txSig: string;
  /** index of the event inside its transaction */
  readonly txSigIndex: number;
  /** slot */
  readonly slot: number;
  /** wallet */
  readonly authority: string;
  /** 0 or 1; which of them is mint is not published */
  readonly description: number;
  /** raw integer, token, mint decimals */
  readonly amount: string;
  /** raw integer, token, mint decimals */
  readonly fee: string;
  /** spot market */
  readonly spotMarketIndex: number;
  /** market symbol */
  readonly symbol: string;
  /** constituent of the pool */
  readonly constituentIndex: number;
  /** raw integer, price 1e6 */
  readonly oraclePrice: string;
  /** mint of the token */
  readonly mint: string;
  /** raw integer, shares */
  readonly lpAmount: string;
  /** raw integer, shares */
  readonly lpFee: string;
  /** raw integer, price 1e6 */
  readonly lpPrice: string;
  /** raw integer, identifier */
  readonly mintRedeemId: string;
  /** raw integer, quote 1e6 */
  readonly lastAum: string;
  /** raw integer, identifier */
  readonly lastAumSlot: string;
  /** raw integer, identifier */
  readonly inMarketCurrentWeight: string;
  /** raw integer, identifier */
  readonly inMarketTargetWeight: string;
  /** pool */
  readonly lpPool: string;
  /** index of the transaction in its block; null where unknown */
  readonly txIndex: number | null;
}

export interface AuthorityAccountsAccounts {
  /** public key, base58 */
  readonly accountId: string;
  readonly subAccountId: number;
  readonly name: string;
}

export interface AuthorityAccountsRevenueShareEscrowApprovedBuilders {
  /** public key, base58 */
  readonly authority: string;
  /** place in the escrow; orders name a builder by it */
  readonly builderIdx: number;
  /** tenths of a basis point */
  readonly maxFeeTenthBps: number;
}

export interface AuthorityExportsRecord {
  readonly requestId: string;
  readonly status: 'pending' | 'processing' | 'ready' | 'failed' | 'empty';
  readonly fileType: string;
  /** unix seconds */
  readonly from: number;
  /** unix seconds */
  readonly to: number;
  /** sub-accounts */
  readonly userPublicKeys: readonly string[];
  readonly market: string | null;
  /** unix seconds */
  readonly createdAt: number;
  /** unix seconds */
  readonly completedAt: number | null;
  /** rows of the file; null unless ready or empty */
  readonly recordCount: number | null;
  /** why it failed */
  readonly errorReason: string | null;
  /** anyone may download with it; new in each answer; null unless ready */
  readonly downloadUrl: string | null;
}

export interface StatsMarkets {
  readonly marketIndex: number;
  readonly symbol: string;
  readonly marketType: 'perp' | 'spot';
  /** newest oracle price; 0 before the first */
  readonly oraclePrice: number;
  /** quote; liquidation fills count, position transfers do not */
  readonly volume24h: number;
  /** base; the larger side; 0 for spot */
  readonly openInterest: number;
  /** percent per hour; positive = longs pay */
  readonly fundingRate: number;
  /** percent per hour, mean of the last 24 records */
  readonly fundingRate24hAvg: number;
  /** lower case */
  readonly status: string;
  /** chain time of the summary, unix seconds */
  readonly ts?: number | null;
  /** base */
  readonly baseVolume24h?: number;
  /** fills behind the volume */
  readonly trades24h?: number;
  /** last fill */
  readonly price?: number | null;
  /** last fill before the 24 hours */
  readonly price24hAgo?: number | null;
  /** price - price24hAgo */
  readonly priceChange24h?: number | null;
  /** percent of price24hAgo */
  readonly priceChange24hPercent?: number | null;
  /** of fills; liquidations and position transfers left out */
  readonly priceHigh24h?: number | null;
  /** of fills; liquidations and position transfers left out */
  readonly priceLow24h?: number | null;
  /** of oracle prices */
  readonly oracleHigh24h?: number | null;
  /** of oracle prices */
  readonly oracleLow24h?: number | null;
  /** mean of the AMM bid and ask; null without AMM */
  readonly markPrice?: number | null;
  /** base */
  readonly openInterestLong?: number;
  /** base; zero or negative */
  readonly openInterestShort?: number;
  /** percent per hour that longs receive; negative = they pay */
  readonly fundingRateLong?: number;
  /** percent per hour that shorts receive; negative = they pay */
  readonly fundingRateShort?: number;
  /** unix seconds */
  readonly fundingRateUpdateTs?: number | null;
}

export interface StatsMarketsVolumeMarkets {
  readonly symbol: string;
  readonly marketIndex: number;
  readonly marketType: 'perp' | 'spot';
  /** raw integer, base units of the market */
  readonly baseVolume: string;
  /** raw integer, quote 1e6 */
  readonly quoteVolume: string;
}

export interface StatsMarketsPricesMarkets {
  readonly symbol: string;
  readonly marketIndex: number;
  readonly marketType: 'perp' | 'spot';
  /** last fill, human units, 6 decimals; empty before the first */
  readonly currentPrice: string;
  /** last fill before the 24 hours, 6 decimals; empty when there is none */
  readonly price24hAgo: string;
  /** the difference, 6 decimals; empty when there is none */
  readonly priceChange: string;
  /** percent of the earlier price, 2 decimals; empty when there is none */
  readonly priceChangePercent: string;
}

export interface StatsFundingRatesMarkets {
  readonly marketIndex: number;
  readonly symbol: string;
  readonly fundingRates: {
    /** percent per hour, 9 decimals; positive = longs pay */
    readonly '24h': string;
    /** percent per hour, 9 decimals; positive = longs pay */
    readonly '7d': string;
    /** percent per hour, 9 decimals; positive = longs pay */
    readonly '30d': string;
    /** percent per hour, 9 decimals; positive = longs pay */
    readonly '1y': string;
  };
}

export interface StatsFundingRatesExternalRecord {
  readonly asset: string;
  readonly venue: string;
  /** percent per interval; positive = longs pay */
  readonly fundingRate: number;
  readonly intervalHours: number;
  readonly annualisedPercent: number;
  /** unix seconds */
  readonly ts: number;
}

export interface StatsVaultsVaults {
  /** raw integer, token, mint decimals */
  readonly totalDeposits: string;
  /** raw integer, token, mint decimals */
  readonly totalWithdraws: string;
  /** raw integer, token, mint decimals */
  readonly managerNetDeposits: string;
  /** raw integer, token, mint decimals */
  readonly managerTotalDeposits: string;
  /** raw integer, token, mint decimals */
  readonly managerTotalWithdraws: string;
  /** raw integer, token, mint decimals */
  readonly netDeposits: string;
  /** raw integer, shares */
  readonly totalShares: string;
  /** raw integer, shares of all depositors but the manager */
  readonly userShares: string;
  /** share, 1e6 */
  readonly profitShare: number;
  /** raw integer, share 1e6: of the equity by the year */
  readonly managementFee: string;
  /** share, 1e6 */
  readonly hurdleRate: number;
  readonly spotMarketIndex: number;
  /** only invited wallets may deposit */
  readonly permissioned: boolean;
  /** raw integer, token, mint decimals; 0 = no bound */
  readonly maxTokens: string;
  /** seconds from a request to its withdrawal */
  readonly redeemPeriod: number;
  readonly name: string;
  /** public key, base58 */
  readonly vault: string;
  /** public key, base58 */
  readonly manager: string;
}

export interface StatsInsuranceFundData {
  readonly marketIndex: number;
  readonly symbol: string | null;
  /** raw integer, token, mint decimals */
  readonly vaultAmount: string;
  /** raw integer, shares */
  readonly totalShares: string;
  /** raw integer, shares: those of stakers; null before the first stake */
  readonly userShares: string | null;
  /** revenue of the last 30 days as percent of the vault a year, 2 decimals */
  readonly apy: string;
  /** seconds; null while the account is unknown */
  readonly unstakingPeriod: number | null;
  /** unix seconds */
  readonly ts: number;
}

export interface StatsDlpSnapshotsSnapshots {
  /** unix seconds */
  readonly ts: number;
  /** raw integer, quote 1e6 */
  readonly tvl: string;
  /** raw integer, price 1e6: of a share */
  readonly price: string;
  /** public key, base58 */
  readonly lpPool: string;
}

export interface StatsLeaderboardDataLeaderboard {
  /** public key, base58 */
  readonly authority: string;
  /** raw integer, quote 1e6 */
  readonly volume: string;
  /** raw integer, quote 1e6 */
  readonly pnl: string;
  readonly rank: number;
}

export interface StatsLeaderboardMakerRecord {
  readonly rank: number;
  /** public key, base58 */
  readonly authority: string;
  /** raw integer, quote 1e6 */
  readonly volume: string;
}

export interface ParamsParamsMarkets {
  readonly symbol: string;
  readonly marketIndex: number;
  readonly marketType: 'perp' | 'spot';
  /** lower case */
  readonly status: string;
  /** decimals of base amounts */
  readonly baseDecimals: number;
  /** raw integer, price 1e6 */
  readonly tickSize: string;
  /** raw integer, base units of the market */
  readonly stepSize: string;
  /** raw integer, base units of the market */
  readonly minOrderSize: string;
}

/** one notification */
export interface NotificationsRecord {
  /** time-ordered; the same cause has the same id */
  readonly notificationId: string;
  /** public key, base58 */
  readonly authorityId: string;
  readonly title: string;
  readonly body: string;
  readonly type:
    | 'PRICE_ALERT'
    | 'RECORD_UPDATE'
    | 'ACCOUNT_UPDATE'
    | 'TEST'
    | 'NEW_MARKET'
    | 'PRODUCT_UPDATE'
    | 'ANNOUNCEMENT'
    | 'REDUCE_ONLY'
    | 'CUSTOM';
  readonly status: 'PENDING' | 'SENT' | 'FAILED' | 'READ';
  readonly channels: readonly ('app' | 'push')[];
  /** public key, base58 */
  readonly user: string | null;
  /** members of the cause; amounts are raw integers */
  readonly data: Readonly<Record<string, unknown>>;
  readonly actions: readonly Readonly<Record<string, unknown>>[];
  /** unix seconds */
  readonly sentAt: number | null;
  /** unix seconds */
  readonly createdAt: number;
}

export interface NotificationsDevicesDevices {
  readonly deviceId: string;
  readonly token: string | null;
  readonly platform: 'ios' | 'android' | 'web' | '';
  /** unix seconds */
  readonly createdAt: number;
}

export interface ExternalCoingeckoContractsContracts {
  readonly contract_index: string;
  readonly ticker_id: string;
  readonly base_currency: string;
  readonly quote_currency: string;
  readonly last_price: string;
  readonly base_volume: string;
  readonly quote_volume: string;
  readonly high: string;
  readonly low: string;
  readonly product_type: string;
  readonly open_interest: string;
  readonly open_interest_usd: string;
  readonly index_price: string;
  readonly index_name: string;
  readonly index_currency: string;
  readonly funding_rate: string;
  readonly next_funding_rate: string;
  readonly next_funding_rate_timestamp: string;
  readonly contract_type: string;
  readonly contract_price_currency: string;
}

export interface FreshnessStreams {
  readonly stream:
    | 'trades'
    | 'orderActions'
    | 'orders'
    | 'fundingRates'
    | 'fundingPayments'
    | 'deposits'
    | 'swaps'
    | 'settlements'
    | 'liquidations'
    | 'insuranceFund'
    | 'insuranceFundStakes'
    | 'accounts'
    | 'spotInterest'
    | 'ammCurve'
    | 'bookFills'
    | 'samples'
    | 'candles';
  /** where it is stored */
  readonly table: string;
  /** slot of its newest row; null for an empty stream */
  readonly lastSlot: number | null;
  /** unix seconds of its newest row; of candles the start of the bucket */
  readonly lastTs: number | null;
  /** slots behind the newest slot */
  readonly lagSlots: number | null;
  /** seconds behind the newest slot */
  readonly lagSeconds: number | null;
}

export interface FreshnessCoverage {
  /** market, such as perp-0, or account */
  readonly subject: string;
  /** fills, funding, deposits, bookOrders, orders or liquidations */
  readonly stream: string;
  /** first stored number; null before the first record */
  readonly firstId: number | null;
  /** newest stored number; null before the first record */
  readonly lastId: number | null;
  /** newest number on the chain; null when unknown */
  readonly chainId: number | null;
  /** records missing between the first stored one and the newest on the chain */
  readonly missing: number;
  /** missing numbers, oldest first */
  readonly holes: readonly FreshnessCoverageHoles[];
}

export interface FreshnessCoverageHoles {
  /** first missing number */
  readonly fromId: number;
  /** last missing number */
  readonly toId: number;
  /** slot */
  readonly fromSlot: number;
  /** slot */
  readonly toSlot: number;
  /** true when the blocks were read again without them */
  readonly lost: boolean;
  /** of lost fills, the exact sum for each order that later records or account states prove; a hole of several numbers may have more */
  readonly reconstructed: readonly FreshnessCoverageHolesReconstructed[];
  /** of lost orders of an account, those that states of the account showed */
  readonly reconstructedOrders: readonly FreshnessCoverageHolesReconstructedOrders[];
}

export interface FreshnessCoverageHolesReconstructed {
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

export interface FreshnessCoverageHolesReconstructedOrders {
  /** order */
  readonly orderId: number;
  /** market, such as perp-0 */
  readonly market: string;
  readonly direction: string;
  readonly orderType: string;
  /** price 1e6 */
  readonly price: string;
  /** size, base 1e9 */
  readonly baseAssetAmount: string;
  /** slot in which it was placed */
  readonly placedSlot: number;
}

export interface FreshnessAccounts {
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

export interface FreshnessGaps {
  /** slot */
  readonly fromSlot: number;
  /** slot */
  readonly toSlot: number;
  readonly reason: string;
  /** true when all its slots were read later */
  readonly filled: boolean;
  /** true when its data cannot be recovered */
  readonly lasting: boolean;
  /** unix seconds */
  readonly foundTs: number;
  /** unix seconds */
  readonly filledTs: number | null;
}
