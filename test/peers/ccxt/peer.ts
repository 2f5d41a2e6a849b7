// The base class of ccxt's exchanges, with types of our own: ccxt's types would pull its whole tree into the compiler.

import { installPeer } from '../install.ts';

const PACKAGE = 'ccxt';

export type Values = Readonly<Record<string, unknown>>;

/** Result of a parser, by ccxt's member names. */
export type Parsed = Values & { readonly info: Values };

export interface CcxtExchange {
  describe(): Values;
  deepExtend(...parts: readonly Values[]): Values;
  readonly urls: { readonly api: Readonly<Record<string, string>> };
  readonly timeframes: Readonly<Record<string, string>>;
  implodeParams(path: string, params: Values): string;
  extractParams(path: string): readonly string[];
  omit(values: Values, names: readonly string[]): Values;
  urlencode(values: Values): string;
  /** Sends a request through `sign` and its own HTTP client; throws its own errors. */
  request(path: string, api: string, method: string, params: Values): Promise<Values>;
  loadMarkets(): Promise<Readonly<Record<string, Parsed>>>;
  market(symbol: string): Parsed;
  safeSymbol(id: string | undefined, market?: Values): string;
  safeCurrencyCode(id: string | undefined): string;
  safeString(values: Values, name: string): string | undefined;
  safeNumber(values: Values, name: string): number | undefined;
  safeInteger(values: Values, name: string): number | undefined;
  safeTimestamp(values: Values, name: string): number | undefined;
  safeDict(values: Values, name: string): Values;
  safeList(values: Values, name: string): readonly Values[];
  parseNumber(text: string | undefined): number | undefined;
  parsePrecision(places: string | undefined): string | undefined;
  iso8601(ms: number | undefined): string | undefined;
  safeMarketStructure(market: Values): Parsed;
  safeTicker(ticker: Values, market?: Values): Parsed;
  safeTrade(trade: Values, market?: Values): Parsed;
  safeOrder(order: Values, market?: Values): Parsed;
  safeOpenInterest(interest: Values, market?: Values): Parsed;
  parseTickers(tickers: readonly Values[], symbols?: readonly string[]): Readonly<Record<string, Parsed>>;
  parseTrades(trades: readonly Values[], market?: Values, since?: number, limit?: number): readonly Parsed[];
  parseOrders(orders: readonly Values[], market?: Values, since?: number, limit?: number): readonly Parsed[];
  parseOHLCVs(
    candles: readonly Values[],
    market?: Values,
    timeframe?: string,
    since?: number,
    limit?: number,
  ): readonly (readonly number[])[];
  parseFundingRates(rates: readonly Values[], symbols?: readonly string[]): Readonly<Record<string, Parsed>>;
  parseFundingRateHistories(
    rates: readonly Values[],
    market?: Values,
    since?: number,
    limit?: number,
  ): readonly Parsed[];
}

/** Big decimals as text. */
export interface Precise {
  stringDiv(dividend: string, divisor: string): string;
  stringNeg(value: string): string;
}

export interface Ccxt {
  readonly Exchange: new () => CcxtExchange;
  readonly Precise: Precise;
}

/** Loads the base class, and installs it when it is missing. Throws an Error when the install fails. */
export async function loadCcxt(): Promise<Ccxt> {
  const folder = new URL('.', import.meta.url);
  installPeer(folder, PACKAGE);
  const load = (file: string) => import(new URL(`node_modules/${PACKAGE}/js/src/base/${file}`, folder).href);
  const [exchange, precise] = await Promise.all([load('Exchange.js'), load('Precise.js')]);
  return { Exchange: exchange.default as Ccxt['Exchange'], Precise: precise.default as Precise };
}
