// Messages of the quote socket: the proof of a key, quotes, and what makers hear.

import type { MessageContract, SocketContract } from '../contract/asyncapi.ts';
import { inputSchema } from '../contract/inputs.ts';
import { choice, count, key, object, text } from '../contract/json-schema.ts';
import { QUOTE_CLOSES, QUOTE_ERRORS, QUOTE_REFUSALS } from '../errors.ts';
import { AUTH_TIMEOUT_MS, MAX_QUOTE_BYTES, MESSAGES_PER_SECOND, QUOTE_HEARTBEAT_MS } from './limits.ts';
import { AUTHENTICATE, QUOTES } from './messages.ts';

const receives: Readonly<Record<string, MessageContract>> = {
  authenticate: {
    summary: 'Proof of the key: the first message of a maker',
    payload: inputSchema(AUTHENTICATE),
    answeredBy: ['authenticated'],
  },
  quotes: {
    summary: 'Replaces what the maker shows in a market for 1,000 ms; an empty list withdraws it',
    payload: inputSchema(QUOTES),
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
