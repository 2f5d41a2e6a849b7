// The quote socket end to end: from an authenticated maker to the books and fills that others receive.

import { PublicKey } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { INDICATIVE_MAKER, MAX_MAKERS_PER_MARKET, QUOTE_FRESH_MS } from '../../../processors/book/index.ts';
import { encodeMessage, type MakerQuotes, marketKey, TOPICS } from '../../../schemas/index.ts';
import { FeedClient } from '../../../test/support/api/feed-client.ts';
import { QuoteMaker, quoteOf, TestKey } from '../../../test/support/api/quote-maker.ts';
import { diff, MAKER_B, trade, until } from '../../../test/support/api/stage.ts';
import { eventually } from '../../../test/support/platform/eventually.ts';
import { QuoteStage } from '../../../test/support/quotes/quote-stage.ts';
import { QUOTE_ERRORS } from '../../http/errors.ts';
import { exchangeProgram, userAccount } from './indicative-keys.ts';

interface BookData {
  readonly ts: number;
  readonly slot: number;
  readonly bids: { price: string; size: string; sources: Record<string, string> }[];
  readonly asks: { price: string; size: string; sources: Record<string, string> }[];
  readonly bestBidPrice?: string;
}

const PLAIN = 'orderbook_perp_0_grouped_1';
const INDICATIVE = `${PLAIN}_indicative`;

let stage: QuoteStage;

beforeEach(() => {
  stage = new QuoteStage();
});

afterEach(() => stage.stop());

