// The published WebSocket protocol, rule by rule, on real sockets of one server: docs/internals/order-book-server.md,
// "WebSocket requests" and "WebSocket messages". Clients that do not read: server.test.ts and connection.test.ts.

import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { metricTotal, type RoleContext } from '../../platform/index.ts';
import { encodeMessage, type MarketType, marketKey, TOPICS } from '../../schemas/index.ts';
import { FEE_LEVELS, FEES } from '../../test/support/api/fee-levels.ts';
import { FeedClient } from '../../test/support/api/feed-client.ts';
import { diff, Stage, snapshot, trade, until } from '../../test/support/api/stage.ts';
import { type RunningGateway, startGateway } from './server.ts';

interface Book {
  readonly slot: number;
  readonly bids: { price: string; size: string }[];
  readonly asks: { price: string; size: string }[];
}

const SUBSCRIBE = { type: 'subscribe', channel: 'orderbook', market: 'SOL-PERP', marketType: 'perp' };
const BOOK = 'orderbook_perp_0_grouped_1';
const REFUSED = { code: 1003, reason: '{"error":"Error subscribing to channel"}' };

let stage: Stage;
let context: RoleContext;
let gateway: RunningGateway;
let clients: FeedClient[] = [];
let seq = 1;
let fills = 1n;

beforeAll(async () => {
  stage = new Stage();
  await stage.markets();
  await stage.books(snapshot(), snapshot({ marketIndex: 1 }), snapshot({ marketType: 'spot', marketIndex: 1 }));
  context = stage.context({ bookTickMs: 0 });
  gateway = await startGateway(context);
  const probe = await connect();
  await until(() => {
    probe.send({ ...SUBSCRIBE, market: 'SOL', marketType: 'spot' });
    return probe.data('orderbook_spot_1_grouped_1').length > 0;
  });
});
afterEach(async () => {
  for (const { socket } of clients) socket.terminate();
  clients = [];
  await until(async () => (await metricTotal(context.metrics, 'slotbook_gateway_connections')) === 0);
});
afterAll(() => gateway.stop());

async function connect(): Promise<FeedClient> {
  const client = await FeedClient.connect(gateway.endpoints.gateway ?? '');
  clients.push(client);
  return client;
}

/** Sends messages and returns the client once it has received all their effects. */
async function send(...messages: readonly unknown[]): Promise<FeedClient> {
  const client = await connect();
  for (const message of messages) client.send(message);
  await client.settle();
  return client;
}

async function closedBy(message: unknown): Promise<FeedClient> {
  const client = await connect();
  client.send(message);
  await until(() => client.closed !== null);
  return client;
}

/** A new slot in the three books. */
async function change(): Promise<number> {
  seq += 1;
  const slot = 486 + seq;
  const markets = [{}, { marketIndex: 1 }, { marketType: 'spot' as MarketType, marketIndex: 1 }];
  await stage.books(...markets.map((market) => diff(seq, slot, market)));
  return slot;
}

async function fill(): Promise<bigint> {
  fills += 1n;
  await stage.trades(trade(fills), trade(fills));
  return fills;
}

async function fees(): Promise<void> {
  await stage.log.append(TOPICS.feeViews, [{ key: marketKey(FEES), value: encodeMessage('FeeLevels', FEES) }]);
}

