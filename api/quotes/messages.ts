// What makers send on the quote socket, read: the answer to the nonce, and quotes (reference 2.7). Pure.

import type { MakerQuote, MarketRef, QuoteSide } from '../../schemas/index.ts';
import { MARKET_INDEX_MAX } from '../contract/books.ts';
import { type Given, givenMembers, inputSchema, type Member } from '../contract/inputs.ts';
import { flag, key, list } from '../contract/json-schema.ts';
import { textMember, wordMember } from '../contract/members.ts';
import type { QuoteErrorCode } from '../errors.ts';
import { MAX_QUOTES } from './limits.ts';

/** Prices stay where a book can hold them; an offset is bounded alike in both directions. */
const PRICE_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const SIZE_MAX = 2n ** 64n - 1n;
const WHOLE = /^-?\d{1,20}$/;

/** An integer as text or number: undefined when there is none, null when it is something else. */
function wholeMember(description: string): Member<bigint | null | undefined> {
  return {
    isRequired: false,
    schema: {
      description,
      anyOf: [{ type: 'string', pattern: `${WHOLE.source}|^$` }, { type: 'integer' }, { type: 'null' }],
    },
    read: (value) => {
      if (value === undefined || value === null || value === '') return undefined;
      if (typeof value === 'string') return WHOLE.test(value) ? BigInt(value) : null;
      return Number.isSafeInteger(value) ? BigInt(value as number) : null;
    },
  };
}

const price = wholeMember(
  'quote per base, integer of 1e-6; with is_oracle_offset an offset from the oracle, may be negative',
);
const size = wholeMember('base, integer of 1e-9 from 0 to 2^64 - 1; 0 means no quote on this side');
const isOracleOffset: Member<boolean | null> = {
  isRequired: false,
  schema: { ...flag('prices are offsets from the oracle'), type: ['boolean', 'null'], default: false },
  read: (value) => (typeof (value ?? false) === 'boolean' ? ((value ?? false) as boolean) : null),
};

/** Either member of a side absent means that there is no such side. */
const QUOTE = { bid_price: price, bid_size: size, ask_price: price, ask_size: size, is_oracle_offset: isOracleOffset };

const marketIndex: Member<number | null> = {
  isRequired: true,
  schema: { type: 'integer', minimum: 0, maximum: MARKET_INDEX_MAX },
  read: (value) => (isIndex(value) ? value : null),
};
const quotes: Member<readonly unknown[] | null> = {
  isRequired: true,
  schema: { ...list(inputSchema(QUOTE)), maxItems: MAX_QUOTES },
  read: (value) => (Array.isArray(value) ? value : null),
};

/** Members of both messages of makers. */
export const AUTHENTICATE = {
  pubkey: textMember(key('the key of the upgrade request')),
  signature: textMember('base64 Ed25519 signature over the UTF-8 text of the nonce'),
};
export const QUOTES = { market_index: marketIndex, market_type: wordMember(['perp'], 'in any letter case'), quotes };

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
export function readAuthAnswer(message: Members): AuthAnswer | null {
  const given = givenMembers(AUTHENTICATE, message);
  const [pubkey, signature] = [given('pubkey'), given('signature')];
  return pubkey !== null && signature !== null ? { pubkey, signature } : null;
}

/** The quotes of a message. Whether the market exists is for the caller to say. */
export function readQuotes(message: Members): QuoteMessage | RefusedMessage {
  const given = givenMembers(QUOTES, message);
  if (!given('market_type')?.word) return refuse('marketTypeUnknown');
  const index = given('market_index');
  if (index === null) return refuse('marketUnknown');
  const entries = given('quotes');
  if (entries === null) return refuse('quotesMissing');
  if (entries.length > MAX_QUOTES) return refuse('tooManyQuotes');
  const market: MarketRef = { marketType: 'perp', marketIndex: index };
  const read: MakerQuote[] = [];
  for (const [at, entry] of entries.entries()) {
    const quote = isObject(entry) ? readQuote(givenMembers(QUOTE, entry)) : null;
    if (!quote) return { is: 'quotes', market, quotes: read, malformedAt: at };
    if (quote.bid || quote.ask) read.push(quote);
  }
  return { is: 'quotes', market, quotes: read, malformedAt: null };
}

function refuse(error: QuoteErrorCode): RefusedMessage {
  return { is: 'refused', error };
}

/** Null when malformed. */
function readQuote(given: Given<typeof QUOTE>): MakerQuote | null {
  const isOffset = given('is_oracle_offset');
  if (isOffset === null) return null;
  const lowest = isOffset ? -PRICE_MAX : 1n;
  const bid = readSide(given('bid_price'), given('bid_size'), lowest);
  const ask = readSide(given('ask_price'), given('ask_size'), lowest);
  return bid === 'malformed' || ask === 'malformed' ? null : { isOracleOffset: isOffset, bid, ask };
}

type Whole = bigint | null | undefined;

/** A side is there when it has a price and a size other than zero. */
function readSide(price: Whole, size: Whole, lowest: bigint): QuoteSide | null | 'malformed' {
  if (price === undefined || size === undefined) return null;
  if (price === null || size === null || size < 0n || size > SIZE_MAX) return 'malformed';
  if (size === 0n) return null;
  if (price < lowest || price > PRICE_MAX) return 'malformed';
  return { price, size };
}

function isIndex(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MARKET_INDEX_MAX;
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