describe('a market maker', () => {
  beforeEach(() => stage.start());

  it('gets a nonce, proves its key, and gets an acknowledgement', async () => {
    const connected = await stage.stranger();
    expect(connected.received).toEqual([{ channel: 'auth', nonce: expect.stringMatching(/^\w{32,}$/) }]);
    connected.authenticate();
    await until(() => connected.received.length === 2);
    expect(connected.received[1]).toEqual({ channel: 'auth', message: 'Authenticated' });
  });

  it('is served and refused on the REST port too, with and without the prefix', async () => {
    const url = (stage.role.endpoints.orderbook ?? '').replace('http', 'ws');
    for (const path of ['/quotes/ws', '/dlob/quotes/ws']) {
      stage.makers.push(await QuoteMaker.authenticated(`${url}${path}`));
      await expect(QuoteMaker.connect(`${url}${path}`, new TestKey(), 'nonsense')).rejects.toThrow('400');
    }
    await expect(FeedClient.connect(`${url}/quotes`)).rejects.toThrow('404');
  });

  it('sees its quotes in the indicative book and nowhere else', async () => {
    const connected = await stage.maker();
    const client = await stage.feed();
    client.subscribe();
    client.subscribe({ channel: 'orderbook_indicative' });
    await until(() => client.data(INDICATIVE).length === 1);
    // The bid above the firm best bid is capped at it. The offset ask is at the oracle price 81122330 + 20000.
    connected.quote(quoteOf(['81120000', '5']), quoteOf(null, ['20000', '7'], true));
    await until(() => client.data(INDICATIVE).length === 2);
    const book = client.data<BookData>(INDICATIVE)[1];
    expect(book?.bids[0]).toEqual({
      price: '81114200',
      size: '1000000005',
      sources: { indicative: '5', dlob: '1000000000' },
    });
    expect(book?.asks[1]).toEqual({ price: '81142400', size: '7', sources: { indicative: '7' } });
    expect(book?.bestBidPrice).toBe('81114210');

    const l2 = await stage.get<BookData>('/l2?marketName=SOL-PERP&includeIndicative=TRUE');
    expect(l2.bids[0]?.sources).toEqual({ indicative: '5', dlob: '1000000000' });
    expect(l2.asks[1]).toEqual({ price: '81142330', size: '7', sources: { indicative: '7' } });
    const l3 = await stage.get<Record<'bids' | 'asks', Record<string, unknown>[]>>(
      '/l3?marketName=SOL-PERP&includeIndicative=true',
    );
    expect(l3.asks).toEqual([{ price: '81142330', size: '7', maker: INDICATIVE_MAKER, orderId: 1 }]);
    expect(l3.bids[1]).toEqual({ price: '81114210', size: '5', maker: INDICATIVE_MAKER, orderId: 0 });

    for (const path of ['/l2', '/l3', '/topMakers']) {
      const text = JSON.stringify(await stage.get(`${path}?marketName=SOL-PERP&side=bid&includeIndicative=1`));
      expect(text).not.toMatch(new RegExp(`indicative|${INDICATIVE_MAKER}`));
    }
    await client.settle();
    expect(client.data(PLAIN)).toHaveLength(1);
  });

  it('sees a quote that it sends without a list, as the Python client does', async () => {
    const connected = await stage.maker();
    const client = await stage.feed();
    client.subscribe({ channel: 'orderbook_indicative' });
    await until(() => client.data(INDICATIVE).length === 1);
    connected.send({
      market_type: 'perp',
      market_index: 0,
      bid_price: '81114210',
      ask_price: '81142400',
      bid_size: '5',
      ask_size: '7',
      is_oracle_offset: null,
    });
    await until(() => client.data(INDICATIVE).length === 2);
    const book = client.data<BookData>(INDICATIVE)[1];
    expect(book?.bids[0]?.sources).toEqual({ indicative: '5', dlob: '1000000000' });
    expect(book?.asks[1]).toEqual({ price: '81142400', size: '7', sources: { indicative: '7' } });
    expect(connected.errors).toEqual([]);
  });

  it('has its quotes in the log with their arrival time, so that every replica shows the same', async () => {
    const connected = await stage.maker();
    const before = Date.now();
    connected.quote(quoteOf(['81000000', '5']));
    await eventually(async () => expect(await stage.loggedQuotes()).toHaveLength(1));
    const [logged] = await stage.loggedQuotes();
    expect(logged).toMatchObject({
      marketType: 'perp',
      marketIndex: 0,
      maker: new Uint8Array(connected.key.bytes),
      quotes: [{ isOracleOffset: false, bid: { price: 81_000_000n, size: 5n }, ask: null }],
    });
    expect(logged?.receivedAtMs).toBeGreaterThanOrEqual(before);
    expect(logged?.receivedAtMs).toBeLessThanOrEqual(Date.now());
  });

  it('replaces its quotes, and they lapse when it falls silent, without a change of the book', async () => {
    const connected = await stage.maker();
    const client = await stage.feed();
    client.subscribe({ channel: 'orderbook_indicative' });
    await until(() => client.data(INDICATIVE).length === 1);
    connected.quote(quoteOf(['81000000', '5']), quoteOf(['80990000', '5']));
    await until(() => client.data(INDICATIVE).length === 2);
    connected.quote(quoteOf(['81000000', '9']));
    await until(() => client.data(INDICATIVE).length === 3);
    stage.pass(QUOTE_FRESH_MS);
    await eventually(() => expect(client.data(INDICATIVE)).toHaveLength(4));
    const own = client
      .data<BookData>(INDICATIVE)
      .map(({ bids }) => bids.filter(({ sources }) => sources.indicative).map(({ price, size }) => [price, size]));
    expect(own).toEqual([
      [],
      [
        ['81000000', '5'],
        ['80990000', '5'],
      ],
      [['81000000', '9']],
      [],
    ]);
    const [ts, slots] = [
      client.data<BookData>(INDICATIVE).map((book) => book.ts),
      client.data<BookData>(INDICATIVE).map(({ slot }) => slot),
    ];
    expect(ts).toEqual([...ts].sort((a, b) => a - b));
    expect(new Set(slots).size).toBe(1);
  });

  it('that repeats itself costs subscribers nothing', async () => {
    const connected = await stage.maker();
    const client = await stage.feed();
    client.subscribe({ channel: 'orderbook_indicative' });
    await until(() => client.data(INDICATIVE).length === 1);
    for (let turn = 0; turn < 5; turn += 1) {
      connected.quote(quoteOf(['81000000', '5']));
      await eventually(async () => expect(await stage.loggedQuotes()).toHaveLength(turn + 1));
    }
    await client.settle();
    expect(client.data(INDICATIVE)).toHaveLength(2);
  });

  it('keeps its quotes through changes of the book', async () => {
    const connected = await stage.maker();
    const client = await stage.feed();
    client.subscribe({ channel: 'orderbook_indicative' });
    await until(() => client.data(INDICATIVE).length === 1);
    connected.quote(quoteOf(['81000000', '5']));
    await until(() => client.data(INDICATIVE).length === 2);
    await stage.books(diff(2, 488));
    await until(() => client.data<BookData>(INDICATIVE).at(-1)?.slot === 488);
    expect(client.data<BookData>(INDICATIVE).at(-1)?.bids[1]).toEqual({
      price: '81000000',
      size: '25',
      sources: { indicative: '5', dlob: '20' },
    });
  });

  it('gets the index of a malformed quote, and the quotes before it count', async () => {
    const connected = await stage.maker();
    connected.quote(quoteOf(['81000000', '5']), quoteOf(['oops', '5']), quoteOf(['80000000', '5']));
    await until(() => connected.errors.length === 1);
    expect(connected.received.at(-1)).toEqual({
      channel: 'quotes',
      error: 'Malformed quote; it and the quotes after it were left out',
      quote: 1,
    });
    await eventually(async () => expect((await stage.loggedQuotes())[0]?.quotes).toHaveLength(1));
  });

  it('gets the reason of a refusal and stays connected', async () => {
    const connected = await stage.maker();
    connected.send('hello');
    connected.send([]);
    connected.send({ market_index: 0, market_type: 'spot', quotes: [] });
    connected.send({ market_index: 77, market_type: 'perp', quotes: [] });
    connected.send({ market_index: 0, market_type: 'perp' });
    connected.quote(...Array.from({ length: 65 }, () => quoteOf(['1', '1'])));
    await until(() => connected.errors.length === 6);
    expect(connected.errors).toEqual([
      'Quotes must be a JSON object',
      'Quotes must be a JSON object',
      'market_type must be perp',
      'Unknown market_index',
      'quotes must be a list',
      'At most 64 quotes per message',
    ]);
    expect(connected.closed).toBeNull();
    expect(await stage.loggedQuotes()).toEqual([]);
  });

  it('is named in the fills of its user accounts', async () => {
    const connected = await stage.maker();
    const client = await stage.feed();
    client.subscribe({ channel: 'trades' });
    connected.quote(quoteOf(['81000000', '5']));
    await eventually(async () =>
      expect(await stage.get(`/l2?marketName=SOL-PERP&includeIndicative=true`)).toHaveProperty(
        'bids.1.sources.indicative',
      ),
    );
    const program = new PublicKey(exchangeProgram('velocity'));
    const account = userAccount(program, connected.key.bytes, 3).toBytes();
    await stage.trades(
      trade(1n, { maker: account }),
      trade(2n, { maker: new Uint8Array(connected.key.bytes) }),
      trade(3n, { maker: MAKER_B }),
      trade(4n, { maker: null }),
      trade(5n, { maker: account, marketIndex: 1 }),
    );
    await until(() => client.data('trades_perp_0').length === 4);
    expect(
      client.data<{ makerIndicativeKey?: string }>('trades_perp_0').map((fill) => fill.makerIndicativeKey),
    ).toEqual([connected.key.name, connected.key.name, undefined, undefined]);
  });
});