describe('subscription lifecycle', () => {
  it('answers a subscribe with an acknowledgement, and at once with the newest snapshot', async () => {
    const { received } = await send(SUBSCRIBE);
    expect(received.map(({ message, channel }) => message ?? channel)).toEqual([
      'Subscribe received for channel: orderbook, market: SOL-PERP, marketType: perp',
      BOOK,
    ]);
  });

  it.each([
    { ...SUBSCRIBE, market: 'NOPE-PERP' },
    { ...SUBSCRIBE, marketType: 'prediction' },
    { ...SUBSCRIBE, marketType: undefined },
    { ...SUBSCRIBE, market: ['SOL-PERP'] },
  ])(
    'answers `Error subscribing to channel` for an unknown market or market type, and keeps the socket open: %j',
    async (message) => {
      const client = await send(message, SUBSCRIBE);
      expect(client.received[0]).toEqual({ channel: 'orderbook', error: 'Error subscribing to channel' });
      expect([client.closed, client.data(BOOK).length]).toEqual([null, 1]);
    },
  );

  it('closes with 1003 for an unknown channel name', async () => {
    const { closed, received } = await closedBy({ ...SUBSCRIBE, channel: 'candles' });
    expect([closed, received]).toEqual([REFUSED, []]);
  });

  it('stops the stream after an unsubscribe with the same members', async () => {
    const channels = ['orderbook', 'orderbook_indicative', 'trades', 'priorityfees'];
    const client = await send(...channels.map((channel) => ({ ...SUBSCRIBE, channel, grouping: 100 })));
    for (const channel of channels) client.send({ ...SUBSCRIBE, type: 'unsubscribe', channel, grouping: 100 });
    await client.settle();
    const before = client.received.length;
    await Promise.all([change(), fill(), fees()]);
    await client.settle();
    expect(client.received).toHaveLength(before);
  });

  it('answers nothing to a message without valid JSON or `type`, in any state', async () => {
    const malformed = [
      '',
      'hello',
      'null',
      '[]',
      '7',
      '{}',
      '{"channel":"candles"}',
      '{"type":7}',
      '{"type":"ping"}',
      '{"subscribe"',
    ];
    const client = await send(...malformed, SUBSCRIBE, ...malformed);
    expect([client.received.length, client.closed]).toEqual([2, null]);
    const slot = await change();
    await until(() => client.data<Book>(BOOK).at(-1)?.slot === slot);
  });
});

describe('published limits', () => {
  it.each([
    [1, '81114200', '81130500'],
    [10, '81114000', '81131000'],
    [100, '81110000', '81140000'],
    [500, '81100000', '81150000'],
    [1000, '81100000', '81200000'],
  ])('grouping value %i has its own response channel and width of level', async (grouping, bid, ask) => {
    const client = await send({ ...SUBSCRIBE, grouping }, { ...SUBSCRIBE, channel: 'orderbook_indicative', grouping });
    const name = `orderbook_perp_0_grouped_${grouping}`;
    expect(client.received.flatMap(({ channel }) => channel ?? [])).toEqual([name, `${name}_indicative`]);
    const [book] = client.data<Book>(name);
    expect([book?.bids[0]?.price, book?.asks[0]?.price]).toEqual([bid, ask]);
  });

  it.each([undefined, null, 0, 2, 50, -100, '', 'abc', {}, [100], true])(
    'takes a grouping of 1 for %j',
    async (grouping) => {
      expect((await send({ ...SUBSCRIBE, grouping })).received.at(1)?.channel).toBe(BOOK);
    },
  );
});

describe('connection', () => {
  it('takes connections at /ws alone, with or without a query', async () => {
    const url = gateway.endpoints.gateway ?? '';
    for (const path of ['/', '/ws2', '/wsx', '/dlob']) {
      await expect(FeedClient.connect(url.replace('/ws', path))).rejects.toThrow('404');
    }
    clients.push(await FeedClient.connect(`${url}?x=1`));
  });

  it('sends no welcome message, and needs no authentication', async () => {
    expect((await send()).received).toEqual([]);
  });

  it('a plain GET of /ws gets no feed', async () => {
    const url = (gateway.endpoints.gateway ?? '').replace('ws:', 'http:');
    const status = await new Promise((resolve) => {
      request(url, (response) => resolve(response.resume().statusCode)).end();
    });
    expect(status).toBe(404);
  });
});

