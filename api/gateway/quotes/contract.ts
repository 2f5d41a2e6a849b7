// AsyncAPI contract of the quote socket: authentication, quotes and answers.

import type { MessageContract, SocketContract } from '../../http/contract/asyncapi.ts';
import { inputSchema } from '../../http/contract/inputs.ts';
import { choice, count, key, object, text } from '../../http/contract/json-schema.ts';
import { QUOTE_CLOSES, QUOTE_ERRORS, QUOTE_REFUSALS } from '../../http/errors.ts';
import { answerId } from '../contracts/book-feed.ts';
import { AUTH_TIMEOUT_MS, MAX_QUOTE_BYTES, MESSAGES_PER_SECOND, QUOTE_HEARTBEAT_MS } from './limits.ts';
import { AUTHENTICATE, FLAT_QUOTE, QUOTES, SIDE_MEMBERS } from './messages.ts';

const receives: Readonly<Record<string, MessageContract>> = {
  authenticate: {
    summary: 'Proof of the key: the first message of a maker',
    payload: inputSchema(AUTHENTICATE),
    answeredBy: ['authenticated'],
  },
  quotes: {
    summary: 'Replaces the quotes of the maker in a market for 1,000 ms; an empty list withdraws them',
    payload: inputSchema(QUOTES),
    answeredBy: ['quotesAccepted', 'quoteError'],
  },
  flatQuote: {
    summary: 'The same as a list of this one quote, as the published Python client sends it',
    payload: {
      ...inputSchema(FLAT_QUOTE),
      not: { required: ['quotes'] },
      anyOf: SIDE_MEMBERS.map((name) => ({ required: [name] })),
    },
    answeredBy: ['quotesAccepted', 'quoteError'],
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
    summary: `After ${QUOTE_HEARTBEAT_MS} ms without another message of the server`,
    payload: object({ channel: { const: 'heartbeat' } }),
  },
  quotesAccepted: {
    summary: 'Quotes of a message with an id are in the log, which every gateway reads',
    payload: object({
      channel: { const: 'quotes' },
      accepted: count('quotes that were taken; 0 for a withdrawal'),
      id: answerId,
    }),
  },
  quoteError: {
    summary: 'The reason of a refused message; the connection stays open',
    payload: object(
      {
        channel: { const: 'quotes' },
        error: choice(Object.values(QUOTE_ERRORS)),
        quote: count('index of the first malformed quote in its message'),
        id: answerId,
      },
      { optional: ['quote', 'id'] },
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
