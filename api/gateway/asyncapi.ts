// `/asyncapi.json`: both WebSockets, from the tables and bounds that the gateway itself uses.

import { assembleAsyncApi, type SocketContract } from '../contract/asyncapi.ts';
import { BOOK_SCHEMAS } from '../contract/books.ts';
import { SOCKET_CLOSES } from '../errors.ts';
import { QUOTE_SOCKET } from '../quotes/contract.ts';
import { BOOK_FEED_MESSAGES, BOOK_FEED_REQUESTS, BOOK_FEED_SCHEMAS } from './contracts/book-feed.ts';
import { CHANNEL_MESSAGES, CHANNEL_REQUESTS, CHANNEL_SCHEMAS } from './contracts/channels.ts';
import { FLOOD, MAX_BUFFERED_BYTES, MAX_PAYLOAD_BYTES, MAX_SUBSCRIPTIONS } from './limits.ts';

const INFO = {
  title: 'Slotbook WebSockets',
  version: '1.0.0',
  description:
    'Text frames of JSON. Clients must ignore members that they do not know. Messages of clients that are no JSON object ' +
    'with a type of subscribe or unsubscribe are ignored on /ws. A member with contentMediaType is JSON as text, to be ' +
    'parsed once more; x-contentSchema says what it holds.',
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
    `Books, trades and fees; sequenced books on the book channel. A connection holds at most ${MAX_SUBSCRIPTIONS} ` +
    `channels beside book streams and sends messages of at most ${MAX_PAYLOAD_BYTES} bytes (a longer one cuts it without a close frame, 1006), ${FLOOD.burst} at once and ` +
    `${FLOOD.perSecond} a second; of clients that say much the answers come later, and while very many do so those with the ` +
    `most unanswered messages are closed. One that leaves more than ${MAX_BUFFERED_BYTES} bytes unread is closed: ` +
    'with 1008 when it reads again within 3 s, else it finds itself cut without a close frame (1006). An ' +
    'unknown channel in a subscribe, or none at all, closes the connection.',
  servers: ['orderbook', 'gateway'],
  closes: Object.values(SOCKET_CLOSES),
  receives: { ...CHANNEL_REQUESTS, ...BOOK_FEED_REQUESTS },
  sends: { ...CHANNEL_MESSAGES, ...BOOK_FEED_MESSAGES },
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
    schemas: { ...BOOK_SCHEMAS, ...CHANNEL_SCHEMAS, ...BOOK_FEED_SCHEMAS },
  });
}
