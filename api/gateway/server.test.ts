import { once } from 'node:events';
import { connect as connectTo, type Socket } from 'node:net';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { metricTotal, type RoleContext, type RunningRole } from '../../platform/index.ts';
import { FeedClient } from '../../test/support/api/feed-client.ts';
import { diff, Stage, snapshot, trade, until } from '../../test/support/api/stage.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { freePorts } from '../../test/support/platform/ports.ts';
import { startOrderBook } from '../orderbook/start.ts';
import { MAX_PAYLOAD_BYTES } from './limits.ts';
import { Sessions } from './sessions.ts';

interface BookData {
  readonly slot: number;
  readonly ts: number;
  readonly bids: { price: string; size: string; sources: Record<string, string> }[];
  readonly asks: { price: string }[];
}

let stage: Stage;
let context: RoleContext;
let role: RunningRole;
let clients: FeedClient[];

async function start(bookTickMs: number): Promise<void> {
  stage = new Stage();
  await stage.markets();
  await stage.books(snapshot());
  context = stage.context({ bookTickMs });
  role = await startOrderBook(context);
  const probe = await connect();
  // The book is published when a subscriber gets a replay.
  await eventually(async () => {
    probe.subscribe();
    await probe.settle();
    expect(probe.data(BOOK).length).toBeGreaterThan(0);
  });
  probe.socket.terminate();
}

async function connect(endpoint = 'gateway'): Promise<FeedClient> {
  const client = await FeedClient.connect(url(endpoint));
  clients.push(client);
  return client;
}

function url(endpoint: string): string {
  const address = role.endpoints[endpoint] ?? '';
  return endpoint === 'gateway' ? address : `${address.replace('http', 'ws')}/ws`;
}

const upgradeRequest = (connection: string): string =>
  [
    'GET /ws HTTP/1.1',
    'Host: x',
    'Upgrade: websocket',
    `Connection: ${connection}`,
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
    '\r\n',
  ].join('\r\n');
const BOOK = 'orderbook_perp_0_grouped_1';
const ACKNOWLEDGED = { message: 'Subscribe received for channel: orderbook, market: SOL-PERP, marketType: perp' };

beforeEach(() => {
  clients = [];
});

afterEach(async () => {
  for (const { socket } of clients) socket.terminate();
  await role.stop();
});

describe('a burst of connections', () => {
  beforeEach(() => start(0));

  it('keeps every client, whatever the header Connection names', async () => {
    const { hostname, port } = new URL(url('gateway'));
    const open = () =>
      new Promise<Socket>((resolve) => {
        const socket = connectTo({ host: hostname, port: Number(port) }, () => resolve(socket));
      });
    const sockets = await Promise.all(Array.from({ length: 300 }, open));
    const ends = vi.fn();
    const answers = sockets.map((socket) => once(socket.on('end', ends), 'data'));
    // All requests wait for the server's next turn.
    for (const [at, socket] of sockets.entries()) socket.write(upgradeRequest(at % 2 === 0 ? 'close' : 'Upgrade'));
    for (const [answer] of await Promise.all(answers)) expect(String(answer)).toContain('101 Switching Protocols');
    const client = await connect();
    client.subscribe();
    await client.waitForCount(2);
    expect(ends).not.toHaveBeenCalled();
    for (const socket of sockets) socket.destroy();
  });
});

