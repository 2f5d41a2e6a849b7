// The history socket through a real connection: requests, acknowledgement, init, stream, errors, and its contract.

import bs58 from 'bs58';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  type CandleView,
  candleKey,
  encodeEvent,
  encodeMessage,
  type MarketSummary,
  marketKey,
  partitionOf,
  TOPICS,
  type TradeView,
} from '../../../schemas/index.ts';
import { HistoryError } from '../../errors.ts';
import { asyncApiFaults, Contract } from '../../testing/contracts.ts';
import { FakeLog } from '../../testing/fake-log.ts';
import { MARKETS } from '../../testing/market-views.ts';
import { trade, until } from '../../testing/stage.ts';
import { MarketRegistry } from '../../views/registry.ts';
import { historyAsyncApi } from './asyncapi.ts';
import { SocketClient } from './client.ts';
import { type HistorySocket, startHistorySocket } from './server.ts';

type Message = Readonly<Record<string, unknown>>;

const document = historyAsyncApi() as { channels: { history: { messages: Record<string, object> } } };
const contract = new Contract(document);

/** Name of the one documented message that this is. */
function nameOf(message: Message): string {
  const found = Object.keys(document.channels.history.messages).filter((name) =>
    contract.validator('channels', 'history', 'messages', name, 'payload')(message),
  );
  if (found.length !== 1) throw new Error(`documented as [${found}]: ${JSON.stringify(message)}`);
  return found[0] ?? '';
}

class Client {
  readonly heard: Message[] = [];
  readonly socket: WebSocket;
  closed: { code: number; reason: string } | null = null;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (bytes) => {
      const message = JSON.parse(bytes.toString()) as Message;
      nameOf(message);
      this.heard.push(message);
    });
    socket.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
  }

  static async connect(url: string): Promise<Client> {
    const client = new Client(new WebSocket(url));
    await new Promise((resolve, reject) => {
      client.socket.once('open', resolve);
      client.socket.once('error', reject);
    });
    return client;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  subscribe(fields: Record<string, unknown>): void {
    this.send({ type: 'subscribe', ...fields });
  }

  async hears(count: number): Promise<readonly Message[]> {
    await until(() => this.heard.length >= count);
    return this.heard;
  }
}

const CANDLE: CandleView = {
  marketType: 'perp',
  marketIndex: 0,
  resolution: '1',
  ts: 1_790_000_100,
  slot: 500,
  fillOpen: 150_000_000n,
  fillHigh: 151_000_000n,
  fillLow: 149_500_000n,
  fillClose: 150_250_000n,
  oracleOpen: 150_100_000n,
  oracleHigh: 150_900_000n,
  oracleLow: 149_900_000n,
  oracleClose: 150_200_000n,
  quoteVolume: 225_300_000n,
  baseVolume: 1_500_000_000n,
  trades: 1,
  lastTradeTs: 1_790_000_123n,
  lastFillRecordId: 7n,
  version: 3n,
};

let log: FakeLog;
let socket: HistorySocket;
let stored: CandleView | null;
let storeFails: boolean;
let changes: number;
const AUTHORITY = bs58.encode(Buffer.alloc(32, 9));
const ACCOUNT = Buffer.alloc(32, 8);

beforeEach(async () => {
  log = new FakeLog();
  stored = CANDLE;
  storeFails = false;
  changes = 0;
  const markets = new MarketRegistry();
  for (const view of MARKETS) markets.put(view);
  socket = await startHistorySocket({
    log,
    logger: pino({ level: 'silent' }),
    markets,
    summaries: {
      get changes() {
        return changes;
      },
      of: () => ({ bidPrice: 149_000_000n, askPrice: 151_000_000n, ts: 5, oraclePrice: 1n }) as MarketSummary,
      list: () => [{ symbol: 'SOL-PERP', volume24h: changes }],
    },
    loadCandle: async () => {
      if (storeFails) throw new HistoryError('notBuilt');
      return stored;
    },
    loadAccounts: async () => [bs58.encode(ACCOUNT)],
  });
});
afterEach(() => socket.stop());

const connect = () => Client.connect(`ws://${socket.host}:${socket.port}/ws`);

async function publish(candle: Partial<CandleView>): Promise<void> {
  const view = { ...CANDLE, ...candle };
  const partition = partitionOf(TOPICS.candleViews, marketKey(view));
  await log.append(TOPICS.candleViews, [{ key: candleKey(view), value: encodeMessage('CandleView', view), partition }]);
}

async function publishTrade(fillRecordId: bigint, members: Partial<TradeView>): Promise<void> {
  const view = { ...trade(fillRecordId), ...members };
  await log.append(TOPICS.tradeViews, [{ key: marketKey(view), value: encodeMessage('TradeView', view) }]);
}

