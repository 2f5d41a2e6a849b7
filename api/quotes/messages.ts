// What makers send on the quote socket, read: the answer to the nonce, and quotes (reference 2.7). Pure.

import type { MakerQuote, MarketRef, QuoteSide } from '../../schemas/index.ts';
import type { QuoteErrorCode } from '../errors.ts';
import { MAX_QUOTES } from './limits.ts';

/** Prices stay where a book can hold them; an offset is bounded alike in both directions. */
const PRICE_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const SIZE_MAX = 2n ** 64n - 1n;
const WHOLE = /^-?\d{1,20}$/;

export interface AuthAnswer {
  /** Base58. */
  readonly pubkey: string;
  /** Base64. */
  readonly signature: string;
}

export interface QuoteMessage {
  readonly is: 'quotes';
  readonly market: MarketRef;
  /** Quotes that show something, up to the first malformed one. */
  readonly quotes: readonly MakerQuote[];
  /** Position of the first malformed quote; it and all after it are left out. */
  readonly malformedAt: number | null;
}

export interface RefusedMessage {
  readonly is: 'refused';
  readonly error: QuoteErrorCode;
}

type Members = Readonly<Record<string, unknown>>;

/** The members of a JSON object; null for anything else. */
export function readMembers(text: string): Members | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The answer to the nonce; null when it is something else. */
export function readAuthAnswer({ pubkey, signature }: Members): AuthAnswer | null {
  return typeof pubkey === 'string' && typeof signature === 'string' ? { pubkey, signature } : null;
}

/** The quotes of a message. Whether the market exists is for the caller to say. */
export function readQuotes(message: Members): QuoteMessage | RefusedMessage {
  const { market_index: marketIndex, market_type: marketType, quotes } = message;
  if (typeof marketType !== 'string' || marketType.toLowerCase() !== 'perp') return refuse('marketTypeUnknown');
  if (!isIndex(marketIndex)) return refuse('marketUnknown');
  if (!Array.isArray(quotes)) return refuse('quotesMissing');
  if (quotes.length > MAX_QUOTES) return refuse('tooManyQuotes');
  const market: MarketRef = { marketType: 'perp', marketIndex };
  const read: MakerQuote[] = [];
  for (const [at, entry] of quotes.entries()) {
    const quote = readQuote(entry);
    if (!quote) return { is: 'quotes', market, quotes: read, malformedAt: at };
    if (quote.bid || quote.ask) read.push(quote);
  }
  return { is: 'quotes', market, quotes: read, malformedAt: null };
}

function refuse(error: QuoteErrorCode): RefusedMessage {
  return { is: 'refused', error };
}

/** Null when malformed. */
function readQuote(value: unknown): MakerQuote | null {
  if (!isObject(value)) return null;
  const isOracleOffset = value.is_oracle_offset ?? false;
  if (typeof isOracleOffset !== 'boolean') return null;
  const lowest = isOracleOffset ? -PRICE_MAX : 1n;
  const bid = readSide(value.bid_price, value.bid_size, lowest);
  const ask = readSide(value.ask_price, value.ask_size, lowest);
  return bid === 'malformed' || ask === 'malformed' ? null : { isOracleOffset, bid, ask };
}

/** A side is there when it has a price and a size other than zero. */
function readSide(price: unknown, size: unknown, lowest: bigint): QuoteSide | null | 'malformed' {
  if (isAbsent(price) || isAbsent(size)) return null;
  const wholePrice = readWhole(price);
  const wholeSize = readWhole(size);
  if (wholePrice === null || wholeSize === null || wholeSize < 0n || wholeSize > SIZE_MAX) return 'malformed';
  if (wholeSize === 0n) return null;
  if (wholePrice < lowest || wholePrice > PRICE_MAX) return 'malformed';
  return { price: wholePrice, size: wholeSize };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function readWhole(value: unknown): bigint | null {
  if (typeof value === 'string') return WHOLE.test(value) ? BigInt(value) : null;
  return Number.isSafeInteger(value) ? BigInt(value as number) : null;
}

function isIndex(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 0xffff;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