describe('subscribing', () => {
  beforeEach(() => start(0));

  it('acknowledges first, then replays the newest grouped book as JSON in JSON', async () => {
    const client = await connect();
    client.subscribe({ grouping: 100 });
    await client.waitForCount(2);
    expect(client.received[0]).toEqual(ACKNOWLEDGED);
    expect(client.received[1]?.channel).toBe('orderbook_perp_0_grouped_100');
    const [book] = client.data<BookData>('orderbook_perp_0_grouped_100');
    expect(book).toMatchObject({
      bids: [
        { price: '81110000', size: '1000000000', sources: { dlob: '1000000000' } },
        { price: '80260000', size: '6602100000', sources: { dlob: '400000000', vamm: '6202100000' } },
      ],
      asks: [{ price: '81140000', size: '1000000000', sources: { vamm: '1000000000' } }],
      marketName: 'SOL-PERP',
      marketType: 'perp',
      marketIndex: 0,
      slot: 487,
      markPrice: '81122330',
      bestBidPrice: '81114210',
      bestAskPrice: '81130450',
      oracle: 81_122_330,
    });
  });

  it('echoes the text as sent and resolves names in any letter case', async () => {
    const client = await connect();
    client.send({ type: 'SUBSCRIBE', channel: 'OrderBook', market: 'sol-perp', marketType: 'PERP', grouping: 100 });
    await client.waitForCount(2);
    expect(client.received[0]?.message).toBe(
      'Subscribe received for channel: OrderBook, market: sol-perp, marketType: PERP',
    );
    expect(client.received[1]?.channel).toBe('orderbook_perp_0_grouped_100');
  });

  it('replays on every subscribe, and repeated ones do not double the stream', async () => {
    const client = await connect();
    client.subscribe();
    client.subscribe();
    await client.settle();
    expect(client.data(BOOK)).toHaveLength(2);
    await stage.books(diff(2, 488));
    await until(() => client.data(BOOK).length === 3);
    await client.settle();
    expect(client.data<BookData>(BOOK).map(({ slot }) => slot)).toEqual([487, 487, 488]);
  });

  it('answers `Error subscribing to channel` for an unknown market, and keeps the socket open', async () => {
    const client = await connect();
    client.subscribe({ channel: 'trades', market: 'NOPE-PERP' });
    await client.settle();
    expect(client.received).toEqual([{ channel: 'trades', error: 'Error subscribing to channel' }]);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
  });

  it('closes with 1003 for an unknown channel', async () => {
    const client = await connect();
    client.subscribe({ channel: 'candles' });
    await until(() => client.closed !== null);
    expect(client.closed?.code).toBe(1003);
  });

  it('bounds the channels of one connection', async () => {
    const markets = Array.from({ length: 260 }, (_, index) => ({ index: index + 10 }));
    const { marketView } = await import('../../test/support/api/market-views.ts');
    await stage.markets(
      markets.map(({ index }) => marketView({ marketIndex: index, symbol: `M${index}-PERP`, oraclePrice: null })),
    );
    const client = await connect();
    await eventually(async () => {
      client.subscribe({ market: 'M269-PERP' });
      await client.settle();
      expect(client.received.at(-1)?.message).toBeDefined();
    });
    for (const { index } of markets) {
      for (const grouping of [1, 10, 100, 500]) client.subscribe({ market: `M${index}-PERP`, grouping });
    }
    await client.settle();
    expect(client.received.filter(({ error }) => error === 'Error subscribing to channel')).toHaveLength(40);
    expect(client.closed).toBeNull();
  });
});

describe('the stream', () => {
  it('brings each change to every subscriber in slot order, also with replays in between', async () => {
    await start(0);
    const client = await connect();
    client.subscribe();
    for (let seq = 2; seq <= 40; seq += 1) {
      await stage.books(diff(seq, 486 + seq));
      if (seq % 5 === 0) client.subscribe();
    }
    await until(() => client.data<BookData>(BOOK).at(-1)?.slot === 526);
    const slots = client.data<BookData>(BOOK).map(({ slot }) => slot);
    expect(slots).toEqual([...slots].sort((a, b) => a - b));
  });

  it('conflates within a tick: the first change at once, the newest at the end of the tick', async () => {
    await start(200);
    const client = await connect();
    client.subscribe();
    await client.settle();
    for (let seq = 2; seq <= 20; seq += 1) {
      await stage.books(diff(seq, 486 + seq));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => client.data<BookData>(BOOK).at(-1)?.slot === 506);
    const slots = client.data<BookData>(BOOK).map(({ slot }) => slot);
    expect(slots.slice(0, 2)).toEqual([487, 488]);
    expect(slots.length).toBeLessThan(10);
  });

  it('brings changes of several markets within a tick in one write', async () => {
    const tickMs = 50;
    await start(tickMs);
    const markets = [{ marketIndex: 0 }, { marketIndex: 1 }, { marketType: 'spot' as const, marketIndex: 1 }];
    await stage.books(...markets.map((market) => snapshot(market)));
    const writes: number[] = [];
    const open = vi.spyOn(Sessions.prototype, 'open').mockImplementationOnce(function (this: Sessions, socket) {
      const cork = socket.cork.bind(socket);
      Object.assign(socket, {
        cork: (write: () => void) => {
          writes.push(performance.now());
          return cork(write);
        },
      });
      this.open(socket);
    });
    const client = await connect();
    open.mockRestore();
    for (const market of ['SOL-PERP', 'BTC-PERP']) {
      for (const grouping of [1, 100]) client.subscribe({ market, grouping });
    }
    client.subscribe({ market: 'SOL', marketType: 'spot' });
    await client.settle();
    writes.length = 0;
    const receivedBefore = client.received.length;
    const beganMs = performance.now();
    for (let seq = 2; seq <= 40; seq += 1) {
      for (const market of markets) {
        await stage.books(diff(seq, 486 + seq, market));
      }
      await new Promise((resolve) => setTimeout(resolve, 9));
    }
    await until(() => client.data<BookData>('orderbook_spot_1_grouped_1').at(-1)?.slot === 526);
    await client.settle();
    const ticks = (performance.now() - beganMs) / tickMs;
    expect(writes.length).toBeLessThanOrEqual(ticks + 2);
    expect(client.received.length - receivedBefore).toBeGreaterThan(3 * writes.length);
  });

  it('serialises a book once per channel and change, whatever the number of subscribers', async () => {
    await start(0);
    const many = await Promise.all(Array.from({ length: 20 }, () => connect()));
    for (const client of many) client.subscribe();
    await Promise.all(many.map((client) => client.settle()));
    const before = await metricTotal(context.metrics, 'slotbook_gateway_renderings_total');
    await stage.books(diff(2, 488));
    await Promise.all(many.map((client) => until(() => client.data(BOOK).length === 2)));
    expect(await metricTotal(context.metrics, 'slotbook_gateway_renderings_total')).toBe(before + 1);
    expect(await metricTotal(context.metrics, 'slotbook_gateway_connections')).toBe(20);
  });
});