describe('client messages', () => {
  it.each(['Subscribe', 'SUBSCRIBE', 'sUBSCRIBE'])('reads the type in any letter case: %s', async (type) => {
    expect((await send({ ...SUBSCRIBE, type })).received).toHaveLength(2);
  });

  it.each([
    [{ marketType: 'PERP', market: 'sol-perp', channel: 'OrderBook' }, BOOK],
    [{ marketType: 'Spot', market: 'sol' }, 'orderbook_spot_1_grouped_1'],
    [{ channel: 'ORDERBOOK_Indicative' }, `${BOOK}_indicative`],
    [{ grouping: '100' }, 'orderbook_perp_0_grouped_100'],
    [{ grouping: '100abc' }, 'orderbook_perp_0_grouped_100'],
    [{ grouping: ' 500 ' }, 'orderbook_perp_0_grouped_500'],
    [{ grouping: 10.9 }, 'orderbook_perp_0_grouped_10'],
    [{ includeVamm: true, includeIndicative: true, grouping: 100 }, 'orderbook_perp_0_grouped_100'],
  ])(
    'reads names in any letter case and a grouping by its leading digits, and ignores other members: %j',
    async (members, name) => {
      expect((await send({ ...SUBSCRIBE, ...members })).received.at(1)?.channel).toBe(name);
    },
  );

  it.each([[''], [undefined], [null], [7], [['orderbook']], [{}]])(
    'closes with 1003 for a channel that is missing, empty or no text, also on unsubscribe: %j',
    async (channel) => {
      for (const type of ['subscribe', 'unsubscribe']) {
        expect((await closedBy({ ...SUBSCRIBE, type, channel })).closed).toEqual(REFUSED);
      }
    },
  );

  it.each([
    ['Trades', { channel: 'Trades', market: 'NOPE-PERP' }],
    ['orderbook', { marketType: 'prediction' }],
    ['candles', { channel: 'candles' }],
  ])(
    'answers `Error unsubscribing from channel` to an unsubscribe from an unknown stream: %s',
    async (channel, members) => {
      const client = await send({ ...SUBSCRIBE, type: 'unsubscribe', ...members });
      expect(client.received).toEqual([{ channel, error: 'Error unsubscribing from channel' }]);
      expect(client.closed).toBeNull();
    },
  );
});

describe('subscribe sequence', () => {
  it('repeating a subscribe replays again and does not duplicate delivery', async () => {
    const client = await send(SUBSCRIBE, SUBSCRIBE, SUBSCRIBE);
    expect(client.data(BOOK)).toHaveLength(3);
    const slot = await change();
    await until(() => client.data<Book>(BOOK).at(-1)?.slot === slot);
    await client.settle();
    expect(client.data(BOOK)).toHaveLength(4);
  });

  it('acknowledges before any data, with the values as the client sent them', async () => {
    const client = await send({ ...SUBSCRIBE, channel: 'OrderBook', market: 'sol-perp', marketType: 'Perp' });
    expect(client.received[0]).toEqual({
      message: 'Subscribe received for channel: OrderBook, market: sol-perp, marketType: Perp',
    });
  });

  it('replays no missing book, and never trades or fees', async () => {
    await Promise.all([fill(), fees()]);
    const quiet = { ...SUBSCRIBE, market: 'USDT', marketType: 'spot' };
    const client = await send(quiet, { ...SUBSCRIBE, channel: 'trades' }, { ...SUBSCRIBE, channel: 'priorityfees' });
    expect(client.received.map(({ message }) => typeof message)).toEqual(['string', 'string', 'string']);
  });

  it('unsubscribing from a channel never subscribed is a no-op, unsubscribe has no acknowledgement', async () => {
    const client = await send(SUBSCRIBE, { ...SUBSCRIBE, type: 'unsubscribe', grouping: 10 });
    const slot = await change();
    await until(() => client.data<Book>(BOOK).at(-1)?.slot === slot);
    expect(client.received).toHaveLength(3);
  });

  it('closing the socket removes every subscription: nothing is rendered for it', async () => {
    const client = await send(SUBSCRIBE);
    client.socket.terminate();
    await until(async () => (await metricTotal(context.metrics, 'slotbook_gateway_connections')) === 0);
    const before = await metricTotal(context.metrics, 'slotbook_gateway_renderings_total');
    await change();
    expect(await metricTotal(context.metrics, 'slotbook_gateway_renderings_total')).toBe(before);
  });
});

