// `/asyncapi.json` matches the sockets: every documented message is sent, and every accepted message is documented.
// Clients of all other tests check each sent message against it too (test/support/api/contracts.ts).

import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { logAt } from '../../platform/index.ts';
import { changeRecord } from '../../processors/account-orders/records.ts';
import { encodeMessage, marketKey, TOPICS } from '../../schemas/index.ts';
import { asyncApiFaults, checkedName, documented, requestNames } from '../../test/support/api/contracts.ts';
import { FEES } from '../../test/support/api/fee-levels.ts';
import { FeedClient } from '../../test/support/api/feed-client.ts';
import { MARKETS } from '../../test/support/api/market-views.ts';
import { QuoteMaker, quoteOf } from '../../test/support/api/quote-maker.ts';
import { diff, MAKER_A, MAKER_B, Stage, snapshot, trade, until } from '../../test/support/api/stage.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { MESSAGE_EXAMPLES } from '../../test/support/schemas/message-examples.ts';
import { base58 } from '../http/base58.ts';
import { QUOTE_ERRORS } from '../http/errors.ts';
import { startOrderBook } from '../orderbook/start.ts';
import { MarketRegistry } from '../views/registry.ts';
import { readAccountRequest } from './account-feed/request.ts';
import { asyncApi } from './asyncapi.ts';
import { readBookRequest } from './feed/request.ts';
import { readAuthAnswer, readQuotes } from './quotes/messages.ts';
import { readRequest } from './requests.ts';
import { readTradeRequest } from './trade-feed/request.ts';

let stop: () => Promise<void> = async () => {};
afterEach(() => stop());

const names = (socket: 'feed' | 'quotes', received: readonly object[]): string[] =>
  received.map((message) => checkedName(socket, message as Record<string, unknown>));

