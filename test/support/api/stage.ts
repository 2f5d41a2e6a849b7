// A log with markets and published books, and a role context around it.

import { pino } from 'pino';
import { Registry } from 'prom-client';
import { type Config, type RoleContext, readConfig } from '../../../platform/index.ts';
import {
  type BookViewDiff,
  type BookViewSnapshot,
  encodeMessage,
  type MarketView,
  marketKey,
  TOPICS,
  type Topic,
  type TradeView,
  type ViewOracle,
} from '../../../schemas/index.ts';
import { FakeLog } from './fake-log.ts';
import { MARKETS } from './market-views.ts';

export { until } from '../platform/eventually.ts';

export const ORACLE: ViewOracle = {
  price: 81_122_330n,
  slot: 460n,
  confidence: 4184n,
  hasSufficientNumberOfDataPoints: true,
  twap: 81_122_330n,
  twapConfidence: 81_122_330n,
  maxPrice: null,
};

export const MAKER_A = new Uint8Array(32).fill(1);
export const MAKER_B = new Uint8Array(32).fill(2);

/** A book of SOL-PERP: two bids of two makers, one vAMM ask. */
export function snapshot(overrides: Partial<BookViewSnapshot> = {}): BookViewSnapshot {
  return {
    marketType: 'perp',
    marketIndex: 0,
    epoch: 1,
    seq: 1,
    slot: 487,
    marketSlot: 461,
    oracle: ORACLE,
    mmOracle: { ...ORACLE, twap: null, twapConfidence: null },
    isMmOracleActive: true,
    bids: [
      { price: 81_114_210, dlob: 1_000_000_000n, vamm: 0n },
      { price: 80_260_400, dlob: 400_000_000n, vamm: 6_202_100_000n },
    ],
    asks: [{ price: 81_130_450, dlob: 0n, vamm: 1_000_000_000n }],
    bidOrders: [
      { price: 81_114_210, size: 1_000_000_000n, maker: MAKER_A, orderId: 412, source: 'user', rank: [0, 1, 1, 1] },
      { price: 80_260_400, size: 400_000_000n, maker: MAKER_B, orderId: 7, source: 'user', rank: [0, 1, 1, 2] },
    ],
    askOrders: [],
    ...overrides,
  };
}

/** A change that sets one bid level and nothing else. */
export function diff(seq: number, slot: number, overrides: Partial<BookViewDiff> = {}): BookViewDiff {
  const { oracle, mmOracle, isMmOracleActive, marketSlot } = snapshot();
  return {
    marketType: 'perp',
    marketIndex: 0,
    epoch: 1,
    seq,
    slot,
    marketSlot,
    oracle,
    mmOracle,
    isMmOracleActive,
    bids: [{ price: 81_000_000, dlob: BigInt(seq) * 10n, vamm: 0n }],
    asks: [],
    bidOrders: [],
    askOrders: [],
    gone: [],
    ...overrides,
  };
}

export function trade(fillRecordId: bigint, overrides: Partial<TradeView> = {}): TradeView {
  return {
    marketType: 'perp',
    marketIndex: 0,
    ts: 1_790_000_123n,
    slot: 500,
    txSig: '5'.repeat(88),
    txSigIndex: 2,
    fillRecordId,
    action: 'fill',
    actionExplanation: 'orderFilledWithMatch',
    filler: null,
    taker: MAKER_A,
    maker: MAKER_B,
    takerFee: 78_855n,
    makerFee: -5632n,
    quoteAssetAmountSurplus: 0n,
    baseAssetAmountFilled: 1_500_000_000n,
    quoteAssetAmountFilled: 225_300_000n,
    referrerReward: null,
    takerOrderId: 3,
    makerOrderId: 4,
    takerOrderDirection: 'long',
    makerOrderDirection: 'short',
    takerOrderBaseAssetAmount: 2_000_000_000n,
    takerOrderCumulativeBaseAssetAmountFilled: 1_500_000_000n,
    takerOrderCumulativeQuoteAssetAmountFilled: 225_300_000n,
    makerOrderBaseAssetAmount: 1_500_000_000n,
    makerOrderCumulativeBaseAssetAmountFilled: 1_500_000_000n,
    makerOrderCumulativeQuoteAssetAmountFilled: 225_300_000n,
    oraclePrice: 150_180_000n,
    bitFlags: 0,
    epoch: 1,
    seq: Number(fillRecordId),
    ...overrides,
  };
}

export class Stage {
  readonly log = new FakeLog();

  async markets(views: readonly MarketView[] = MARKETS): Promise<void> {
    const records = views.map((view) => ({ key: marketKey(view), value: encodeMessage('MarketView', view) }));
    await this.log.append(TOPICS.marketViews, records);
  }

  async books(...messages: readonly (BookViewSnapshot | BookViewDiff)[]): Promise<void> {
    const records = messages.map((message) => ({
      key: marketKey(message),
      value: 'gone' in message ? encodeMessage('BookViewDiff', message) : encodeMessage('BookViewSnapshot', message),
    }));
    await this.log.append(TOPICS.bookViews, records);
  }

  async trades(...views: readonly TradeView[]): Promise<void> {
    const records = views.map((view) => ({ key: marketKey(view), value: encodeMessage('TradeView', view) }));
    await this.log.append(TOPICS.tradeViews, records);
  }

  /** New followers of `topic` get only its first record. The returned function releases the rest. */
  holdAfterFirst(topic: Topic): () => void {
    let goOn = (): void => {};
    const promise = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const follow = this.log.follow.bind(this.log);
    this.log.follow = async function* (options) {
      if (options.topic !== topic) {
        yield* follow(options);
        return;
      }
      for await (const batch of follow({ ...options, maxRecords: 1 })) {
        yield batch;
        await promise;
      }
    };
    return () => goOn();
  }

  /** A context on free ports of the loopback address. */
  context(overrides: Partial<Config> = {}): RoleContext {
    const config = readConfig(
      {},
      { orderbookPort: 0, gatewayPort: 0, historyPort: 0, source: 'capture', ...overrides },
    );
    return { config, log: this.log, logger: pino({ level: 'silent' }), metrics: new Registry() };
  }
}
