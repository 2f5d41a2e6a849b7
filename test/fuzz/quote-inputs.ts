// Inputs that no market maker should send to `/quotes/ws`, before and after the proof of its key, and invalid keys.

import fc from 'fast-check';
import type { SocketInput } from './conversation.ts';
import { value } from './rest-inputs.ts';
import { framesOf, member, nearly, orMember } from './socket-inputs.ts';

export type QuoteInput =
  /** An upgrade that the server must refuse: the query behind the path. */
  | { readonly is: 'upgrade'; readonly query: string }
  /** Instead of the proof of the key; `KEY` stands for the key of the connection. */
  | { readonly is: 'proof'; readonly frame: SocketInput }
  | { readonly is: 'quotes'; readonly frame: SocketInput };

/** Placeholder in a generated proof for the key of the connection. */
export const KEY = '<key>';
/** Most valid quotes of a generated message: the probe is the message that is malformed at a later place. */
export const QUOTES_MAX = 60;

const amount = orMember(
  fc.oneof(
    fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String),
    fc.integer(),
    fc.constantFrom(null, '', '0', '9007199254740991', '9007199254740992', '1.5', '-0'),
  ),
);
const quote = fc.record(
  {
    bid_price: amount,
    bid_size: amount,
    ask_price: amount,
    ask_size: amount,
    is_oracle_offset: orMember(fc.constantFrom(true, false, null)),
  },
  { requiredKeys: [] },
);
const quotes = fc.oneof(
  { weight: 8, arbitrary: fc.array(orMember(quote), { maxLength: 4 }) },
  fc.nat({ max: QUOTES_MAX }).map((length) => Array.from({ length }, () => ({}))),
  fc.constant(Array.from({ length: 65 }, () => ({}))),
);
const message = fc
  .record(
    {
      market_index: orMember(fc.constantFrom(0, 1, 40, 77, 65_535, 65_536, '0')),
      market_type: orMember(fc.constantFrom('perp', 'PERP', 'spot')),
      quotes: orMember(quotes),
      id: member,
    },
    { requiredKeys: ['market_type'] },
  )
  .map((whole) => JSON.stringify(whole));

const signature = orMember(
  fc.uint8Array({ minLength: 64, maxLength: 64 }).map((bytes) => Buffer.from(bytes).toString('base64')),
);
const proof = fc
  .record({ pubkey: orMember(fc.constantFrom(KEY, '1'.repeat(32))), signature }, { requiredKeys: [] })
  .map((whole) => JSON.stringify(whole));

const query = fc.oneof(
  fc.constantFrom('', '?', '?pubkey', '?pubkey=', '?pubkey[]=1', '?Pubkey=1', `?pubkey=${'z'.repeat(3_000)}`),
  value.map((text) => `?pubkey=${encodeURIComponent(text)}`),
);

export const quoteInput: fc.Arbitrary<QuoteInput> = fc.oneof(
  { weight: 1, arbitrary: query.map((text) => ({ is: 'upgrade', query: text }) as const) },
  { weight: 1, arbitrary: framesOf(nearly(proof)).map((frame) => ({ is: 'proof', frame }) as const) },
  { weight: 12, arbitrary: framesOf(nearly(message)).map((frame) => ({ is: 'quotes', frame }) as const) },
);