describe('candle channel', () => {
  const request = { channelType: 'candle', symbol: 'sol-perp', resolution: '1' };

  it('acknowledges, then sends the newest stored candle in human units, then the stream', async () => {
    const client = await connect();
    client.subscribe(request);
    const [ack, init] = await client.hears(2);
    expect(ack).toEqual({
      type: 'subscription',
      message: 'Subscribed to SOL-PERP 1',
      channelType: 'candle',
      channel: 'candle:SOL-PERP:1',
      symbol: 'SOL-PERP',
      resolution: '1',
    });
    expect(init).toMatchObject({
      type: 'init',
      channel: 'candle:SOL-PERP:1',
      candle: { ts: CANDLE.ts, fillOpen: 150, oracleClose: 150.2, quoteVolume: 225.3, baseVolume: 1.5 },
    });
    await publish({ quoteVolume: 300_000_000n, version: 4n });
    expect((await client.hears(3))[2]).toMatchObject({ type: 'update', candle: { quoteVolume: 300 }, trades: [] });
    await publish({ ts: CANDLE.ts + 60, trades: 0, lastTradeTs: null, lastFillRecordId: null, version: 5n });
    const created = (await client.hears(4))[3];
    expect(created).toMatchObject({ type: 'create', candle: { ts: CANDLE.ts + 60 } });
    expect(Object.keys(created ?? {}).sort()).toEqual(['candle', 'trades', 'type']);
  });

  it('sends an update for the bucket that closed before the create of the next, and nothing of older buckets', async () => {
    const client = await connect();
    client.subscribe(request);
    await client.hears(2);
    await publish({ ts: CANDLE.ts - 60, version: 6n });
    await publish({ version: 7n });
    await publish({ ts: CANDLE.ts + 60, version: 8n });
    const heard = await client.hears(4);
    expect(heard.slice(2).map(({ type, candle }) => [type, (candle as CandleView).ts])).toEqual([
      ['update', CANDLE.ts],
      ['create', CANDLE.ts + 60],
    ]);
  });

  it('names the fills behind a change with their price, without liquidations and transfers', async () => {
    const client = await connect();
    client.subscribe(request);
    await client.hears(2);
    const amounts = {
      ts: BigInt(CANDLE.ts),
      baseAssetAmountFilled: 1_500_000_000n,
      quoteAssetAmountFilled: 225_300_000n,
    };
    await publishTrade(8n, amounts);
    await publishTrade(9n, { ...amounts, actionExplanation: 'liquidation' });
    await publish({ version: 9n });
    const update = (await client.hears(3))[2] as unknown as { trades: Message[] };
    expect(update.trades).toHaveLength(1);
    expect(update.trades[0]).toMatchObject({ fillRecordId: '8', price: 150.2, baseAssetAmountFilled: 1.5 });
  });

  it('takes the older form without channelType', async () => {
    const client = await connect();
    client.subscribe({ symbol: 'SOL-PERP', resolution: '1' });
    expect((await client.hears(2)).map(({ type }) => type)).toEqual(['subscription', 'init']);
  });

  it('sends no init for a market without candles, and a create when its first one comes', async () => {
    stored = null;
    const client = await connect();
    client.subscribe(request);
    await client.hears(1);
    await publish({ version: 1n });
    expect((await client.hears(2)).map(({ type }) => type)).toEqual(['subscription', 'create']);
  });

  it('answers a repeated subscribe like the first without doubling the stream', async () => {
    const client = await connect();
    client.subscribe(request);
    client.subscribe(request);
    await client.hears(4);
    await publish({ version: 4n });
    await publish({ ts: CANDLE.ts + 60, version: 5n });
    const types = (await client.hears(6)).map(({ type }) => type).sort();
    expect(types).toEqual(['create', 'init', 'init', 'subscription', 'subscription', 'update']);
  });

  it('stops after unsubscribe, which is not answered', async () => {
    const client = await connect();
    client.subscribe(request);
    client.subscribe({ ...request, resolution: '5' });
    await client.hears(4);
    client.send({ type: 'unsubscribe', ...request });
    client.send('mark');
    await client.hears(5);
    await publish({ version: 4n });
    await publish({ resolution: '5', version: 5n });
    const last = (await client.hears(6))[5] as unknown as { candle: Message };
    expect(last.candle.resolution).toBe('5');
    expect(client.heard).toHaveLength(6);
  });

  it('says that the channel is not built while the store has no candles yet', async () => {
    storeFails = true;
    const client = await connect();
    client.subscribe(request);
    expect((await client.hears(2))[1]).toEqual({
      type: 'error',
      message: 'This channel is not built yet',
      channelType: 'candle',
    });
  });
});

describe('markets and pricing channels', () => {
  it('send the whole list at once and again whenever a summary changed', async () => {
    const client = await connect();
    client.subscribe({ channelType: 'markets' });
    client.subscribe({ channelType: 'pricing' });
    const first = await client.hears(4);
    expect(first.map(nameOf).sort()).toEqual(['acknowledgement', 'acknowledgement', 'marketsInit', 'pricingInit']);
    expect(first.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['Subscribed to markets updates', 'Subscribed to pricing updates']),
    );
    const pricing = first.find((message) => nameOf(message) === 'pricingInit');
    const sol = expect.objectContaining({ symbol: 'SOL-PERP', bestBid: 149, bestAsk: 151, markPrice: 150 });
    expect(pricing).toMatchObject({ data: expect.arrayContaining([sol]) });
    changes = 1;
    const heard = await client.hears(6);
    expect(heard.slice(4).map(nameOf)).toEqual(['marketsUpdate', 'pricingUpdate']);
    expect(heard[4]).toMatchObject({ channel: 'markets:summary', data: [{ volume24h: 1 }] });
  });
});

