// The `trades.v2` channel on a log in memory, with client sockets connected to it without a network.

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { feedMetrics } from '../../../api/gateway/feed/metrics.ts';
import { tradeJson } from '../../../api/gateway/trade-body.ts';
import { TradeFeed } from '../../../api/gateway/trade-feed/trade-feed.ts';
import { numberedRecord } from '../../../api/gateway/trade-feed/trade-stream.ts';
import { MarketRegistry } from '../../../api/views/registry.ts';
import { type Commitment, logAt } from '../../../platform/index.ts';
import { encodeMessage, marketKey, TOPICS, type TradeView, type TradeWithdrawal } from '../../../schemas/index.ts';
import { FakeLog } from '../api/fake-log.ts';
import { MARKETS } from '../api/market-views.ts';
import { type DirectGateway, DirectSocket } from './feed-stage.ts';

export class TradeStage implements DirectGateway {
  readonly log = new FakeLog();
  readonly sockets = new Set<DirectSocket>();
  feed: TradeFeed;
  readonly #commitment: Commitment;
  readonly markets = new MarketRegistry();

  private constructor(commitment: Commitment) {
    this.#commitment = commitment;
    for (const market of MARKETS) this.markets.put(market);
    this.feed = this.#newFeed();
  }

  static async started(commitment: Commitment = 'confirmed'): Promise<TradeStage> {
    const stage = new TradeStage(commitment);
    await stage.feed.start();
    return stage;
  }

  /** A socket that opens at the end of the turn. */
  socket(): DirectSocket {
    return DirectSocket.opening(this);
  }

  /** Publishes fills and withdrawals as one batch, as the trades role writes them. */
  async publish(...all: readonly (TradeView | TradeWithdrawal)[]): Promise<void> {
    const log = logAt(this.log, this.#commitment);
    const records = [];
    for (const one of all) {
      const value = 'tradeSeq' in one ? encodeMessage('TradeWithdrawal', one) : encodeMessage('TradeView', one);
      const written = { key: marketKey(one), value };
      const [appended] = await log.append(TOPICS.tradeViews, [written]);
      await log.append(TOPICS.tradeHeads, [written]);
      const record = numberedRecord(value);
      if (record) records.push({ record, bytes: value, offset: appended?.first ?? 0n });
    }
    this.feed.take(records);
  }

  /** A new gateway on the same log. */
  async restart(): Promise<void> {
    this.feed.stop();
    for (const socket of [...this.sockets]) socket.close();
    this.feed = this.#newFeed();
    await this.feed.start();
  }

  #newFeed(): TradeFeed {
    return new TradeFeed({
      commitment: this.#commitment,
      log: logAt(this.log, this.#commitment),
      logger: pino({ level: 'silent' }),
      metrics: feedMetrics(new Registry()),
      markets: this.markets,
      rings: { bytes: 0 },
      render: (trade) => tradeJson(trade, null),
      chain: () => ({ headSlot: 9, ts: 1 }),
    });
  }
}