describe('trades', () => {
  beforeEach(() => start(0));

  it('publishes each new fill once, in whole units, without members that do not apply', async () => {
    const client = await connect();
    client.subscribe({ channel: 'trades' });
    await client.settle();
    const amm = { maker: null, makerFee: null, makerOrderId: null, makerOrderDirection: null };
    await stage.trades(
      trade(1n),
      trade(1n),
      trade(2n, {
        ...amm,
        makerOrderBaseAssetAmount: null,
        makerOrderCumulativeBaseAssetAmountFilled: null,
        makerOrderCumulativeQuoteAssetAmountFilled: null,
        referrerReward: 1500,
      }),
      trade(9n, { marketIndex: 1 }),
    );
    await until(() => client.data('trades_perp_0').length === 2);
    const [first, second] = client.data<Record<string, unknown>>('trades_perp_0');
    expect(first).toEqual({
      ts: 1_790_000_123,
      marketIndex: 0,
      marketType: 'perp',
      takerFee: 0.078855,
      makerFee: -0.005632,
      quoteAssetAmountSurplus: 0,
      baseAssetAmountFilled: 1.5,
      quoteAssetAmountFilled: 225.3,
      taker: '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi',
      takerOrderId: 3,
      takerOrderDirection: 'long',
      takerOrderBaseAssetAmount: 2,
      takerOrderCumulativeBaseAssetAmountFilled: 1.5,
      takerOrderCumulativeQuoteAssetAmountFilled: 225.3,
      maker: '8qbHbw2BbbTHBW1sbeqakYXVKRQM8Ne7pLK7m6CVfeR',
      makerOrderId: 4,
      makerOrderDirection: 'short',
      makerOrderBaseAssetAmount: 1.5,
      makerOrderCumulativeBaseAssetAmountFilled: 1.5,
      makerOrderCumulativeQuoteAssetAmountFilled: 225.3,
      oraclePrice: 150.18,
      referrerReward: 0,
      txSig: '5'.repeat(88),
      slot: 500,
      fillRecordId: 1,
      action: 'fill',
      actionExplanation: 'orderFilledWithMatch',
      bitFlags: 0,
    });
    const none = { makerOrderBaseAssetAmount: 0, makerFee: 0, quoteAssetAmountSurplus: 0 };
    expect(second).toMatchObject({ fillRecordId: 2, referrerReward: 0.0015, ...none });
    for (const absent of ['maker', 'makerOrderId', 'makerOrderDirection', 'filler']) {
      expect(second).not.toHaveProperty(absent);
    }
  });
});

