// `/asyncapi.json` of the history service, built from the tables and limits that the socket itself uses.

import { CANDLE_RESOLUTIONS, NOTIFICATION_TYPES } from '../../../schemas/index.ts';
import { assembleAsyncApi, type MessageContract, type SocketContract } from '../../http/contract/asyncapi.ts';
import { inputSchema } from '../../http/contract/inputs.ts';
import {
  choice,
  count,
  type JsonSchema,
  key,
  list,
  type Members,
  nullable,
  number,
  object,
  ref,
  text,
} from '../../http/contract/json-schema.ts';
import { HISTORY_SOCKET_ERRORS, SOCKET_CLOSES } from '../../http/errors.ts';
import { FEED_PAGE_ROWS } from '../../notifications/limits.ts';
import { convertedSchema, JSON_NUMBER } from '../amount-view.ts';
import { rowSchema } from '../fields.ts';
import { TRADE_FIELDS } from '../rows/market.ts';
import { BATCH_MS, MAX_BUFFERED_BYTES, MAX_PAYLOAD_BYTES, MAX_SUBSCRIPTIONS } from './limits.ts';
import { CHANNEL_TYPES, requestMembers } from './requests.ts';

const HUMAN_PRICE = 'whole quote units per whole base unit';

const prices = ['fill', 'oracle'].flatMap((name) => ['Open', 'High', 'Low', 'Close'].map((part) => `${name}${part}`));

/** A row schema with extra members. */
function withMembers(row: ReturnType<typeof rowSchema>, members: Members): JsonSchema {
  return {
    type: row.type,
    required: [...row.required, ...Object.keys(members)],
    properties: { ...row.properties, ...members },
  };
}

const candle = object(
  {
    ts: count('bucket start, Unix seconds'),
    ...Object.fromEntries(prices.map((name) => [name, number(HUMAN_PRICE)])),
    quoteVolume: number('whole quote units'),
    baseVolume: number('whole base units'),
    symbol: text('market symbol'),
    resolution: choice(CANDLE_RESOLUTIONS),
    lastTradeTs: nullable(count('of the fill that closed the bucket; null for a flat one')),
    lastFillRecordId: nullable(text('of the same fill')),
  },
  { description: 'a candle in human units' },
);

const trade = {
  ...withMembers(convertedSchema(rowSchema(TRADE_FIELDS), JSON_NUMBER) as ReturnType<typeof rowSchema>, {
    entity: { const: 'market' },
    createdAt: count('Unix milliseconds of the block'),
  }),
  description: 'a row of /market/{symbol}/trades in whole units',
};

/** `data.record` of a notification. */
const RECORDS = ['trade', 'orderAction', 'liquidation', 'deposit', 'fundingPayment', 'health', 'market'] as const;

const pricing = object(
  {
    symbol: text('market symbol'),
    marketIndex: count('market index'),
    marketType: choice(['perp', 'spot']),
    oraclePrice: nullable(number(HUMAN_PRICE)),
    markPrice: nullable(number(`mean of bid and ask, else the last fill; ${HUMAN_PRICE}`)),
    bestBid: nullable(number(`of the AMM; ${HUMAN_PRICE}`)),
    bestAsk: nullable(number(`of the AMM; ${HUMAN_PRICE}`)),
    ts: nullable(count('Unix seconds of the summary')),
  },
  { description: 'prices of a market in human units' },
);

const notification = object(
  {
    notificationId: text('time-ordered UUID made of the cause: the same cause, the same id'),
    authorityId: key('wallet'),
    title: text('one line'),
    body: text('one sentence'),
    type: choice(NOTIFICATION_TYPES),
    status: choice(['SENT'], 'the channel is open to everybody, so it does not say how pushes went'),
    channels: list(choice(['app'])),
    user: nullable(key('account of the wallet; null for a market')),
    data: {
      type: 'object',
      required: ['record'],
      properties: { record: choice(RECORDS, 'the cause') },
      additionalProperties: true,
      description: 'members of the cause; amounts are raw integers as text',
    },
    actions: list({ type: 'object', additionalProperties: true }),
    sentAt: count('Unix seconds of the block'),
    createdAt: count('Unix seconds of the block'),
  },
  { description: 'something that happened to an account or a market' },
);

const SCHEMAS = {
  Candle: candle,
  CandleTrade: trade,
  Pricing: pricing,
  Notification: notification,
  /** The same records as `/stats/markets`. */
  MarketSummary: { type: 'object', additionalProperties: true, description: 'a record of GET /stats/markets' },
};

const CHANNELS: Readonly<
  Record<(typeof CHANNEL_TYPES)[number], { pattern: string; data: JsonSchema; summary: string }>
> = {
  candle: { pattern: '^candle:[^:]+:(1|5|15|60|240|D|W|M)$', data: ref('Candle'), summary: 'the newest candle' },
  markets: { pattern: '^markets:summary$', data: list(ref('MarketSummary')), summary: 'every market summary' },
  pricing: { pattern: '^pricing$', data: list(ref('Pricing')), summary: 'the prices of every market' },
  notifications: { pattern: '^notifications:.+$', data: ref('Notification'), summary: 'one notification' },
};