describe('envelope and channel names', () => {
  it.each([
    ['orderbook', 'orderbook_perp_0_grouped_100'],
    ['orderbook_indicative', 'orderbook_perp_0_grouped_100_indicative'],
    ['trades', 'trades_perp_0'],
    ['priorityfees', 'priorityFees_perp_0'],
  ])('%s comes as `%s`, `data` is JSON text in JSON', async (channel, name) => {
    const client = await send({ ...SUBSCRIBE, channel, grouping: 100 });
    await Promise.all([change(), fill(), fees()]);
    await until(() => client.data(name).length > 0);
    const sent = client.received.find((one) => one.channel !== undefined);
    expect(sent).toEqual({ channel: name, data: expect.any(String) });
    expect(JSON.parse(sent?.data ?? '')).toBeTypeOf('object');
  });

  it('one socket carries many markets', async () => {
    const spot = { ...SUBSCRIBE, market: 'SOL', marketType: 'spot' };
    const client = await send(SUBSCRIBE, { ...SUBSCRIBE, market: 'BTC-PERP' }, spot);
    const slot = await change();
    for (const name of [BOOK, 'orderbook_perp_1_grouped_1', 'orderbook_spot_1_grouped_1']) {
      await until(() => client.data<Book>(name).at(-1)?.slot === slot);
      expect(client.data(name)).toHaveLength(2);
    }
  });
});

describe('slots and reconnects', () => {
  it('subscribe after reconnect works in any order and any number, slots never fall', async () => {
    const groupings = [1, 10, 100, 500, 1000];
    const subscribes = ['SOL-PERP', 'BTC-PERP'].flatMap((market) =>
      ['orderbook', 'orderbook_indicative'].flatMap((channel) =>
        groupings.map((grouping) => ({ ...SUBSCRIBE, market, channel, grouping })),
      ),
    );
    const lasts = new Map<string, number>();
    for (const order of [
      subscribes,
      subscribes.toReversed(),
      [...subscribes.slice(7), ...subscribes, ...subscribes.slice(0, 7)],
    ]) {
      const client = await send(...order);
      expect(client.received.filter(({ message }) => message)).toHaveLength(order.length);
      expect(client.received.filter(({ data }) => data)).toHaveLength(order.length);
      const slot = await change();
      await until(() => client.received.filter(({ data }) => data).length === order.length + subscribes.length);
      for (const { channel = '', data } of client.received) {
        if (!data) continue;
        const book = JSON.parse(data) as Book;
        expect(book.slot).toBeGreaterThanOrEqual(lasts.get(channel) ?? 0);
        lasts.set(channel, book.slot);
      }
      expect([...lasts.values()]).toEqual(subscribes.map(() => slot));
      client.socket.terminate();
    }
  });
});

describe('payloads of trades and fees', () => {
  it('trades: one message per fill, `data` is one object, duplicates are suppressed', async () => {
    const client = await send({ ...SUBSCRIBE, channel: 'trades' });
    const ids = [await fill(), await fill()];
    await until(() => client.data('trades_perp_0').length === 2);
    await client.settle();
    expect(client.data<{ fillRecordId: number }>('trades_perp_0').map(({ fillRecordId }) => fillRecordId)).toEqual(
      ids.map(Number),
    );
  });

  it('priorityfees: the flat object of six levels, on each refresh, changed or not', async () => {
    const client = await send({ ...SUBSCRIBE, channel: 'priorityfees' });
    await fees();
    await fees();
    await until(() => client.data('priorityFees_perp_0').length === 2);
    expect(client.data('priorityFees_perp_0')).toEqual([FEE_LEVELS, FEE_LEVELS]);
  });
});