describe('/asyncapi.json', () => {
  it('is valid AsyncAPI 3: references resolve, payloads use its JSON Schema dialect', () => {
    const document = asyncApi() as Record<string, unknown> & { channels: Record<string, { messages: object }> };
    expect(document).toMatchObject({ asyncapi: '3.0.0', info: { title: expect.any(String), version: '1.0.0' } });
    expect(asyncApiFaults(document)).toEqual([]);
  });

  it('names sockets that exist', async () => {
    const stage = new Stage();
    await stage.markets();
    const role = await startOrderBook(stage.context());
    stop = () => role.stop();
    const answer = await fetch(`${role.endpoints.orderbook}/asyncapi.json`);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const served = (await answer.json()) as { channels: Record<string, { address: string }> };
    expect(served).toEqual(asyncApi());
    expect(Object.values(served.channels).map(({ address }) => address)).toEqual([
      new URL(role.endpoints.gateway ?? '').pathname,
      new URL(role.endpoints.quotes ?? '').pathname,
    ]);
  });

  it('documents only messages that /ws sends', async () => {
    const stage = new Stage();
    const processed = logAt(stage.log, 'processed');
    await stage.markets();
    await stage.books(snapshot());
    await processed.append(
      TOPICS.marketViews,
      MARKETS.map((view) => ({ key: marketKey(view), value: encodeMessage('MarketView', view) })),
    );
    const settings = { processedBooks: 'on', source: 'rpc', rpcUrl: 'http://127.0.0.1:1' } as const;
    const role = await startOrderBook(stage.context({ bookTickMs: 0, ...settings }));
    stop = () => role.stop();
    await eventually(async () => expect((await fetch(`${role.endpoints.orderbook}/startup`)).status).toBe(200));
    const client = await FeedClient.connect(role.endpoints.gateway ?? '');
    for (const channel of ['orderbook', 'orderbook_indicative', 'trades', 'priorityfees'])
      client.subscribe({ channel });
    client.subscribe({ market: 'NOPE' });
    for (const level of ['l2', 'l3']) client.subscribe({ channel: 'book', level, checksum: true, id: level });
    client.subscribe({ channel: 'book', level: 'l3', cause: true });
    client.subscribe({ channel: 'book', depth: 5, resume: { epoch: 1, seq: 1 } });
    client.subscribe({ channel: 'book', depth: 0, id: 7 });
    client.subscribe({ channel: 'book', market: '*', marketType: '*', conflation: 50, resume: {} });
    client.send({ type: 'unsubscribe', channel: 'book', market: 'SOL-PERP', depth: 5 });
    client.subscribe({ channel: 'trades.v2', id: 8 });
    client.subscribe({ channel: 'trades.v2', commitment: 'processed' });
    const account = base58(MAKER_A);
    const resume = { [`account_${account}_0`]: { epoch: 0, seq: 0 } };
    client.subscribe({ channel: 'account', account, resume, queue: true });
    client.subscribe({ channel: 'account', id: 9 });
    client.send({ type: 'unsubscribe', channel: 'account', account: base58(MAKER_B) });
    client.subscribe({
      channel: 'trades.v2',
      market: '*',
      marketType: null,
      resume: { perp_0_trades: { epoch: 0, seq: 0 } },
    });
    client.subscribe({ channel: 'trades.v2', market: 'NOPE' });
    client.send({ type: 'unsubscribe', channel: 'trades.v2', market: 'USDT', marketType: 'spot' });
    await client.settle();
    const { bidOrders } = snapshot();
    const gone = [{ maker: new Uint8Array(32).fill(2), orderId: 7, source: 'user' as const }];
    await stage.books(diff(2, 488, { bidOrders: bidOrders.slice(0, 1), gone }));
    await stage.books(diff(3, 489, { bids: [{ price: 81_000_000, dlob: 0n, vamm: 0n }] }));
    await stage.trades(trade(1n), trade(2n, { maker: null, makerFee: null, makerOrderId: null, takerFee: null }));
    const fill = encodeMessage('TradeView', trade(1n));
    const withdrawal = encodeMessage('TradeWithdrawal', { ...MESSAGE_EXAMPLES.TradeWithdrawal, marketIndex: 0 });
    await processed.append(
      TOPICS.tradeViews,
      [fill, withdrawal].map((value) => ({ key: 'perp-0', value })),
    );
    await stage.log.append(TOPICS.orderChanges, [
      changeRecord({ ...MESSAGE_EXAMPLES.OrderChange, user: MAKER_A, part: 0 }),
    ]);
    await stage.log.append(TOPICS.feeViews, [{ key: marketKey(FEES), value: encodeMessage('FeeLevels', FEES) }]);
    const heartbeats = () => names('feed', client.received).filter((name) => name.endsWith('eartbeat'));
    await eventually(() => expect(new Set(heartbeats()).size).toBe(4));
    await role.stop();
    await until(() => client.closed !== null);
    expect(client.closed?.code).toBe(1012);
    expect([...new Set(names('feed', client.received))].sort()).toEqual([...documented('feed', 'send')].sort());
  });

  it('documents only messages that /quotes/ws sends, besides the heartbeat', async () => {
    const stage = new Stage();
    await stage.markets();
    const role = await startOrderBook(stage.context());
    stop = () => role.stop();
    const maker = await QuoteMaker.authenticated(role.endpoints.quotes ?? '');
    const market = { market_index: 0, market_type: 'perp' };
    for (const message of [
      'x',
      { ...market, market_type: 'spot', quotes: [] },
      { ...market, market_index: 77, quotes: [] },
      market,
      { ...market, quotes: Array.from({ length: 65 }, () => quoteOf(['1', '1'])) },
      { ...market, quotes: [quoteOf(['1', '1']), quoteOf(['x', '1'])] },
    ]) {
      maker.send(message);
    }
    // This stage's log is never busy or away, and its markets have one maker.
    const { busy, full, superseded, lapsed, notStored, ...reachable } = QUOTE_ERRORS;
    await until(() => maker.errors.length === Object.keys(reachable).length);
    expect(maker.errors.sort()).toEqual(Object.values(reachable).sort());
    for (const error of [busy, full, superseded, lapsed, notStored])
      expect(checkedName('quotes', { channel: 'quotes', error })).toBe('quoteError');
    maker.send({ ...market, id: 'a', quotes: [quoteOf(['1', '1'])] });
    await until(() => maker.received.some((message) => 'accepted' in message));
    const received = new Set(names('quotes', maker.received));
    maker.socket.terminate();
    // makers.test.ts checks the heartbeat on a fake clock.
    expect([...received, 'heartbeat'].sort()).toEqual([...documented('quotes', 'send')].sort());
  });
});

