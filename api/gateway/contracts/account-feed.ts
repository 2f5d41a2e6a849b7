// AsyncAPI contract of the `account` channel on `/ws`.

import type { MessageContract } from '../../http/contract/asyncapi.ts';
import { BASE, marketIndex, marketType, PRICE, slot } from '../../http/contract/books.ts';
import { inputSchema } from '../../http/contract/inputs.ts';
import {
  amountText,
  choice,
  count,
  flag,
  key,
  list,
  nullable,
  object,
  ref,
  text,
} from '../../http/contract/json-schema.ts';
import { ACCOUNT_FEED_ERRORS } from '../../http/errors.ts';
import { ACCOUNT_SUBSCRIBE, ACCOUNT_UNSUBSCRIBE } from '../account-feed/request.ts';
import { QUEUE_INTERVAL_MS } from '../feed/record-limits.ts';
import { answerId, numberedHeartbeat, streamId } from './book-feed.ts';

const CHANNEL = { channel: { const: 'account' } };
const stream = text('names account and part: account_<account>_<part>');
const epoch = count('changes when the numbers start over; 0 before the first change');
const checksum = {
  type: 'integer',
  minimum: 0,
  maximum: 0xffff_ffff,
  description: 'CRC32 of the open orders of the stream after this message',
};

const order = object(
  {
    marketType,
    marketIndex,
    orderId: count('order id of the account'),
    userOrderId: count('id that the user chose, 0 = none'),
    orderType: text('for example limit'),
    direction: choice(['long', 'short']),
    price: amountText(PRICE),
    baseAssetAmount: amountText(BASE),
    baseAssetAmountFilled: amountText(BASE),
    triggerPrice: amountText(PRICE),
    triggerCondition: text('above, below; triggeredAbove or triggeredBelow once triggered'),
    oraclePriceOffset: { type: 'string', pattern: '^-?\\d+$', description: `distance to the oracle price; ${PRICE}` },
    postOnly: flag('never takes'),
    reduceOnly: flag('only reduces the position'),
    placedSlot: count('slot of the placing'),
    maxTs: count('Unix seconds at which it expires, 0 = never'),
  },
  { description: 'an order after the change' },
);
const fill = object(
  {
    fillRecordId: text('running number of the fill in its market'),
    baseAssetAmount: amountText(BASE),
    quoteAssetAmount: amountText('quote, integer of 1e-6'),
  },
  { description: 'the fill behind the change' },
);

const position = object(
  {
    marketType,
    marketIndex,
    orderId: count('order id of the account'),
    source: choice(['user', 'clob'], 'where the order rests'),
    side: choice(['bids', 'asks']),
    price: amountText(PRICE),
    size: amountText(`unfilled; ${BASE}`),
    sizeAhead: amountText(`of the orders before it at its price; ${BASE}`),
    ordersAhead: count('orders before it at its price'),
    book: object(
      { epoch, seq: count('change of the book'), slot },
      { description: 'the book of the market in which the order stands so' },
    ),
  },
  { description: 'place of a resting order in the queue of its price' },
);

export const ACCOUNT_FEED_SCHEMAS = { AccountOrder: order, OrderFill: fill, QueuePosition: position };

const target = {
  account: key('as in the request'),
  authority: key('as in the request'),
};

function answer(type: string, summary: string): MessageContract {
  const streams = list({ type: 'string' }, 'streams that this request started or ended, one for each account and part');
  return {
    summary,
    payload: object(
      { ...CHANNEL, type: { const: type }, id: answerId, ...target, streams },
      { optional: ['id', 'account', 'authority'] },
    ),
  };
}

export const ACCOUNT_FEED_REQUESTS: Readonly<Record<string, MessageContract>> = {
  accountSubscribe: {
    summary:
      'Subscribe to the orders of an account, or of all accounts of a wallet; open orders or missed changes follow',
    payload: { ...inputSchema(ACCOUNT_SUBSCRIBE), anyOf: [{ required: ['account'] }, { required: ['authority'] }] },
    answeredBy: [
      'accountSubscribed',
      'accountResumed',
      'accountSnapshot',
      'orderChange',
      'accountQueue',
      'accountError',
    ],
  },
  accountUnsubscribe: {
    summary: 'End the streams of an account, or of all accounts of a wallet',
    payload: { ...inputSchema(ACCOUNT_UNSUBSCRIBE), anyOf: [{ required: ['account'] }, { required: ['authority'] }] },
    answeredBy: ['accountUnsubscribed', 'accountError'],
  },
};

export const ACCOUNT_FEED_MESSAGES: Readonly<Record<string, MessageContract>> = {
  accountSubscribed: answer('subscribed', 'The subscription is accepted'),
  accountUnsubscribed: answer('unsubscribed', 'Streams have ended'),
  accountResumed: {
    summary:
      'Answer to resume: recovered, all changes after seq follow; else a snapshot follows and changes are missing',
    payload: object({
      ...CHANNEL,
      type: { const: 'resumed' },
      stream,
      streamId,
      recovered: flag('true: nothing is missing'),
      epoch,
      seq: count('number of the last change that the client has'),
    }),
  },
  accountSnapshot: {
    summary: 'All open orders of an account in the markets of a part; replaces what the client holds',
    payload: object({
      ...CHANNEL,
      type: { const: 'snapshot' },
      stream,
      streamId,
      account: key('user account'),
      part: count('partition of the log: a market belongs to one part'),
      epoch,
      seq: count('number of the newest change; 0 before the first'),
      slot: count('slot of the newest change; 0 before the first'),
      orders: list(ref('AccountOrder')),
      checksum,
    }),
  },
  orderChange: {
    summary:
      'A change of an order, each once; when prevSeq is not the number that the client has, changes are missing: resume',
    payload: object({
      order: count('streamId of the stream, from its snapshot or the answer to a resume'),
      epoch,
      seq: count('number of the change'),
      prevSeq: count('number of the change before it'),
      slot,
      ts: count('Unix seconds of the block; of a reconstructed change, of the newest known record'),
      txSig: text('signature of the transaction, base58; empty for a reconstructed change'),
      txSigIndex: count('index of the record among those of the transaction'),
      cause: choice(
        ['placed', 'triggered', 'filled', 'cancelled', 'expired', 'reconstructed'],
        'reconstructed: from the states of the account, because no record came; later versions may add causes',
      ),
      explanation: text(
        'explanation of the program, for example orderFilledWithMatch; none for a reconstructed change',
      ),
      fill: nullable(ref('OrderFill')),
      isOpen: flag('false: the order has left'),
      data: ref('AccountOrder'),
      checksum,
    }),
  },
  accountQueue: {
    summary:
      'Queue positions of all resting orders of an account, after the subscribe and when one has changed; replaces the ones before. ' +
      `Looked at every ${QUEUE_INTERVAL_MS} ms`,
    payload: object({
      ...CHANNEL,
      type: { const: 'queue' },
      account: key('user account'),
      positions: list(ref('QueuePosition'), 'an order that does not rest in a book has none'),
    }),
  },
  accountHeartbeat: numberedHeartbeat('account', 'change'),
  accountError: {
    summary: 'Refuses a request; the connection stays open',
    payload: object(
      {
        ...CHANNEL,
        type: { const: 'error' },
        code: choice(Object.keys(ACCOUNT_FEED_ERRORS)),
        error: choice(Object.values(ACCOUNT_FEED_ERRORS).map((entry) => entry.text)),
        retry: flag('the same request may succeed later'),
        id: answerId,
      },
      { optional: ['id'] },
    ),
  },
};
