// The history socket through a real connection: requests, acknowledgement, init, stream, errors, and its contract.

import bs58 from 'bs58';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CandleView } from '../../../schemas/index.ts';
import { asyncApiFaults } from '../../../test/support/api/contracts.ts';
import {
  AUTHORITY,
  CANDLE,
  document,
  HistorySocketStage,
  type Message,
  nameOf,
  untilFlooded,
} from '../../../test/support/api/history-socket.ts';
import { fillAction } from '../../../test/support/api/order-actions.ts';
import { MAKER_A, MAKER_B } from '../../../test/support/api/stage.ts';
import { HistoryError } from '../../http/errors.ts';
import { TRADE_FIELDS } from '../rows/market.ts';
import { SocketClient } from './client.ts';

/** Members of a withdrawn candle. */
const NO_PRICES = {
  ...{ fillOpen: null, fillHigh: null, fillLow: null, fillClose: null },
  ...{ oracleOpen: null, oracleHigh: null, oracleLow: null, oracleClose: null },
};

let stage: HistorySocketStage;

beforeEach(async () => {
  stage = new HistorySocketStage();
  await stage.start();
});
afterEach(() => stage.stop());

describe('candle channel', () => {
  const request = { channelType: 'candle', symbol: 'sol-perp', resolution: '1' };

  it('acknowledges, then sends the newest stored candle in human units, then the stream', async () => {
    const client = await stage.connect();
    client.subscribe(request);
    const [ack, init] = await client.receives(2);
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
    await stage.candle({ quoteVolume: 300_000_000n, version: 4n });
    expect((await client.receives(3))[2]).toMatchObject({ type: 'update', candle: { quoteVolume: 300 }, trades: [] });
    await stage.candle({ ts: CANDLE.ts + 60, trades: 0, lastTradeTs: null, lastFillRecordId: null, version: 5n });
    const created = (await client.receives(4))[3];
    expect(created).toMatchObject({ type: 'create', candle: { ts: CANDLE.ts + 60 } });
    expect(Object.keys(created ?? {}).sort()).toEqual(['candle', 'trades', 'type']);
  });

  it('updates the closed bucket before it creates the next, and ignores older buckets', async () => {
    const client = await stage.connect();
    client.subscribe(request);
    await client.receives(2);
    await stage.candle({ ts: CANDLE.ts - 60, version: 6n });
    await stage.candle({ version: 7n });
    await stage.candle({ ts: CANDLE.ts + 60, version: 8n });
    const received = await client.receives(4);
    expect(received.slice(2).map(({ type, candle }) => [type, (candle as CandleView).ts])).toEqual([
      ['update', CANDLE.ts],
      ['create', CANDLE.ts + 60],
    ]);
  });

  const fillOf = (members: Record<string, unknown> = {}) => fillAction({ ts: BigInt(CANDLE.ts), ...members });
  const tradesOf = (message: Message | undefined) => (message as { trades: Message[] }).trades;

  it('sends the fills behind a change with their price, without liquidations and transfers', async () => {
    const client = await stage.connect();
    client.subscribe(request);
    await client.receives(2);
    await stage.events(fillOf(), fillOf({ action_explanation: 'liquidation' }));
    await stage.candle({ version: 9n });
    const [trade, ...others] = tradesOf((await client.receives(3))[2]);
    expect(others).toEqual([]);
    expect(trade).toMatchObject({ fillRecordId: '8', price: 150.2, baseAssetAmountFilled: 1.5 });
  });

  it('gives a fill all members of the REST row in whole units, with entity and creation time', async () => {
    const client = await stage.connect();
    client.subscribe(request);
    await client.receives(2);
    await stage.events(fillOf());
    await stage.candle({ version: 9n });
    const [trade] = tradesOf((await client.receives(3))[2]);
    expect(Object.keys(trade ?? {})).toEqual([...TRADE_FIELDS.map(({ name }) => name), 'entity', 'createdAt']);
    expect(trade).toMatchObject({
      taker: bs58.encode(MAKER_A),
      maker: bs58.encode(MAKER_B),
      filler: bs58.encode(MAKER_B),
      fillerReward: 0.01,
      takerFee: 0.078855,
      makerFee: -0.005632,
      referrerReward: null,
      takerOrderBaseAssetAmount: 2,
      makerOrderCumulativeQuoteAssetAmountFilled: 225.3,
      oraclePrice: 150.18,
      bitFlags: 1,
      marketFilter: 'perp',
      symbol: 'SOL-PERP',
      entity: 'market',
      createdAt: CANDLE.ts * 1000,
    });
  });

  it('creates a bucket without fills and sends its fills at once in an update, where published clients read them', async () => {
    const client = await stage.connect();
    client.subscribe(request);
    await client.receives(2);
    const ts = CANDLE.ts + 60;
    await stage.events(fillOf({ ts: BigInt(ts) }));
    await stage.candle({ ts, version: 9n });
    const [create, update] = (await client.receives(4)).slice(2);
    expect(create).toMatchObject({ type: 'create', candle: { ts }, trades: [] });
    expect(update).toMatchObject({ type: 'update', trades: [{ fillRecordId: '8' }] });
    expect(update?.candle).toEqual(create?.candle);
  });

  it('sends a fill that arrives after its candle in a separate update', async () => {
    const client = await stage.connect();
    client.subscribe(request);
    await client.receives(2);
    await stage.candle({ lastFillRecordId: 8n, version: 9n });
    await client.receives(3);
    await stage.events(fillOf());
    expect((await client.receives(4))[3]).toMatchObject({ type: 'update', trades: [{ fillRecordId: '8' }] });
  });

  it('sends a fill that is twice in the log once', async () => {
    const client = await stage.connect();
    client.subscribe(request);
    await client.receives(2);
    const fill = fillOf();
    await stage.events(fill, fill);
    await stage.candle({ version: 9n });
    expect(tradesOf((await client.receives(3))[2])).toHaveLength(1);
  });

  it('accepts the older form without channelType', async () => {
    const client = await stage.connect();
    client.subscribe({ symbol: 'SOL-PERP', resolution: '1' });
    expect((await client.receives(2)).map(({ type }) => type)).toEqual(['subscription', 'init']);
  });

  it('sends no init for a market without candles, and a create when its first one comes', async () => {
    stage.loadCandle = async () => null;
    const client = await stage.connect();
    client.subscribe(request);
    await client.receives(1);
    await stage.candle({ version: 1n });
    expect((await client.receives(2)).map(({ type }) => type)).toEqual(['subscription', 'create']);
  });

  it('sends no init for a market whose candles are all withdrawn, and a create when the next one comes', async () => {
    const client = await stage.connect();
    client.subscribe(request);
    client.subscribe({ ...request, resolution: '5' });
    await client.receives(4);
    await stage.candle({ ...NO_PRICES, version: 9n });
    await stage.candle({ resolution: '5', version: 9n });
    await client.receives(5);
    client.send({ type: 'unsubscribe', ...request });
    client.subscribe(request);
    await client.receives(6);
    await stage.candle({ ts: CANDLE.ts + 60, version: 10n });
    const types = (await client.receives(7)).slice(4).map(({ type }) => type);
    expect(types).toEqual(['update', 'subscription', 'create']);
  });

  it('answers a repeated subscribe like the first without doubling the stream', async () => {
    const client = await stage.connect();
    client.subscribe(request);
    client.subscribe(request);
    await client.receives(4);
    await stage.candle({ version: 4n });
    await stage.candle({ ts: CANDLE.ts + 60, version: 5n });
    const types = (await client.receives(6)).map(({ type }) => type).sort();
    expect(types).toEqual(['create', 'init', 'init', 'subscription', 'subscription', 'update']);
  });

  it('stops after unsubscribe, which is not answered', async () => {
    const client = await stage.connect();
    client.subscribe(request);
    client.subscribe({ ...request, resolution: '5' });
    await client.receives(4);
    client.send({ type: 'unsubscribe', ...request });
    client.send('mark');
    await client.receives(5);
    await stage.candle({ version: 4n });
    await stage.candle({ resolution: '5', version: 5n });
    const last = (await client.receives(6))[5] as unknown as { candle: Message };
    expect(last.candle.resolution).toBe('5');
    expect(client.received).toHaveLength(6);
  });

  it('reports that the channel is not built before the store has candles', async () => {
    stage.loadCandle = async () => {
      throw new HistoryError('notBuilt');
    };
    const client = await stage.connect();
    client.subscribe(request);
    expect((await client.receives(2))[1]).toEqual({
      type: 'error',
      message: 'This channel is not built yet',
      channelType: 'candle',
    });
  });
});

