// Reads messages of makers on the quote socket; pure. docs/internals/book-rules.md, "Indicative quotes".

import type { MakerQuote, MarketRef, QuoteSide } from '../../../schemas/index.ts';
import { MARKET_INDEX_MAX } from '../../http/contract/books.ts';
import { type Given, givenMembers, inputSchema, type Member } from '../../http/contract/inputs.ts';
import { flag, key, list } from '../../http/contract/json-schema.ts';
import { textMember, wordMember } from '../../http/contract/members.ts';
import type { QuoteErrorCode } from '../../http/errors.ts';
import { MARKET_MEMBERS, type RequestId } from '../feed/request.ts';
import { MAX_QUOTES } from './limits.ts';

/** Largest price that a book can hold; offsets are bounded alike in both directions. */
const PRICE_MAX = BigInt(Number.MAX_SAFE_INTEGER);
const SIZE_MAX = 2n ** 64n - 1n;
const WHOLE = /^-?\d{1,20}$/;

/** An integer as text or number; undefined when absent, null when malformed. */
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

/** A side exists when both its price and its size are present. */
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

/** Members of makers' messages. */
export const AUTHENTICATE = {
  pubkey: textMember(key('the key of the upgrade request')),
  signature: textMember('base64 Ed25519 signature over the UTF-8 text of the nonce'),
};
const id: Member<RequestId> = {
  ...MARKET_MEMBERS.id,
  schema: {
    ...MARKET_MEMBERS.id.schema,
    description: `asks for an acknowledgement; ${MARKET_MEMBERS.id.schema.description}`,
  },
};
const MARKET = { market_index: marketIndex, market_type: wordMember(['perp'], 'in any letter case'), id };
export const QUOTES = { ...MARKET, quotes };
/** A single quote without a list, as the published Python client sends it. */
export const FLAT_QUOTE = { ...MARKET, ...QUOTE };
/** A message without `quotes` is a single quote when it has one of these members. */
export const SIDE_MEMBERS = ['bid_price', 'bid_size', 'ask_price', 'ask_size'] as const;

export interface AuthAnswer {
  /** Base58. */
  readonly pubkey: string;
  /** Base64. */
  readonly signature: string;
}

export interface QuoteMessage {
  readonly is: 'quotes';
  /** Asks for an acknowledgement, and is echoed in answers. */
  readonly id: RequestId;
  readonly market: MarketRef;
  /** Quotes with at least one side, up to the first malformed one. */
  readonly quotes: readonly MakerQuote[];
  /** Index of the first malformed quote; it and all later quotes are dropped. */
  readonly malformedAt: number | null;
}

export interface RefusedMessage {
  readonly is: 'refused';
  readonly id: RequestId;
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

/** The answer to the nonce; null for any other message. */
export function readAuthAnswer(message: Members): AuthAnswer | null {
  const given = givenMembers(AUTHENTICATE, message);
  const [pubkey, signature] = [given('pubkey'), given('signature')];
  return pubkey !== null && signature !== null ? { pubkey, signature } : null;
}

/** The quotes of a message. The caller checks that the market exists. */
export function readQuotes(message: Members): QuoteMessage | RefusedMessage {
  const given = givenMembers(QUOTES, message);
  const id = given('id');
  const refuse = (error: QuoteErrorCode): RefusedMessage => ({ is: 'refused', id, error });
  if (!given('market_type')?.word) return refuse('marketTypeUnknown');
  const index = given('market_index');
  if (index === null) return refuse('marketUnknown');
  const entries = isFlat(message) ? [message] : given('quotes');
  if (entries === null) return refuse('quotesMissing');
  if (entries.length > MAX_QUOTES) return refuse('tooManyQuotes');
  const market: MarketRef = { marketType: 'perp', marketIndex: index };
  const read: MakerQuote[] = [];
  for (const [at, entry] of entries.entries()) {
    const quote = isObject(entry) ? readQuote(givenMembers(QUOTE, entry)) : null;
    if (!quote) return { is: 'quotes', id, market, quotes: read, malformedAt: at };
    if (quote.bid || quote.ask) read.push(quote);
  }
  return { is: 'quotes', id, market, quotes: read, malformedAt: null };
}

function isFlat(message: Members): boolean {
  return !('quotes' in message) && SIDE_MEMBERS.some((name) => name in message);
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

/** A side exists when it has a price and a size other than zero; otherwise null. */
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