describe('messages of clients', () => {
  const markets = new MarketRegistry();
  for (const view of MARKETS) markets.put(view);

  const cased = (text: string) =>
    fc
      .func(fc.boolean())
      .map((isUpper) => [...text].map((letter, at) => (isUpper(at) ? letter.toUpperCase() : letter)).join(''));
  const word = (...texts: readonly string[]) => fc.constantFrom(...texts).chain(cased);
  const odd = fc.oneof(
    fc.constant(null),
    fc.integer(),
    fc.boolean(),
    fc.string({ maxLength: 8 }),
    fc.object({ maxDepth: 1 }),
  );
  /** Mostly correct values. */
  const mostly = (right: fc.Arbitrary<unknown>) =>
    fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: odd });
  const type = mostly(word('subscribe', 'unsubscribe'));
  const market = mostly(word('sol-perp', 'usdt', 'sol', '*'));
  const marketType = mostly(word('perp', 'spot', '*'));

  it('of a compatible channel are accepted exactly when they are documented', () => {
    const channel = mostly(word('orderbook', 'orderbook_indicative', 'trades', 'priorityfees'));
    const grouping = mostly(fc.constantFrom(1, 10, 100, '500', 1000));
    const message = fc.record({ type, channel, market, marketType, grouping }, { requiredKeys: ['type', 'channel'] });
    let accepted = 0;
    fc.assert(
      fc.property(message, (one) => {
        const request = readRequest(JSON.stringify(one), markets);
        const found = requestNames('feed', JSON.parse(JSON.stringify(one)));
        const isTaken = request.is === 'subscribe' || request.is === 'unsubscribe';
        if (isTaken) accepted += 1;
        if (isTaken) expect(found).toEqual([request.is]);
        // A documented message can only fail by an unlisted market.
        else if (found.length > 0) expect(request.is).toBe('unresolved');
      }),
      { numRuns: 3000 },
    );
    expect(accepted).toBeGreaterThan(300);
  });

  it('of the book channel are accepted exactly when they are documented', () => {
    const version = fc.record({ epoch: fc.nat(), seq: mostly(fc.nat()) });
    const byStream = fc.dictionary(fc.string({ maxLength: 9 }), version, { maxKeys: 2 });
    const orNull = (right: fc.Arbitrary<unknown>) => mostly(fc.option(right));
    const members = {
      market,
      marketType: orNull(marketType),
      level: orNull(word('l2', 'l3')),
      depth: orNull(fc.integer({ min: 0, max: 1001 })),
      conflation: orNull(fc.constantFrom(0, 50, 100, 400, 1000)),
      checksum: orNull(fc.oneof(fc.boolean(), fc.integer({ min: 0, max: 101 }))),
      cause: orNull(fc.boolean()),
      resume: orNull(fc.oneof(version, byStream)),
      id: fc.oneof(fc.string(), fc.integer(), fc.constant(null)),
    };
    const sparse = fc.record(members, { requiredKeys: ['market'] });
    let accepted = 0;
    fc.assert(
      fc.property(word('subscribe', 'unsubscribe'), sparse, (action, one) => {
        const message = JSON.parse(JSON.stringify({ type: action, channel: 'book', ...one })) as Record<
          string,
          unknown
        >;
        const name = action.toLowerCase() === 'subscribe' ? 'subscribe' : 'unsubscribe';
        const request = readBookRequest(name, message, markets);
        const found = requestNames('feed', message);
        if (request.is === 'error') {
          // The schema cannot express that the market is listed, the form of resume that fits it, or the choices that causes
          // need.
          if (found.length > 0) expect(['market', 'resume', 'cause']).toContain(request.code);
          return;
        }
        accepted += 1;
        expect(found).toEqual([name === 'subscribe' ? 'bookSubscribe' : 'bookUnsubscribe']);
      }),
      { numRuns: 4000 },
    );
    expect(accepted).toBeGreaterThan(300);
  });

  it('of the trades.v2 channel are accepted exactly when they are documented', () => {
    const version = fc.record({ epoch: fc.nat(), seq: mostly(fc.nat()) });
    const byStream = fc.dictionary(fc.string({ maxLength: 9 }), version, { maxKeys: 2 });
    const members = {
      market,
      marketType: mostly(fc.option(marketType)),
      commitment: mostly(fc.option(word('confirmed', 'processed'))),
      resume: mostly(fc.option(fc.oneof(version, byStream))),
      id: fc.oneof(fc.string(), fc.integer(), fc.constant(null)),
    };
    let accepted = 0;
    fc.assert(
      fc.property(
        fc.constantFrom('subscribe' as const, 'unsubscribe' as const),
        fc.record(members, { requiredKeys: ['market'] }),
        (action, one) => {
          const message = JSON.parse(JSON.stringify({ type: action, channel: 'trades.v2', ...one })) as Record<
            string,
            unknown
          >;
          const request = readTradeRequest(action, message, markets);
          const found = requestNames('feed', message);
          if (request.is === 'error') {
            // The schema cannot express that the market is listed, nor the form of resume that fits it.
            if (found.length > 0) expect(['market', 'resume']).toContain(request.code);
            return;
          }
          accepted += 1;
          expect(found).toEqual([action === 'subscribe' ? 'tradesSubscribe' : 'tradesUnsubscribe']);
        },
      ),
      { numRuns: 1500 },
    );
    expect(accepted).toBeGreaterThan(300);
  });

  it('of the account channel are accepted exactly when they are documented', () => {
    const version = fc.record({ epoch: fc.nat(), seq: mostly(fc.nat()) });
    const key = mostly(fc.constantFrom(base58(MAKER_A), base58(MAKER_B), 'x', ''));
    const members = {
      account: key,
      authority: key,
      resume: mostly(fc.option(fc.dictionary(fc.string({ maxLength: 9 }), version, { maxKeys: 2 }))),
      id: fc.oneof(fc.string(), fc.integer(), fc.constant(null)),
    };
    let accepted = 0;
    fc.assert(
      fc.property(
        fc.constantFrom('subscribe' as const, 'unsubscribe' as const),
        fc.record(members, { requiredKeys: [] }),
        (action, one) => {
          const message = JSON.parse(JSON.stringify({ type: action, channel: 'account', ...one })) as Record<
            string,
            unknown
          >;
          const request = readAccountRequest(action, message);
          const found = requestNames('feed', message);
          if (request.is === 'error') {
            // The schema of a key cannot express that it has 32 bytes.
            if (found.length > 0) expect(['account', 'resume']).toContain(request.code);
            return;
          }
          accepted += 1;
          expect(found).toEqual([action === 'subscribe' ? 'accountSubscribe' : 'accountUnsubscribe']);
        },
      ),
      { numRuns: 1500 },
    );
    expect(accepted).toBeGreaterThan(150);
  });

  it('of makers are documented when they are accepted without a malformed quote', () => {
    const whole = mostly(
      fc.oneof(fc.bigInt({ min: 1n, max: 10n ** 15n }).map(String), fc.nat(), fc.constantFrom(null, '')),
    );
    const quote = fc.record(
      {
        bid_price: whole,
        bid_size: whole,
        ask_price: whole,
        ask_size: whole,
        is_oracle_offset: mostly(fc.option(fc.boolean())),
      },
      { requiredKeys: [] },
    );
    const tooMany = fc.constant(Array.from({ length: 65 }, () => ({})));
    const market = {
      market_index: mostly(fc.integer({ min: 0, max: 70_000 })),
      market_type: mostly(word('perp', 'perp', 'perp', 'spot')),
    };
    const quotes = mostly(fc.oneof(fc.array(quote, { maxLength: 3 }), fc.array(quote, { maxLength: 3 }), tooMany));
    const flat = fc.tuple(fc.record(market), quote).map(([where, what]) => ({ ...where, ...what }));
    const message = fc.oneof(fc.record({ ...market, quotes }), fc.record({ ...market, quotes }), flat);
    const wholes = (value: unknown): boolean =>
      value === undefined ||
      value === null ||
      (typeof value === 'string' ? /^(-?\d{1,20})?$/.test(value) : Number.isSafeInteger(value));
    const accepted = { quotes: 0, flatQuote: 0 };
    fc.assert(
      fc.property(message, (one) => {
        const sent = JSON.parse(JSON.stringify(one)) as Record<string, unknown>;
        const read = readQuotes(sent);
        const found = requestNames('quotes', sent);
        if (read.is === 'refused') expect(found).toEqual([]);
        if (read.is === 'refused' || read.malformedAt !== null) return;
        // A price without a size, or a size without a price, is ignored.
        const name = 'quotes' in sent ? 'quotes' : 'flatQuote';
        const entries = name === 'quotes' ? (sent.quotes as Record<string, unknown>[]) : [sent];
        if (
          !entries.every((entry) =>
            ['bid_price', 'bid_size', 'ask_price', 'ask_size'].every((name) => wholes(entry[name])),
          )
        )
          return;
        accepted[name] += 1;
        expect(found).toEqual([name]);
      }),
      { numRuns: 3000 },
    );
    expect(Math.min(accepted.quotes, accepted.flatQuote)).toBeGreaterThan(100);
    const answer = { pubkey: '1'.repeat(32), signature: 'AAAA' };
    expect([readAuthAnswer(answer), requestNames('quotes', answer)]).toEqual([answer, ['authenticate']]);
  });
});