describe('notifications channel', () => {
  it('tells what happens to the accounts of the wallet, and nothing of others', async () => {
    const client = await connect();
    client.subscribe({ channelType: 'notifications', authority: AUTHORITY });
    expect((await client.hears(1))[0]).toMatchObject({
      message: 'Subscribed to notifications',
      channel: `notifications:${AUTHORITY}`,
    });
    for (const user of [Buffer.alloc(32, 1), ACCOUNT]) {
      const data = { ts: 1_790_000_000n, user, market_index: 0, pnl: -5n, base_asset_amount: 0n };
      const more = { quote_asset_amount_after: 0n, quote_entry_amount: 0n, settle_price: 1n, explanation: 'none' };
      const event = { name: 'SettlePnlRecord', signature: Buffer.alloc(64, 1), eventIndex: 0, slot: 9, txIndex: null };
      await log.append(TOPICS.events, [{ key: 'k', value: encodeEvent({ ...event, data: { ...data, ...more } }) }]);
    }
    const [, update] = await client.hears(2);
    expect(update).toMatchObject({
      type: 'update',
      data: { authorityId: AUTHORITY, user: bs58.encode(ACCOUNT), type: 'RECORD_UPDATE', data: { pnl: '-5' } },
    });
    const id = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(update).toMatchObject({ data: { notificationId: expect.stringMatching(id) } });
    expect(client.heard).toHaveLength(2);
  });

  it('takes authorityId for authority', async () => {
    const client = await connect();
    client.subscribe({ channelType: 'notifications', authorityId: AUTHORITY });
    expect((await client.hears(1))[0]?.type).toBe('subscription');
  });
});

describe('what is refused', () => {
  const refused: readonly [string, unknown, Message][] = [
    [
      '`orderbook` channelType: error response `Unknown channel type`',
      { type: 'subscribe', channelType: 'orderbook', symbol: 'SOL-PERP' },
      { message: 'Unknown channel type', channelType: 'orderbook' },
    ],
    [
      '`user` channelType: error response `Unknown channel type`',
      { type: 'subscribe', channelType: 'user', accountId: AUTHORITY },
      { message: 'Unknown channel type', channelType: 'user' },
    ],
    [
      'a bad resolution',
      { type: 'subscribe', channelType: 'candle', symbol: 'SOL-PERP', resolution: '2' },
      { message: 'Invalid parameters for channel type: candle' },
    ],
    [
      'an unknown symbol',
      { type: 'subscribe', channelType: 'candle', symbol: 'NO', resolution: '1' },
      { message: 'Invalid parameters for channel type: candle' },
    ],
    [
      'a bad authority',
      { type: 'subscribe', channelType: 'notifications', authority: 'x' },
      { message: 'Invalid parameters for channel type: notifications' },
    ],
    [
      'nothing named',
      { type: 'subscribe' },
      { message: 'Invalid subscription message: channelType, or symbol and resolution, are missing' },
    ],
    ['another type', { type: 'hello' }, { message: 'Invalid message: type must be subscribe or unsubscribe' }],
    ['text that is no JSON', '{', { message: 'Invalid JSON' }],
    ['JSON that is no object', '[]', { message: 'Invalid message: type must be subscribe or unsubscribe' }],
  ];

  it.each(refused)('%s: an error message, and the socket stays open', async (_name, sent, answer) => {
    const client = await connect();
    client.send(sent);
    expect((await client.hears(1))[0]).toMatchObject({ type: 'error', ...answer });
    client.subscribe({ channelType: 'markets' });
    await client.hears(3);
    expect(client.closed).toBeNull();
  });

  it('too many messages at once close the connection with 1008', async () => {
    const client = await connect();
    for (let sent = 0; sent < 2100; sent++) client.send('x');
    await until(() => client.closed !== null);
    expect(client.closed).toEqual({ code: 1008, reason: 'Too many messages' });
  });

  it.each([
    [300_000, null],
    [300_001, [1008, 'Buffer overflow']],
  ])('a client with %i bytes unread is told %j', (unread, close) => {
    const sent: string[] = [];
    let ended: unknown = null;
    const fake = {
      getBufferedAmount: () => unread,
      send: (text: string) => sent.push(text),
      end: (...told: unknown[]) => {
        ended = told;
      },
    };
    new SocketClient(fake as unknown as ConstructorParameters<typeof SocketClient>[0]).send('x');
    expect([ended, sent]).toEqual([close, close === null ? ['x'] : []]);
  });
});

describe('/asyncapi.json of the history', () => {
  it('is a document of which every reference resolves and every payload is in its own dialect', () => {
    expect(asyncApiFaults(document)).toEqual([]);
  });
});