const head = (channelType: keyof typeof CHANNELS, type: string) => ({
  type: { const: type },
  channelType: { const: channelType },
  channel: { type: 'string', pattern: CHANNELS[channelType].pattern },
});

const candleMessage = (type: 'create' | 'update', when: string, trades: JsonSchema): MessageContract => ({
  summary: `A candle ${when}; without channelType and channel`,
  payload: object({ type: { const: type }, candle: ref('Candle'), trades }),
});

const noTrades = {
  type: 'array',
  maxItems: 0,
  description: 'empty: fills of the new bucket follow at once in an update',
};

const listMessage = (channelType: 'markets' | 'pricing', type: 'init' | 'update'): MessageContract => ({
  summary: `${CHANNELS[channelType].summary}, ${type === 'init' ? 'after the acknowledgement' : 'whenever one changed'}`,
  payload: object({ ...head(channelType, type), data: CHANNELS[channelType].data }),
});

const SENDS: Readonly<Record<string, MessageContract>> = {
  acknowledgement: {
    summary: 'A subscribe was accepted',
    payload: object({
      type: { const: 'subscription' },
      message: text('in words'),
      channelType: choice(['markets', 'pricing', 'notifications']),
      channel: text('name of the channel'),
    }),
  },
  candleAcknowledgement: {
    summary: 'A subscribe of candles was accepted',
    payload: object({
      ...head('candle', 'subscription'),
      message: text('Subscribed to <symbol> <resolution>'),
      symbol: text('market symbol'),
      resolution: choice(CANDLE_RESOLUTIONS),
    }),
  },
  candleInit: {
    summary: 'The newest candle, when the market has one',
    payload: object({
      ...head('candle', 'init'),
      symbol: text('market symbol'),
      resolution: choice(CANDLE_RESOLUTIONS),
      candle: ref('Candle'),
    }),
  },
  candleCreate: candleMessage('create', 'was opened', noTrades),
  candleUpdate: candleMessage('update', 'changed', list(ref('CandleTrade'), 'fills since the previous message')),
  marketsInit: listMessage('markets', 'init'),
  marketsUpdate: listMessage('markets', 'update'),
  pricingInit: listMessage('pricing', 'init'),
  pricingUpdate: listMessage('pricing', 'update'),
  notificationsInit: {
    summary: `The newest notifications that the wallet has not read, at most ${FEED_PAGE_ROWS}, newest first`,
    payload: object({ ...head('notifications', 'init'), data: list(CHANNELS.notifications.data) }),
  },
  notification: {
    summary: 'Something happened to an account of the wallet, or to a market',
    payload: object({ ...head('notifications', 'update'), data: CHANNELS.notifications.data }),
  },
  error: {
    summary: 'A message was refused; the connection stays open',
    payload: object(
      {
        type: { const: 'error' },
        message: {
          type: 'string',
          enum: [
            ...Object.values(HISTORY_SOCKET_ERRORS).filter((words) => words !== HISTORY_SOCKET_ERRORS.parameters),
            ...CHANNEL_TYPES.map((name) => HISTORY_SOCKET_ERRORS.parameters + name),
          ],
        },
        channelType: { description: 'as the client sent it' },
      },
      { optional: ['channelType'] },
    ),
  },
};

const SOCKET: SocketContract = {
  address: '/ws',
  title: 'History',
  description:
    `Text frames of JSON, changes collected for ${BATCH_MS} ms. A ping comes every 30 s; no pong ends the connection. A ` +
    `connection holds at most ${MAX_SUBSCRIPTIONS} channels and sends messages of at most ${MAX_PAYLOAD_BYTES} bytes; one ` +
    `that leaves more than ${MAX_BUFFERED_BYTES} bytes unread is closed. Unsubscribing is not answered.`,
  servers: ['history'],
  closes: [SOCKET_CLOSES.overflow, SOCKET_CLOSES.flood, SOCKET_CLOSES.restart],
  receives: {
    subscribe: {
      summary: 'Subscribe a channel',
      payload: inputSchema(requestMembers(['subscribe'])),
      answeredBy: Object.keys(SENDS),
    },
    unsubscribe: { summary: 'Leave a channel', payload: inputSchema(requestMembers(['unsubscribe'])) },
  },
  sends: SENDS,
};

/** The AsyncAPI 3.0 document. */
export function historyAsyncApi(): object {
  return assembleAsyncApi({
    info: {
      title: 'Slotbook history WebSocket',
      version: '1.0.0',
      description: 'Candles, market summaries, prices and notifications as they change.',
    },
    servers: {
      history: {
        host: '{host}:{port}',
        protocol: 'ws',
        title: 'history service',
        variables: { host: { default: 'localhost' }, port: { default: '6971', description: 'setting' } },
      },
    },
    sockets: { history: SOCKET },
    schemas: SCHEMAS,
  });
}
