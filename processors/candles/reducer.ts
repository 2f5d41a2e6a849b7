// Candles and summaries of the markets of one partition: events and samples in, views out. Time is each market's own.

import {
  type CandleView,
  decodeEvent,
  decodeMessage,
  EVENT_NAMES,
  type EventProjection,
  eventProjection,
  type MarketRef,
  type MarketSummary,
  marketKey,
  type Projected,
  parseMarketKey,
} from '../../schemas/index.ts';
import { SeenEvents } from '../trades/seen.ts';
import { bounded, CandleError, FILL_MEMBERS, type Fill, fillOf } from './fill.ts';
import { FUNDING_MEMBERS, fundingOf } from './funding.ts';
import { MarketState, type Piece } from './market-state.ts';
import { isNoise, NO_NOISE, type NoiseRules } from './noise.ts';

const project = eventProjection({ OrderActionRecord: FILL_MEMBERS, FundingRateRecord: FUNDING_MEMBERS });
/** The maker costs time to read, and is asked for by the noise filter alone. */
const projectMakers = eventProjection({
  OrderActionRecord: [...FILL_MEMBERS, 'maker'],
  FundingRateRecord: FUNDING_MEMBERS,
});

const projectSlot = eventProjection(Object.fromEntries(EVENT_NAMES.map((name) => [name, ['slot']])));

/** Slot of a record of `events` or `samples`; null when it cannot be read. */
export function slotOf(bytes: Uint8Array): number | null {
  try {
    const event = projectSlot(bytes);
    if (event !== null) return Number(event.data.slot);
    const { name, value } = decodeMessage(bytes);
    return name === 'MarketSample' ? value.slot : null;
  } catch {
    return null;
  }
}

const SEEN = 'seen';
const SEPARATOR = '|';

/** What came of a record: a fill joined a candle or a volume, was known already, or there was no fill. */
export type Applied = 'fill' | 'repeated' | 'none';

export class Candles {
  private readonly perps = new Map<number, MarketState>();
  private readonly markets = new Map<string, MarketState>();
  /** Fills without a record id that were applied lately. */
  private readonly seen = new SeenEvents();
  private readonly untold = new Set<MarketState>();
  private readonly unsaved = new Set<MarketState>();
  private readonly noise: NoiseRules;
  private readonly project: EventProjection;

  constructor(noise: NoiseRules = NO_NOISE) {
    this.noise = noise;
    this.project = noise.blockedMakers.size > 0 ? projectMakers : project;
  }

  /** Chunks of rows that the next `takeChanges` gives; state grows by less than 4 kB with each. */
  get unsavedChunks(): number {
    let chunks = 0;
    for (const market of this.unsaved) chunks += market.unsavedChunks;
    return chunks;
  }

  /** Takes a record of `events` in. Throws CandleError or SchemaError, with nothing changed, when it cannot be. */
  applyEvent(bytes: Uint8Array): Applied {
    const event = this.project(bytes);
    if (event === null) return 'none';
    if (event.name === 'FundingRateRecord') {
      this.perp(bounded(event.data, 'market_index')).addFunding(fundingOf(event), bounded(event.data, 'slot'));
      return 'none';
    }
    if (event.data.market_type !== 'perp') return 'none';
    return this.applyAction(event, bytes);
  }

  /** Takes a record of `samples` in. Throws as `applyEvent` does. */
  applySample(bytes: Uint8Array): void {
    const { name, value } = decodeMessage(bytes);
    if (name !== 'MarketSample') throw new CandleError('candle-record', `${name} among samples`);
    this.touched(this.market(marketKey(value))).addSample(value);
  }

  /** Candles that changed since the last call, market by market. To be walked to its end. */
  *takeCandles(): Generator<CandleView> {
    for (const market of this.untold) yield* market.takeCandles();
  }

  /** Summaries that changed since the last call; `takeCandles` comes first. */
  takeSummaries(): MarketSummary[] {
    const summaries: MarketSummary[] = [];
    for (const market of this.untold) {
      const summary = market.takeSummary();
      if (summary) summaries.push(summary);
    }
    this.untold.clear();
    return summaries;
  }

  /** Pieces of state changed since the last call. */
  takeChanges(): Piece[] {
    const pieces: Piece[] = this.seen
      .takeChanges()
      .map(({ name, bytes }) => ({ name: SEEN + SEPARATOR + name, bytes }));
    for (const market of this.unsaved) {
      const prefix = marketKey(market.ref) + SEPARATOR;
      for (const { name, bytes } of market.takeChanges()) pieces.push({ name: prefix + name, bytes });
    }
    this.unsaved.clear();
    return pieces;
  }

  /** Takes back pieces given by `takeChanges`, all of them at once and in any order. */
  restore(pieces: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>): void {
    const byOwner = new Map<string, { name: string; bytes: Uint8Array }[]>();
    for (const { name, bytes } of pieces) {
      const end = name.indexOf(SEPARATOR);
      const owner = name.slice(0, end);
      const own = byOwner.get(owner) ?? [];
      byOwner.set(owner, own);
      own.push({ name: name.slice(end + 1), bytes });
    }
    for (const [owner, own] of byOwner) {
      if (owner === SEEN) this.seen.restore(own);
      else this.market(owner).restore(own);
    }
  }

  private applyAction(event: Projected, bytes: Uint8Array): Applied {
    const fill = this.judged(fillOf(event), event);
    if (fill === null) {
      const { data } = event;
      this.perp(bounded(data, 'market_index')).advance(bounded(data, 'ts'), bounded(data, 'slot'));
      return 'none';
    }
    if (fill.id >= 0) return this.perp(fill.marketIndex).addFill(fill) ? 'fill' : 'repeated';
    const { signature, eventIndex } = decodeEvent(bytes);
    if (this.seen.has(signature, eventIndex)) return 'repeated';
    this.perp(fill.marketIndex).addFill(fill);
    this.seen.add(signature, eventIndex);
    return 'fill';
  }

  private judged(fill: Fill | null, { data }: Projected): Fill | null {
    if (this.noise === NO_NOISE || fill?.use !== 'candle' || !isNoise(fill, data.maker, this.noise)) return fill;
    return { ...fill, use: 'volume' };
  }

  private perp(marketIndex: number): MarketState {
    let market = this.perps.get(marketIndex);
    if (!market) {
      const ref: MarketRef = { marketType: 'perp', marketIndex };
      market = this.market(marketKey(ref));
      this.perps.set(marketIndex, market);
    }
    return this.touched(market);
  }

  private market(key: string): MarketState {
    let market = this.markets.get(key);
    if (!market) {
      market = new MarketState(parseMarketKey(key));
      this.markets.set(key, market);
    }
    return market;
  }

  private touched(market: MarketState): MarketState {
    this.untold.add(market);
    this.unsaved.add(market);
    return market;
  }
}
