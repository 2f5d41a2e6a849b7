// Messages of the quote socket: the proof of a key, quotes, and what makers hear.

import type { MessageContract, SocketContract } from '../contract/asyncapi.ts';
import { anyCase, choice, count, flag, key, object, text } from '../contract/json-schema.ts';
import { QUOTE_CLOSES, QUOTE_ERRORS, QUOTE_REFUSALS } from '../errors.ts';
import { AUTH_TIMEOUT_MS, MAX_QUOTE_BYTES, MAX_QUOTES, MESSAGES_PER_SECOND, QUOTE_HEARTBEAT_MS } from './limits.ts';

/** An integer as text or number; null, empty text or absence of either member means that there is no such side. */
const amount = (description: string) => ({
  description,
  anyOf: [{ type: 'string', pattern: '^(?:-?\\d{1,20})?$' }, { type: 'integer' }, { type: 'null' }],
});
const price = amount(
  'quote per base, integer of 1e-6; with is_oracle_offset an offset from the oracle, may be negative',
);
const size = amount('base, integer of 1e-9 from 0 to 2^64 - 1; 0 means no quote on this side');

const quote = object(
  {
    bid_price: price,
    bid_size: size,
    ask_price: price,
    ask_size: size,
    is_oracle_offset: {
      ...flag('prices are offsets from the oracle'),
      type: ['boolean', 'null'],
      default: false,
    },
  },
  { optional: ['bid_price', 'bid_size', 'ask_price', 'ask_size', 'is_oracle_offset'] },
);

const receives: Readonly<Record<string, MessageContract>> = {
  authenticate: {
    summary: 'Proof of the key: the first message of a maker',
    payload: object({
      pubkey: key('the key of the upgrade request'),
      signature: text('base64 Ed25519 signature over the UTF-8 text of the nonce'),
    }),
    answeredBy: ['authenticated'],
  },
  quotes: {
    summary: 'Replaces what the maker shows in a market for 1,000 ms; an empty list withdraws it',
    payload: object({
      market_index: { type: 'integer', minimum: 0, maximum: 0xffff },
      market_type: anyCase(['perp'], 'in any letter case'),
      quotes: { type: 'array', maxItems: MAX_QUOTES, items: quote },
    }),
    answeredBy: ['quoteError'],
  },
};

const sends: Readonly<Record<string, MessageContract>> = {
  nonce: {
    summary: 'First message of the server: the text to be signed',
    payload: object({ channel: { const: 'auth' }, nonce: text('new for every connection') }),
  },
  authenticated: {
    summary: 'The key is proved; quotes may be sent',
    payload: object({ channel: { const: 'auth' }, message: { const: 'Authenticated' } }),
  },
  heartbeat: {
    summary: `After ${QUOTE_HEARTBEAT_MS} ms in which the server said nothing else`,
    payload: object({ channel: { const: 'heartbeat' } }),
  },
  quoteError: {
    summary: 'What was wrong with a message; the connection stays open',
    payload: object(
      {
        channel: { const: 'quotes' },
        error: choice(Object.values(QUOTE_ERRORS)),
        quote: count('place of the first malformed quote in its message'),
      },
      { optional: ['quote'] },
    ),
  },
};

const refusals = Object.values(QUOTE_REFUSALS)
  .map(({ status, text: body }) => `${status} (${body})`)
  .join('; ');

export const QUOTE_SOCKET: SocketContract = {
  address: '/quotes/ws',
  title: 'Quote socket',
  description:
    `Where market makers send indicative quotes. A maker proves its key within ${AUTH_TIMEOUT_MS} ms and then sends at ` +
    `most ${MESSAGES_PER_SECOND} messages a second of at most ${MAX_QUOTE_BYTES} bytes. The upgrade is refused with ` +
    `${refusals}.`,
  servers: ['orderbook', 'gateway'],
  query: object({ pubkey: key('key of the maker') }),
  closes: Object.values(QUOTE_CLOSES),
  receives,
  sends,
};
