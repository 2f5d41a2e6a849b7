// AsyncAPI contract of the `book` channel on `/ws`; schemas/messages/feed.ts has the same messages as types.

import type { MessageContract } from '../../http/contract/asyncapi.ts';
import { BASE, MARKET_TYPES, marketIndex, marketType, PRICE, slot } from '../../http/contract/books.ts';
import { inputSchema } from '../../http/contract/inputs.ts';
import {
  amountText,
  choice,
  count,
  flag,
  list,
  type Members,
  nullable,
  object,
  record,
  ref,
  text,
} from '../../http/contract/json-schema.ts';
import { BOOK_FEED_ERRORS } from '../../http/errors.ts';
import { BOOK_HEARTBEAT_MS, HEARTBEAT_STREAMS } from '../feed/limits.ts';
import { BOOK_SUBSCRIBE, BOOK_UNSUBSCRIBE } from '../feed/request.ts';

const UINT32_MAX = 0xffff_ffff;
const LEVELS = ['l2', 'l3'] as const;
const SOURCES = ['dlob', 'vamm'] as const;

const bookVersion = object(
  {
    epoch: count('changes when the sequence starts over'),
    seq: count('numbers the changes inside an epoch'),
  },
  { description: 'the state after seq of epoch' },
);

const levelEntry = {
  description: 'absolute, never a change of size; [price, "0"]: the level is gone',
  type: 'array',
  minItems: 2,
  oneOf: [
    {
      items: [
        amountText(PRICE),
        { type: 'string', pattern: '^[1-9]\\d*$', description: BASE },
        {
          description: 'absent: all of it is resting orders (dlob)',
          anyOf: [
            choice(SOURCES, 'the only source'),
            record({ type: 'string', pattern: '^[1-9]\\d*$' }, 'size of each source, dlob and vamm'),
          ],
        },
      ],
      minItems: 2,
      maxItems: 3,
    },
    { items: [amountText(PRICE), { const: '0' }], minItems: 2, maxItems: 2 },
  ],
};

const orderRef = {
  maker: ref('PublicKey'),
  orderId: count('order id of the maker'),
  source: choice(['user', 'clob'], 'where the order rests'),
};

const orderEntry = object(
  {
    price: amountText(PRICE),
    size: amountText(BASE),
    ...orderRef,
    rank: list({ type: 'number' }, 'place in the queue at its price, compared number by number'),
    cause: nullable(ref('OrderCause')),
  },
  { optional: ['cause'], description: 'replaces an earlier entry of the same order; cause on streams with causes' },
);

export const BOOK_FEED_SCHEMAS = {
  BookVersion: bookVersion,
  BookLevelEntry: levelEntry,
  BookOrderEntry: orderEntry,
  BookOrderRef: object(
    { ...orderRef, cause: nullable(ref('OrderCause')) },
    { optional: ['cause'], description: 'cause on streams with causes: the transaction that removed the order' },
  ),
};

// An answer has an id only when its request had one.
export const answerId = { ...BOOK_SUBSCRIBE.id.schema, type: ['string', 'number'] };

export const BOOK_FEED_REQUESTS: Readonly<Record<string, MessageContract>> = {
  bookSubscribe: {
    summary: 'Subscribe to sequenced books; a snapshot or the missed changes follow',
    payload: inputSchema(BOOK_SUBSCRIBE),
    answeredBy: ['bookSubscribed', 'bookResumed', 'bookSnapshotL2', 'bookSnapshotL3', 'bookDiff', 'bookError'],
  },
  bookUnsubscribe: {
    summary: 'End streams; absent members match any',
    payload: inputSchema(BOOK_UNSUBSCRIBE),
    answeredBy: ['bookUnsubscribed', 'bookError'],
  },
};

const BOOK = { channel: { const: 'book' } };
const stream = text(
  'names the market and every choice: <marketType>_<marketIndex>_<level>[_d<depth>][_c<ms>][_k<levels>][_cause][_processed]',
);
const checksum = {
  type: 'integer',
  minimum: 0,
  maximum: UINT32_MAX,
  description: 'CRC32 of the top levels after this message, on streams with a checksum',
};
export const streamId = count('names the stream in the diffs that follow on this connection');
const streamed = { stream, streamId, market: text('symbol') };
const at = {
  epoch: count('epoch of the book'),
  seq: count('the book after this change'),
  slot,
  ts: count(
    'Unix milliseconds at which the server published this state; in a backfill, at which it rendered the message',
  ),
};

type Level = (typeof LEVELS)[number];
const ENTRIES = { l2: 'BookLevelEntry', l3: 'BookOrderEntry' } as const;

function sides(level: Level): Members {
  return { bids: list(ref(ENTRIES[level])), asks: list(ref(ENTRIES[level])) };
}

