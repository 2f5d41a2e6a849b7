// `/asyncapi.json`: both WebSockets, built from the tables and bounds that the gateway enforces.

import { assembleAsyncApi, type SocketContract } from '../http/contract/asyncapi.ts';
import { BOOK_SCHEMAS } from '../http/contract/books.ts';
import { SOCKET_CLOSES } from '../http/errors.ts';
import { ACCOUNT_FEED_MESSAGES, ACCOUNT_FEED_REQUESTS, ACCOUNT_FEED_SCHEMAS } from './contracts/account-feed.ts';
import { BOOK_FEED_MESSAGES, BOOK_FEED_REQUESTS, BOOK_FEED_SCHEMAS } from './contracts/book-feed.ts';
import { CHANNEL_MESSAGES, CHANNEL_REQUESTS, CHANNEL_SCHEMAS } from './contracts/channels.ts';
import { TRADE_FEED_MESSAGES, TRADE_FEED_REQUESTS } from './contracts/trade-feed.ts';
import { MAX_BUFFERED_BYTES, MAX_PAYLOAD_BYTES, MAX_SUBSCRIPTIONS, MESSAGE_RATE } from './limits.ts';
import { QUOTE_SOCKET } from './quotes/contract.ts';

const INFO = {
  title: 'Slotbook WebSockets',
  version: '1.0.0',
  description:
    'Text frames of JSON. Clients must ignore members that they do not know. Messages of clients that are no JSON object ' +
    'with a type of subscribe or unsubscribe are ignored on /ws. A member with contentMediaType is JSON as text, ' +
    'with the schema in x-contentSchema.',
};

function server(title: string, port: string): object {
  return {
    host: '{host}:{port}',
    protocol: 'ws',
    title,
    variables: { host: { default: 'localhost' }, port: { default: port, description: 'setting of the deployment' } },
  };
}

const FEED_SOCKET: SocketContract = {
  address: '/ws',
  title: 'Feed',
  description:
    `Books, trades and fees; sequenced books on the channel book, numbered fills on trades.v2, orders of accounts on account. A connection holds at most ` +
    `${MAX_SUBSCRIPTIONS} channels beside sequenced streams. It sends messages of at most ${MAX_PAYLOAD_BYTES} bytes (a longer one ends it without a close frame, ` +
    `1006), ${MESSAGE_RATE.burst} at once and ${MESSAGE_RATE.perSecond} a second. Clients that send much get their answers ` +
    'later; while very many do so, those with the most unanswered messages are closed. A client with more than ' +
    `${MAX_BUFFERED_BYTES} unread bytes is closed: with 1008 when it reads again within 3 s, else without a close frame ` +
    '(1006). An unknown or missing channel in a subscribe closes the connection.',
  servers: ['orderbook', 'gateway'],
  closes: Object.values(SOCKET_CLOSES),
  receives: { ...CHANNEL_REQUESTS, ...BOOK_FEED_REQUESTS, ...TRADE_FEED_REQUESTS, ...ACCOUNT_FEED_REQUESTS },
  sends: { ...CHANNEL_MESSAGES, ...BOOK_FEED_MESSAGES, ...TRADE_FEED_MESSAGES, ...ACCOUNT_FEED_MESSAGES },
};

/** The AsyncAPI 3.0 document. */
export function asyncApi(): object {
  return assembleAsyncApi({
    info: INFO,
    servers: {
      orderbook: server('order-book server, below /dlob too', '6969'),
      gateway: server('gateway', '6970'),
    },
    sockets: { feed: FEED_SOCKET, quotes: QUOTE_SOCKET },
    schemas: { ...BOOK_SCHEMAS, ...CHANNEL_SCHEMAS, ...BOOK_FEED_SCHEMAS, ...ACCOUNT_FEED_SCHEMAS },
  });
}
