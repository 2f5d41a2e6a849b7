// The `trades.v2` channel on a log in memory, with client sockets connected to it without a network.

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { feedMetrics } from '../../../api/gateway/feed/metrics.ts';
import { tradeJson } from '../../../api/gateway/trade-body.ts';
import { TradeFeed } from '../../../api/gateway/trade-feed/trade-feed.ts';
import { MarketRegistry } from '../../../api/views/registry.ts';
import { encodeMessage, marketKey, TOPICS, type TradeView } from '../../../schemas/index.ts';
import { FakeLog } from '../api/fake-log.ts';
import { MARKETS } from '../api/market-views.ts';
import { type DirectGateway, DirectSocket } from './feed-stage.ts';

export class TradeStage implements DirectGateway {
  readonly log = new FakeLog();
  readonly sockets = new Set<DirectSocket>();
  feed: TradeFeed;
  readonly #markets = new MarketRegistry();

  private constructor() {
    for (const market of MARKETS) this.#markets.put(market);
    this.feed = this.#newFeed();
  }

  static async started(): Promise<TradeStage> {
    const stage = new TradeStage();
    await stage.feed.start();
    return stage;
  }

  /** A socket that opens at the end of the turn. */
  socket(): DirectSocket {
    return DirectSocket.opening(this);
  }

  /** Publishes fills as one batch, as the trades role writes them. */
  async publish(...trades: readonly TradeView[]): Promise<void> {
    const records = [];
    for (const trade of trades) {
      const record = { key: marketKey(trade), value: encodeMessage('TradeView', trade) };
      const [appended] = await this.log.append(TOPICS.tradeViews, [record]);
      await this.log.append(TOPICS.tradeHeads, [record]);
      records.push({ trade, bytes: record.value, offset: appended?.first ?? 0n });
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
      log: this.log,
      logger: pino({ level: 'silent' }),
      metrics: feedMetrics(new Registry()),
      markets: this.#markets,
      rings: { bytes: 0 },
      render: (trade) => tradeJson(trade, null),
      chain: () => ({ headSlot: 9, ts: 1 }),
    });
  }
}