describe('connections', () => {
  beforeEach(() => start(0));

  it('closes with 1008 a client that leaves more than 300,000 bytes unread, and others notice nothing', async () => {
    const lagging = await connect();
    const reading = await connect();
    for (const client of [lagging, reading]) client.subscribe();
    await Promise.all([lagging.settle(), reading.settle()]);
    lagging.socket.pause();
    const prices = Array.from({ length: 400 }, (_, index) => ({ price: 90_000_000 - index * 100, dlob: 1n, vamm: 0n }));
    await stage.books(diff(2, 488, { bids: prices }));
    let seq = 3;
    while ((await metricTotal(context.metrics, 'slotbook_gateway_closes_total')) < 2 && seq < 20_000) {
      await stage.books(...Array.from({ length: 20 }, () => diff(seq, 486 + seq++)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    lagging.socket.resume();
    await until(() => lagging.closed !== null);
    expect(lagging.closed).toEqual({ code: 1008, reason: 'Buffer overflow' });
    await until(() => reading.data<BookData>(BOOK).at(-1)?.slot === 485 + seq);
    expect(reading.closed).toBeNull();
  });

  it('end with a message above the payload bound, and the gateway keeps serving others', async () => {
    const client = await connect();
    client.send('x'.repeat(MAX_PAYLOAD_BYTES));
    await client.settle();
    client.send('x'.repeat(MAX_PAYLOAD_BYTES + 1));
    await until(() => client.closed !== null);
    expect(client.closed).toEqual({ code: 1006, reason: '' });
    const next = await connect();
    next.subscribe();
    await next.waitForCount(2);
  });

  it('are refused outside /ws', async () => {
    await expect(FeedClient.connect(url('gateway').replace('/ws', '/other'))).rejects.toThrow('404');
    await expect(FeedClient.connect(url('orderbook').replace('/ws', '/other'))).rejects.toThrow('404');
  });

  it('work on the REST port, with and without the prefix', async () => {
    for (const path of ['/ws', '/dlob/ws', '/ws?x=1']) {
      const client = await FeedClient.connect(url('orderbook').replace('/ws', path));
      clients.push(client);
      client.subscribe();
      await client.waitForCount(2);
      expect(client.received[0]).toEqual(ACKNOWLEDGED);
    }
  });

  it('survive any mix of garbage and requests', async () => {
    const piece = fc.oneof(
      fc.string(),
      fc.json(),
      fc.uint8Array({ maxLength: 300 }),
      fc.record(
        {
          type: fc.constantFrom('subscribe', 'unsubscribe', 'SUBSCRIBE', 'x'),
          channel: fc.oneof(fc.constantFrom('orderbook', 'trades', 'priorityfees', 'nope', ''), fc.jsonValue()),
          market: fc.oneof(fc.constantFrom('SOL-PERP', 'SOL', 'x'), fc.jsonValue()),
          marketType: fc.oneof(fc.constantFrom('perp', 'SPOT'), fc.jsonValue()),
          grouping: fc.oneof(fc.constantFrom(1, 10, '500'), fc.jsonValue()),
        },
        { requiredKeys: [] },
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
        const client = await connect();
        for (const one of pieces) {
          if (client.socket.readyState !== WebSocket.OPEN) break;
          client.socket.send(one instanceof Uint8Array || typeof one === 'string' ? one : JSON.stringify(one));
        }
        client.socket.close();
        await until(() => client.closed !== null);
        expect([1000, 1003, 1005, 1006]).toContain(client.closed?.code);
      }),
      { numRuns: 60 },
    );
    const probe = await connect();
    probe.subscribe();
    await probe.waitForCount(2);
    expect(probe.received[0]).toEqual(ACKNOWLEDGED);
    await until(() => clients.filter(({ closed }) => closed === null).length === 1);
    expect(await metricTotal(context.metrics, 'slotbook_gateway_connections')).toBe(1);
  });
});

describe('starting and stopping', () => {
  it('refuses a port that is taken and leaves nothing running', async () => {
    await start(0);
    const gatewayPort = Number(new URL(url('gateway')).port);
    await expect(startOrderBook(stage.context({ gatewayPort }))).rejects.toThrow('is taken by another process');
  });

  it('ends every connection on stop and can start on the same ports again', async () => {
    stage = new Stage();
    await stage.markets();
    await stage.books(snapshot());
    const [gatewayPort, orderbookPort = 0] = await freePorts(2);
    const ports = { gatewayPort, orderbookPort };
    role = await startOrderBook(stage.context(ports));
    const direct = await connect();
    const viaRest = await connect('orderbook');
    await role.stop();
    await until(() => direct.closed !== null && viaRest.closed !== null);
    role = await startOrderBook(stage.context(ports));
    const again = await connect('orderbook');
    again.subscribe();
    await again.waitForCount(1);
    expect(again.received[0]).toEqual(ACKNOWLEDGED);
  });
});
