// Messages of the `book` channel on `/ws`: what schemas/feed/messages.ts has as types, for readers of other languages.

import type { MessageContract } from '../../contract/asyncapi.ts';
import { BASE, MARKET_TYPES, marketIndex, marketType, PRICE, slot } from '../../contract/books.ts';
import {
  amountText,
  anyCase,
  choice,
  count,
  flag,
  type JsonSchema,
  list,
  type Members,
  object,
  record,
  ref,
  text,
} from '../../contract/json-schema.ts';
import { BOOK_FEED_ERRORS } from '../../errors.ts';
import {
  BOOK_HEARTBEAT_MS,
  CHECKSUM_LEVELS,
  CHECKSUM_LEVELS_MAX,
  CONFLATIONS_MS,
  DEPTH_MAX,
  ID_LENGTH_MAX,
} from '../feed/limits.ts';

const UINT32_MAX = 0xffff_ffff;
const LEVELS = ['l2', 'l3'] as const;
const SOURCES = ['dlob', 'vamm'] as const;

const position = object(
  { epoch: count('changes when a new history begins'), seq: count('numbers the changes inside an epoch') },
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
          description: 'without it all is of resting orders (dlob)',
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
  },
  { description: 'told again, it replaces what was told of it before' },
);

export const BOOK_FEED_SCHEMAS = {
  BookPosition: position,
  BookLevelEntry: levelEntry,
  BookOrderEntry: orderEntry,
  BookOrderRef: object(orderRef),
};

const id = {
  type: ['string', 'number'],
  description: `echoed in what answers the request; text is cut to ${ID_LENGTH_MAX} characters`,
};

const choices: Members = {
  market: text('symbol in any letter case, or *: every market, also those that appear later'),
  marketType: anyCase([...MARKET_TYPES, '*'], 'perp when absent, with market * both; * only with market *'),
  level: anyCase(LEVELS, 'price levels with sources, or orders in queue order; l2 when absent'),
  depth: { type: 'integer', minimum: 1, maximum: DEPTH_MAX, description: 'price levels per side; all when absent' },
  conflation: choice(CONFLATIONS_MS, 'least milliseconds between two changes; 0 when absent'),
  checksum: {
    description: `true: over the top ${CHECKSUM_LEVELS} levels; a number: over so many; none when absent`,
    anyOf: [{ type: 'boolean' }, { type: 'integer', minimum: 1, maximum: CHECKSUM_LEVELS_MAX }],
  },
  id,
};
const OPTIONAL = Object.keys(choices).filter((name) => name !== 'market');

function request(action: string, more: Members = {}): JsonSchema {
  return object(
    {
      type: anyCase([action], 'in any letter case'),
      channel: anyCase(['book'], 'in any letter case'),
      ...choices,
      ...more,
    },
    { optional: [...OPTIONAL, ...Object.keys(more)] },
  );
}

const resume = {
  description: 'what the client holds; with market * positions by stream name, as the heartbeat tells them',
  anyOf: [ref('BookPosition'), record(ref('BookPosition'), 'by stream name')],
};

export const BOOK_FEED_REQUESTS: Readonly<Record<string, MessageContract>> = {
  bookSubscribe: {
    summary: 'Subscribe sequenced books; a snapshot or the missed changes follow',
    payload: request('subscribe', { resume }),
    answeredBy: ['bookSubscribed', 'bookResumed', 'bookSnapshotL2', 'bookSnapshotL3', 'bookDiff', 'bookError'],
  },
  bookUnsubscribe: {
    summary: 'Leave streams; members left out match any',
    payload: request('unsubscribe'),
    answeredBy: ['bookUnsubscribed', 'bookError'],
  },
};

const BOOK = { channel: { const: 'book' } };
const stream = text(
  'names the market and every choice: <marketType>_<marketIndex>_<level>[_d<depth>][_c<ms>][_k<levels>]',
);
const checksum = {
  type: 'integer',
  minimum: 0,
  maximum: UINT32_MAX,
  description: 'CRC32 of the top levels after this message, where it was asked for',
};
const streamId = count('names the stream in the diffs that follow on this connection');
const streamed = { stream, streamId, market: text('symbol') };
const at = {
  epoch: count('epoch of the book'),
  seq: count('the book after this change'),
  slot,
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
  summary: 'Turns the book after prevSeq into the book after seq; entries in no order, lists without entries left out',
  payload: object(
    {
      diff: count('streamId of the stream, from its snapshot or the answer to a resume'),
      ...at,
      prevSeq: count('seq of the stream’s message before this one'),
      gone: list(ref('BookOrderRef'), 'orders that are no more; applies before bids and asks'),
      bids: list(entry),
      asks: list(entry),
      checksum,
    },
    { optional: ['gone', 'bids', 'asks', 'checksum'] },
  ),
};

function answer(type: string, summary: string): MessageContract {
  const payload = object(
    {
      ...BOOK,
      type: { const: type },
      id,
      market: text('symbol, or *'),
      marketType: choice([...MARKET_TYPES, '*']),
      streams: list({ type: 'string' }, 'streams this request brought or ended'),
    },
    { optional: ['id'] },
  );
  return { summary, payload };
}

export const BOOK_FEED_MESSAGES: Readonly<Record<string, MessageContract>> = {
  bookSubscribed: answer('subscribed', 'A subscription was taken'),
  bookUnsubscribed: answer('unsubscribed', 'Streams were left'),
  bookResumed: {
    summary: 'Answer to resume: the diffs that follow begin at seq, or, not recovered, a snapshot follows',
    payload: object({
      ...BOOK,
      type: { const: 'resumed' },
      stream,
      streamId,
      recovered: flag('true: nothing is missing'),
      epoch: at.epoch,
      seq: count('where the diffs begin, or where the client stood'),
    }),
  },
  bookSnapshotL2: snapshot('l2'),
  bookSnapshotL3: snapshot('l3'),
  bookDiff: diff,
  bookHeartbeat: {
    summary: `Every ${BOOK_HEARTBEAT_MS} ms: the last position sent to each stream of the connection`,
    payload: object({
      ...BOOK,
      type: { const: 'heartbeat' },
      sequences: record(ref('BookPosition'), 'by stream name'),
    }),
  },
  bookError: {
    summary: 'A request was refused; the connection stays open',
    payload: object(
      {
        ...BOOK,
        type: { const: 'error' },
        code: choice(Object.keys(BOOK_FEED_ERRORS)),
        error: choice(Object.values(BOOK_FEED_ERRORS).map((entry) => entry.text)),
        retry: flag('the same request may succeed later'),
        id,
      },
      { optional: ['id'] },
    ),
  },
  serverShutdown: {
    summary: 'A planned stop: the connection will be closed with 1012; come back and resume',
    payload: object({
      channel: { const: 'server' },
      type: { const: 'serverShutdown' },
      closesInMs: count('milliseconds until the close'),
    }),
  },
};
