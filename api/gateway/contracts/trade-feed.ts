// AsyncAPI contract of the `trades.v2` channel on `/ws`; schemas/messages/trade-feed.ts has the same messages as types.

import type { MessageContract } from '../../http/contract/asyncapi.ts';
import { marketIndex, marketType, slot } from '../../http/contract/books.ts';
import { inputSchema } from '../../http/contract/inputs.ts';
import { choice, count, flag, nullable, object, ref, text } from '../../http/contract/json-schema.ts';
import { TRADE_FEED_ERRORS } from '../../http/errors.ts';
import { TRADES_SUBSCRIBE, TRADES_UNSUBSCRIBE } from '../trade-feed/request.ts';
import { answer, answerId, numberedHeartbeat, streamId } from './book-feed.ts';
import { fillRecordId } from './channels.ts';

const txSigIndex = count('index of the fill among the records of the transaction');
const CHANNEL = { channel: { const: 'trades.v2' } };
const stream = text('names the market and the commitment: <marketType>_<marketIndex>_trades[_processed]');
const commitment = choice(['processed'], 'absent at commitment confirmed');
const epoch = count('changes when the numbers start over; 0 before the first fill of the market');
const seq = count(
  'number of the newest fill or withdrawal in its market, without a hole inside an epoch; 0 before the first',
);

export const TRADE_FEED_REQUESTS: Readonly<Record<string, MessageContract>> = {
  tradesSubscribe: {
    summary: 'Subscribe to numbered fills; the number of the newest fill or the missed fills follow',
    payload: inputSchema(TRADES_SUBSCRIBE),
    answeredBy: [
      'tradesSubscribed',
      'tradesResumed',
      'tradesSnapshot',
      'numberedTrade',
      'tradeWithdrawal',
      'tradesError',
    ],
  },
  tradesUnsubscribe: {
    summary: 'End streams of numbered fills',
    payload: inputSchema(TRADES_UNSUBSCRIBE),
    answeredBy: ['tradesUnsubscribed', 'tradesError'],
  },
};

export const TRADE_FEED_MESSAGES: Readonly<Record<string, MessageContract>> = {
  tradesSubscribed: answer('trades.v2', 'subscribed', 'The subscription is accepted'),
  tradesUnsubscribed: answer('trades.v2', 'unsubscribed', 'Streams have ended'),
  tradesResumed: {
    summary: 'Answer to resume: recovered, all fills after seq follow; else a snapshot follows and fills are missing',
    payload: object({
      ...CHANNEL,
      type: { const: 'resumed' },
      stream,
      streamId,
      recovered: flag('true: nothing is missing'),
      epoch,
      seq: count('number of the last fill that the client has'),
    }),
  },
  tradesSnapshot: {
    summary: 'Where the stream stands: the next fill has the number seq + 1',
    payload: object(
      {
        ...CHANNEL,
        type: { const: 'snapshot' },
        stream,
        streamId,
        market: text('symbol'),
        commitment,
        marketType,
        marketIndex,
        epoch,
        seq,
        slot: count('slot of the newest fill or withdrawal; 0 before the first'),
        last: nullable(ref('Trade')),
      },
      { optional: ['commitment'] },
    ),
  },
  numberedTrade: {
    summary:
      'A fill, each once; when prevSeq is not the number that the client has, fills are missing: resume. The change of the ' +
      'book that it causes stands in a book message of its slot or a later one, at the latest in the first message of a ' +
      'later slot',
    payload: object(
      {
        trade: count('streamId of the stream, from its snapshot or the answer to a resume'),
        epoch,
        seq: count('number of the fill'),
        prevSeq: count('number of the message before it'),
        slot,
        commitment,
        txIndex: nullable(count('index of the transaction in its block; null where unknown')),
        txSigIndex,
        data: ref('Trade'),
      },
      { optional: ['commitment'] },
    ),
  },
  tradeWithdrawal: {
    summary:
      'Only at commitment processed: a published fill does not count, because its slot died or its transaction landed in ' +
      'another one. Each once; the fill comes again if another slot has it',
    payload: object({
      withdraw: count('streamId of the stream, from its snapshot or the answer to a resume'),
      epoch,
      seq: count('number of this message, in the sequence of the fills'),
      prevSeq: count('number of the message before it'),
      slot: count('slot of the withdrawn fill'),
      commitment,
      tradeSeq: count('number of the withdrawn fill, in the same epoch'),
      txSig: text('transaction of the withdrawn fill, base58'),
      txSigIndex,
      fillRecordId,
    }),
  },
  tradesHeartbeat: numberedHeartbeat('trades.v2', 'fill'),
  tradesError: {
    summary:
      'Refuses a request, or a new market that does not fit into a subscription to every market; the connection stays ' +
      'open',
    payload: object(
      {
        ...CHANNEL,
        type: { const: 'error' },
        code: choice(Object.keys(TRADE_FEED_ERRORS)),
        error: choice(Object.values(TRADE_FEED_ERRORS).map((entry) => entry.text)),
        retry: flag('the same request may succeed later'),
        id: answerId,
        stream: text('stream of a new market that does not fit into a subscription to every market'),
      },
      { optional: ['id', 'stream'] },
    ),
  },
};