describe('markets and pricing channels', () => {
  it('send the whole list at once and after every change of a summary', async () => {
    const client = await stage.connect();
    client.subscribe({ channelType: 'markets' });
    client.subscribe({ channelType: 'pricing' });
    const first = await client.receives(4);
    expect(first.map(nameOf).sort()).toEqual(['acknowledgement', 'acknowledgement', 'marketsInit', 'pricingInit']);
    expect(first.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['Subscribed to markets updates', 'Subscribed to pricing updates']),
    );
    const pricing = first.find((message) => nameOf(message) === 'pricingInit');
    const sol = expect.objectContaining({ symbol: 'SOL-PERP', bestBid: 149, bestAsk: 151, markPrice: 150 });
    expect(pricing).toMatchObject({ data: expect.arrayContaining([sol]) });
    stage.summaryChanges = 1;
    const received = await client.receives(6);
    expect(received.slice(4).map(nameOf)).toEqual(['marketsUpdate', 'pricingUpdate']);
    expect(received[4]).toMatchObject({ channel: 'markets:summary', data: [{ volume24h: 1 }] });
  });
});

describe('refusals', () => {
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

  it.each(refused)('answer %s with an error message, and keep the socket open', async (_name, sent, answer) => {
    const client = await stage.connect();
    client.send(sent);
    expect((await client.receives(1))[0]).toMatchObject({ type: 'error', ...answer });
    client.subscribe({ channelType: 'markets' });
    await client.receives(3);
    expect(client.closed).toBeNull();
  });

  it('too many messages at once close the connection with 1008', async () => {
    const client = await stage.connect();
    await untilFlooded(client);
    expect(client.closed).toEqual({ code: 1008, reason: 'Too many messages' });
  });

  it.each([
    [300_000, null],
    [300_001, [1008, 'Buffer overflow']],
  ])('a client with %i unread bytes is closed with %j', (unread, close) => {
    const sent: string[] = [];
    let ended: unknown = null;
    const fake = {
      getBufferedAmount: () => unread,
      send: (text: string) => sent.push(text),
      end: (...close: unknown[]) => {
        ended = close;
      },
    };
    const socket = fake as unknown as ConstructorParameters<typeof SocketClient>[0];
    new SocketClient(socket, { messages: 0, bytes: 0 }).send('x');
    expect([ended, sent]).toEqual([close, close === null ? ['x'] : []]);
  });
});

describe('/asyncapi.json of the history', () => {
  it('resolves every reference and has every payload in its own dialect', () => {
    expect(asyncApiFaults(document)).toEqual([]);
  });
});
