// The paths below /hosted read by the released base class of ccxt. ccxt has no released class for this API (a proposed one was
// not merged), so the names of members stand here. Requests, numbers, symbols, filters and sanity checks are ccxt's.

import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Ccxt, loadCcxt, type Parsed, type Values } from '../peers/ccxt/peer.ts';
import { orderFill, placement, USER_ID } from '../support/api/history-rows.ts';
import { fillAt, fundingRate, HistoryStage, MINUTE, marketSummary, NOW } from '../support/api/history-stage.ts';

const SYMBOL = 'SOL/USDT:USDT';
const FILLS = 5;

/** A connector of the hosted data API at another address. */
function connector({ Exchange, Precise }: Ccxt, url: string) {
  class Hosted extends Exchange {
    override describe(): Values {
      return this.deepExtend(super.describe(), {
        id: 'hosted',
        name: 'hosted',
        rateLimit: 1,
        // Its own 10 s are too few for a busy machine.
        timeout: 120_000,
        timeframes: { '1m': '1', '1h': '60', '1d': 'D' },
        urls: { api: { public: url } },
        precisionMode: 4, // steps, not places
      });
    }

    sign(path: string, api: string, method: string, params: Values) {
      const query = this.urlencode(this.omit(params, this.extractParams(path)));
      const place = `${this.urls.api[api]}/${this.implodeParams(path, params)}`;
      return { url: query === '' ? place : `${place}?${query}`, method };
    }

    get(path: string, params: Values = {}): Promise<Values> {
      return this.request(path, 'public', 'GET', params);
    }

    async summaries(): Promise<readonly Values[]> {
      const markets = this.safeList(await this.get('stats/markets'), 'markets');
      return markets.filter(({ marketType }) => marketType === 'perp');
    }

    async fetchMarkets(): Promise<readonly Parsed[]> {
      return (await this.summaries()).map((market) => {
        const base = this.safeCurrencyCode(this.safeString(market, 'baseAsset'));
        const quote = this.safeCurrencyCode(this.safeString(market, 'quoteAsset'));
        const limits = this.safeDict(market, 'limits');
        const step = this.parseNumber(this.parsePrecision(this.safeString(market, 'precision')));
        return this.safeMarketStructure({
          id: this.safeString(market, 'symbol'),
          symbol: `${base}/${quote}:${quote}`,
          ...{ base, quote, settle: quote, type: 'swap', swap: true, contract: true, linear: true, inverse: false },
          active: this.safeString(market, 'status') === 'active',
          precision: { amount: step, price: step },
          limits: {
            leverage: { min: this.safeNumber(this.safeDict(limits, 'leverage'), 'min') },
            amount: { min: this.safeNumber(this.safeDict(limits, 'amount'), 'min') },
          },
          info: market,
        });
      });
    }

    async fetchTickers(): Promise<Readonly<Record<string, Parsed>>> {
      await this.loadMarkets();
      return this.parseTickers(await this.summaries());
    }

    parseTicker(ticker: Values, market?: Values): Parsed {
      const last = this.safeString(ticker, 'price');
      return this.safeTicker(
        {
          symbol: this.safeSymbol(this.safeString(ticker, 'symbol'), market),
          high: this.safeString(this.safeDict(ticker, 'priceHigh'), 'fill'),
          low: this.safeString(this.safeDict(ticker, 'priceLow'), 'fill'),
          ...{ close: last, last },
          change: this.safeString(ticker, 'priceChange24h'),
          percentage: this.safeString(ticker, 'priceChange24hPercent'),
          baseVolume: this.safeString(ticker, 'baseVolume'),
          quoteVolume: this.safeString(ticker, 'quoteVolume'),
          markPrice: this.safeString(ticker, 'markPrice'),
          indexPrice: this.safeString(ticker, 'oraclePrice'),
          info: ticker,
        },
        market,
      );
    }

    async fetchTrades(symbol: string, params: Values = {}) {
      await this.loadMarkets();
      const market = this.market(symbol);
      const answer = await this.get('market/{symbol}/trades', { symbol: market.id, ...params });
      const next = this.safeString(this.safeDict(answer, 'meta'), 'nextPage');
      return { trades: this.parseTrades(this.safeList(answer, 'records'), market), next };
    }

    parseTrade(trade: Values, market?: Values): Parsed {
      const cost = this.safeString(trade, 'quoteAssetAmountFilled') ?? '';
      const amount = this.safeString(trade, 'baseAssetAmountFilled') ?? '';
      const timestamp = this.safeTimestamp(trade, 'ts');
      return this.safeTrade(
        {
          id: this.safeString(trade, 'fillRecordId'),
          ...{ timestamp, datetime: this.iso8601(timestamp), amount, cost, price: Precise.stringDiv(cost, amount) },
          symbol: this.safeSymbol(this.safeString(trade, 'symbol'), market),
          side: this.safeString(trade, 'takerOrderDirection') === 'long' ? 'buy' : 'sell',
          order: this.safeString(trade, 'takerOrderId'),
          fee: { cost: this.safeString(trade, 'takerFee'), currency: 'USDT' },
          info: trade,
        },
        market,
      );
    }

    async fetchOHLCV(symbol: string, timeframe: string, since: number) {
      await this.loadMarkets();
      const market = this.market(symbol);
      const request = { symbol: market.id, resolution: this.timeframes[timeframe], endTs: since / 1000 };
      const answer = await this.get('market/{symbol}/candles/{resolution}', request);
      return this.parseOHLCVs(this.safeList(answer, 'records'), market, timeframe, since);
    }

    parseOHLCV(candle: Values): readonly (number | undefined)[] {
      const prices = ['fillOpen', 'fillHigh', 'fillLow', 'fillClose'].map((name) => this.safeNumber(candle, name));
      return [this.safeTimestamp(candle, 'ts'), ...prices, this.safeNumber(candle, 'baseVolume')];
    }

    async fetchFundingRates(): Promise<Readonly<Record<string, Parsed>>> {
      await this.loadMarkets();
      return this.parseFundingRates(await this.summaries());
    }

    parseFundingRate(rate: Values, market?: Values): Values {
      // Income of longs, in percent an hour.
      const received = this.safeString(this.safeDict(rate, 'fundingRate'), 'long') ?? '0';
      return {
        symbol: this.safeSymbol(this.safeString(rate, 'symbol'), market),
        fundingRate: this.parseNumber(Precise.stringDiv(Precise.stringNeg(received), '100')),
        fundingTimestamp: this.safeTimestamp(rate, 'fundingRateUpdateTs'),
        info: rate,
      };
    }

    async fetchFundingRateHistory(symbol: string, since: number, limit: number) {
      await this.loadMarkets();
      const market = this.market(symbol);
      const answer = await this.get('market/{symbol}/fundingRates', { symbol: market.id, limit });
      return this.parseFundingRateHistories(this.safeList(answer, 'records'), market, since, limit);
    }

    parseFundingRateHistory(rate: Values, market?: Values): Values {
      const timestamp = this.safeTimestamp(rate, 'ts');
      const [perBase = '', price = ''] = ['fundingRateLong', 'oraclePriceTwap'].map((name) =>
        this.safeString(rate, name),
      );
      return {
        symbol: this.safeSymbol(this.safeString(rate, 'symbol'), market),
        fundingRate: this.parseNumber(Precise.stringDiv(perBase, price)),
        ...{ timestamp, datetime: this.iso8601(timestamp), info: rate },
      };
    }

    async fetchOpenInterest(symbol: string): Promise<Parsed> {
      await this.loadMarkets();
      const market = this.market(symbol);
      const found = (await this.summaries()).find((summary) => summary.symbol === market.id) ?? {};
      const amount = this.safeNumber(this.safeDict(found, 'openInterest'), 'long');
      return this.safeOpenInterest({ symbol, openInterestAmount: amount, info: found }, market);
    }

    async fetchOrders(accountId: string, symbol: string): Promise<readonly Parsed[]> {
      await this.loadMarkets();
      const market = this.market(symbol);
      const answer = await this.get('user/{accountId}/orders/perp/{symbol}', { accountId, symbol: market.id });
      return this.parseOrders(this.safeList(answer, 'records'), market);
    }

    parseOrder(order: Values, market?: Values): Parsed {
      return this.safeOrder(
        {
          id: this.safeString(order, 'orderId'),
          timestamp: this.safeTimestamp(order, 'ts'),
          symbol: this.safeSymbol(this.safeString(order, 'symbol'), market),
          type: this.safeString(order, 'orderType'),
          side: this.safeString(order, 'direction') === 'long' ? 'buy' : 'sell',
          price: this.safeString(order, 'price'),
          amount: this.safeString(order, 'baseAssetAmount'),
          filled: this.safeString(order, 'baseAssetAmountFilled'),
          cost: this.safeString(order, 'quoteAssetAmountFilled'),
          status: this.safeString(order, 'lastActionStatus') === 'filled' ? 'closed' : 'open',
          info: order,
        },
        market,
      );
    }
  }
  return new Hosted();
}