describe('quotes of another gateway', () => {
  it('count by their arrival time: fresh ones at once, old ones never', async () => {
    await stage.start();
    const nowMs = Date.now();
    const set = (receivedAtMs: number, size: bigint): MakerQuotes => ({
      marketType: 'perp',
      marketIndex: 0,
      receivedAtMs,
      maker: MAKER_B,
      quotes: [{ isOracleOffset: false, bid: { price: 81_000_000n, size }, ask: null }],
    });
    const client = await stage.feed();
    client.subscribe({ channel: 'orderbook_indicative' });
    await until(() => client.data(INDICATIVE).length === 1);
    const records = [set(nowMs - QUOTE_FRESH_MS, 4n), set(nowMs, 5n)].map((value) => ({
      key: marketKey(value),
      value: encodeMessage('MakerQuotes', value),
    }));
    await stage.log.append(TOPICS.quotes, [{ key: 'perp-0', value: Buffer.from('garbage') }, ...records]);
    await until(() => client.data(INDICATIVE).length === 2);
    expect(client.data<BookData>(INDICATIVE)[1]?.bids[1]?.sources).toEqual({ indicative: '5' });
  });
});

describe('a market with its greatest number of makers', () => {
  const strangers = (): MakerQuotes[] =>
    Array.from({ length: MAX_MAKERS_PER_MARKET }, (_, seed) => ({
      marketType: 'perp',
      marketIndex: 0,
      receivedAtMs: Date.now(),
      maker: new Uint8Array(32).fill(seed),
      quotes: [{ isOracleOffset: false, bid: { price: 1n, size: 1n }, ask: null }],
    }));
  const fill = (): Promise<unknown> =>
    stage.log.append(
      TOPICS.quotes,
      strangers().map((quotes) => ({ key: marketKey(quotes), value: encodeMessage('MakerQuotes', quotes) })),
    );

  it('refuses one more maker, and admits one that the setting names', async () => {
    const named = new TestKey();
    await stage.start({ quoteMakers: `${named.name},*` });
    const [other, first] = [await stage.maker(), await stage.maker(named)];
    await until(async () => {
      await fill();
      other.quote(quoteOf(['81120000', '5']));
      return other.errors.includes(QUOTE_ERRORS.full);
    });
    first.quote(quoteOf(['81120000', '5']));
    await until(async () => (await stage.loggedQuotes()).some(({ maker }) => Buffer.from(maker).equals(named.bytes)));
    expect(first.errors).toEqual([]);
  });
});