function snapshot(level: Level): MessageContract {
  return {
    summary: 'The whole book, or its best levels where a depth was chosen, best first; replaces what the client holds',
    payload: object(
      {
        ...BOOK,
        type: { const: 'snapshot' },
        ...streamed,
        level: { const: level },
        marketType,
        marketIndex,
        ...at,
        ...sides(level),
        checksum,
      },
      { optional: ['checksum'] },
    ),
  };
}

const entry = {
  description: 'of the level of the stream',
  anyOf: [ref('BookLevelEntry'), ref('BookOrderEntry')],
};
const diff: MessageContract = {
  summary: 'Turns the book after prevSeq into the book after seq; entries are in no order, empty lists are left out',
  payload: object(
    {
      diff: count('streamId of the stream, from its snapshot or the answer to a resume'),
      ...at,
      prevSeq: count('seq of the stream’s message before this one'),
      revert: count('first abandoned slot whose changes this one undoes; only at commitment processed'),
      gone: list(ref('BookOrderRef'), 'removed orders; applies before bids and asks'),
      bids: list(entry),
      asks: list(entry),
      checksum,
    },
    { optional: ['revert', 'gone', 'bids', 'asks', 'checksum'] },
  ),
};

/** The answer to a request of a sequenced channel. */
export function answer(channel: string, type: string, summary: string): MessageContract {
  const payload = object(
    {
      channel: { const: channel },
      type: { const: type },
      id: answerId,
      market: text('symbol, or *'),
      marketType: choice([...MARKET_TYPES, '*']),
      streams: list({ type: 'string' }, 'streams that this request started or ended'),
    },
    { optional: ['id'] },
  );
  return { summary, payload };
}

const byStream = record(ref('BookVersion'), 'by stream name');
/** Times in every heartbeat of a sequenced channel. */
const clocks = {
  ts: count('Unix milliseconds of the server'),
  headSlot: nullable(count('newest slot of the chain that ingest has read; null while unknown')),
};

/** The heartbeat of a channel with numbered records, such as fills. */
export function numberedHeartbeat(channel: string, numbered: string): MessageContract {
  return {
    summary:
      `Every ${BOOK_HEARTBEAT_MS} ms: the number of the newest ${numbered} of each stream of the connection, in one message for ` +
      `each ${HEARTBEAT_STREAMS} streams`,
    payload: object({
      channel: { const: channel },
      type: { const: 'heartbeat' },
      ...clocks,
      sequences: byStream,
    }),
  };
}

export const BOOK_FEED_MESSAGES: Readonly<Record<string, MessageContract>> = {
  bookSubscribed: answer('book', 'subscribed', 'The subscription is accepted'),
  bookUnsubscribed: answer('book', 'unsubscribed', 'Streams have ended'),
  bookResumed: {
    summary:
      'Answer to resume: recovered, diffs from seq follow, or a snapshot where that is shorter; else a snapshot follows',
    payload: object({
      ...BOOK,
      type: { const: 'resumed' },
      stream,
      streamId,
      recovered: flag('true: nothing is missing'),
      epoch: at.epoch,
      seq: count('sequence that the client held'),
    }),
  },
  bookSnapshotL2: snapshot('l2'),
  bookSnapshotL3: snapshot('l3'),
  bookDiff: diff,
  bookHeartbeat: {
    summary:
      `Every ${BOOK_HEARTBEAT_MS} ms: the last version sent to each stream of the connection, in one message for each ` +
      `${HEARTBEAT_STREAMS} streams, and the distance to the chain`,
    payload: object({
      ...BOOK,
      type: { const: 'heartbeat' },
      ...clocks,
      slotsBehind: nullable(
        count('distance of the furthest book of this connection from headSlot; null while no slot or book is known'),
      ),
      sequences: byStream,
    }),
  },
  bookError: {
    summary:
      'Refuses a request, or a new market that does not fit into a subscription to every market; the connection stays ' +
      'open',
    payload: object(
      {
        ...BOOK,
        type: { const: 'error' },
        code: choice(Object.keys(BOOK_FEED_ERRORS)),
        error: choice(Object.values(BOOK_FEED_ERRORS).map((entry) => entry.text)),
        retry: flag('the same request may succeed later'),
        id: answerId,
        stream: text('stream of a new market that does not fit into a subscription to every market'),
      },
      { optional: ['id', 'stream'] },
    ),
  },
  serverShutdown: {
    summary: 'A planned stop: the connection closes with 1012; reconnect and resume',
    payload: object({
      channel: { const: 'server' },
      type: { const: 'serverShutdown' },
      closesInMs: count('milliseconds until the close'),
    }),
  },
};