const candle = (ts: number, close: string): Values => ({
  ...{ market_type: 'perp', market_index: 0, resolution: '1', ts, version: 1 },
  ...{ fill_open: '149000000', fill_high: '151500000', fill_low: '148000001', fill_close: close },
  ...{ oracle_open: '150000000', oracle_high: '150000000', oracle_low: '150000000', oracle_close: '150000000' },
  ...{ quote_volume: '225300000', base_volume: '1500000000' },
});

describe('the hosted shapes, read by the base class of ccxt', () => {
  let stage: HistoryStage;
  let exchange: ReturnType<typeof connector>;

  beforeAll(async () => {
    const ccxt = await loadCcxt();
    stage = await HistoryStage.open();
    stage.summaries.put(marketSummary());
    await stage.store(
      'order_action',
      Array.from({ length: FILLS }, (_, at) => fillAt(NOW - 100 + at, 150.2, 1.5)),
    );
    await stage.store('order', [placement(7)]);
    await stage.store('order_action', [orderFill(7, 0.5, 0.5, { ts: NOW - 200_000, fill_record_id: '99' })]);
    await stage.store('candle', [candle(MINUTE - 60, '150000000'), candle(MINUTE, '150200000')]);
    await stage.store('funding_rate', [fundingRate({ ts: NOW - 3_000 }), fundingRate({ ts: NOW - 6_600 })]);
    await stage.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = stage.app.server.address() as AddressInfo;
    exchange = connector(ccxt, `http://127.0.0.1:${port}/hosted`);
  });
  afterAll(() => stage?.close());

  it('gives markets', async () => {
    const markets = await exchange.loadMarkets();
    expect(Object.keys(markets).sort()).toEqual(['BTC/USDT:USDT', SYMBOL]);
    expect(markets[SYMBOL]).toMatchObject({
      ...{ id: 'SOL-PERP', base: 'SOL', quote: 'USDT', swap: true, active: true },
      precision: { amount: 1e-9 },
      limits: { amount: { min: 0.01 }, leverage: { min: 1 } },
    });
  });

  it('gives tickers', async () => {
    const { [SYMBOL]: ticker } = await exchange.fetchTickers();
    expect(ticker).toMatchObject({
      ...{ last: 150.2, high: 151, low: 149.5, change: 0.2, percentage: 0.13 },
      ...{ baseVolume: 3, quoteVolume: 450.6, markPrice: 150.2, indexPrice: 81.12233 },
    });
  });

  it('gives trades, page after page', async () => {
    const { trades, next } = await exchange.fetchTrades(SYMBOL, { limit: 3 });
    const rest = await exchange.fetchTrades(SYMBOL, { limit: 3, page: next });
    expect([trades.length, rest.trades.length, rest.next]).toEqual([3, 3, undefined]);
    expect(trades.at(-1)).toMatchObject({
      ...{ symbol: SYMBOL, side: 'buy', price: 150.2, amount: 1.5, cost: 225.3, order: '3' },
      ...{ timestamp: (NOW - 96) * 1000, fee: { cost: 0.078855, currency: 'USDT' } },
    });
    const ids = [...trades, ...rest.trades].map(({ id }) => id);
    expect(new Set(ids).size).toBe(FILLS + 1);
  });

  it('gives candles since a time', async () => {
    expect(await exchange.fetchOHLCV(SYMBOL, '1m', MINUTE * 1000)).toEqual([
      [MINUTE * 1000, 149, 151.5, 148.000001, 150.2, 1.5],
    ]);
    expect(await exchange.fetchOHLCV(SYMBOL, '1m', (MINUTE - 60) * 1000)).toHaveLength(2);
  });

  it('gives funding rates, and their history', async () => {
    const { [SYMBOL]: rate } = await exchange.fetchFundingRates();
    expect(rate).toMatchObject({ fundingRate: 0.0000790517, fundingTimestamp: (NOW - 1800) * 1000 });
    const history = await exchange.fetchFundingRateHistory(SYMBOL, (NOW - 4_000) * 1000, 10);
    expect(history).toHaveLength(1);
    expect(history[0]?.fundingRate).toBeCloseTo(0.0000790517, 12);
  });

  it('gives open interest', async () => {
    expect(await exchange.fetchOpenInterest(SYMBOL)).toMatchObject({ symbol: SYMBOL, openInterestAmount: 2 });
  });

  it('gives orders', async () => {
    const [order] = await exchange.fetchOrders(USER_ID, SYMBOL);
    expect(order).toMatchObject({
      ...{ id: '7', side: 'buy', price: 150, amount: 2, filled: 0.5, remaining: 1.5, cost: 75, status: 'open' },
    });
  });

  it('meets refusals as failed requests', async () => {
    await expect(exchange.get('market/{symbol}/trades', { symbol: 'NO-PERP' })).rejects.toThrow(
      'Unknown symbol: NO-PERP',
    );
  });
});
