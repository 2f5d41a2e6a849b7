// Candles and summaries of the markets of one partition, from events and samples. Each market has its own time.

import {
  type CandleView,
  decodeEvent,
  decodeMessage,
  EVENT_NAMES,
  type MarketRef,
  type MarketSummary,
  marketKey,
  type PartialEvent,
  type PartialEventDecoder,
  parseMarketKey,
  partialEventDecoder,
  type SlotRetraction,
  type WithdrawnCandle,
} from '../../schemas/index.ts';
import type { StatePiece } from '../follow/pieces.ts';
import { SeenEvents } from '../trades/seen.ts';
import { type CandleFilter, isFilteredOut, NO_FILTER } from './candle-filter.ts';
import { bounded, CandleError, FILL_MEMBERS, type Fill, fillOf } from './fill.ts';
import { FUNDING_MEMBERS, fundingOf } from './funding.ts';
import { MarketState } from './market-state.ts';
import type { MarketRecount, PlacedFill } from './recount.ts';
import { Withdrawn } from './withdrawn.ts';

const decodeFill = partialEventDecoder({ OrderActionRecord: FILL_MEMBERS, FundingRateRecord: FUNDING_MEMBERS });
/** Also decodes the maker, which costs time; only the candle filter needs it. */
const decodeWithMaker = partialEventDecoder({
  OrderActionRecord: [...FILL_MEMBERS, 'maker'],
  FundingRateRecord: FUNDING_MEMBERS,
});

const decodeSlot = partialEventDecoder(Object.fromEntries(EVENT_NAMES.map((name) => [name, ['slot']])));

/** Slot of a record of `events` or `samples`; null when it cannot be read. */
export function slotOf(bytes: Uint8Array): number | null {
  try {
    const event = decodeSlot(bytes);
    if (event !== null) return Number(event.data.slot);
    const { name, value } = decodeMessage(bytes);
    return name === 'MarketSample' ? value.slot : null;
  } catch {
    return null;
  }
}

const SEEN = 'seen';
const WITHDRAWN = 'withdrawn';
const SEPARATOR = '|';

/** Result of a record: a new fill, a repeated one, or no fill. */
export type Applied = 'fill' | 'repeated' | 'none';

export class Candles {
  readonly #perps = new Map<number, MarketState>();
  readonly #markets = new Map<string, MarketState>();
  /** Newest fills without a record id. */
  readonly #seen = new SeenEvents();
  /** Dropped transactions; their fills count for nothing, whenever they are read. */
  readonly withdrawn = new Withdrawn();
  readonly #unpublished = new Set<MarketState>();
  readonly #unsaved = new Set<MarketState>();
  readonly #filter: CandleFilter;
  readonly #decode: PartialEventDecoder;

  constructor(filter: CandleFilter = NO_FILTER) {
    this.#filter = filter;
    this.#decode = filter.blockedMakers.size > 0 ? decodeWithMaker : decodeFill;
  }

  /** Chunks of rows in the next `takeChanges`; each adds less than 4 kB of state. */
  get unsavedChunks(): number {
    let chunks = 0;
    for (const market of this.#unsaved) chunks += market.unsavedChunks;
    return chunks;
  }

  /** Newest slot of a record; 0 before the first. No applied fill and no sample has a higher one. */
  get newestSlot(): number {
    let newest = 0;
    for (const { candles } of this.#markets.values()) newest = Math.max(newest, candles.slot);
    return newest;
  }

  /** Applies a record of `events`. Throws CandleError or SchemaError, with nothing changed, when it is unreadable. */
  applyEvent(bytes: Uint8Array): Applied {
    const event = this.#decode(bytes);
    if (event === null) return 'none';
    if (event.name === 'FundingRateRecord') {
      this.#perp(bounded(event.data, 'market_index')).addFunding(fundingOf(event), bounded(event.data, 'slot'));
      return 'none';
    }
    if (event.data.market_type !== 'perp') return 'none';
    return this.#applyAction(event, bytes);
  }

  /** Applies a record of `samples`. Throws like `applyEvent`. */
  applySample(bytes: Uint8Array): void {
    const { name, value } = decodeMessage(bytes);
    if (name !== 'MarketSample') throw new CandleError('candle-record', `${name} among samples`);
    this.#touched(this.#market(marketKey(value))).addSample(value);
  }

  /** The fill of a record of `events` with its transaction; null for any other record, also an unreadable one. */
  fillIn(bytes: Uint8Array): PlacedFill | null {
    try {
      const event = this.#decode(bytes);
      const fill = event?.name === 'OrderActionRecord' ? this.#judged(fillOf(event), event) : null;
      if (fill === null) return null;
      const { signature, eventIndex } = decodeEvent(bytes);
      return { fill, signature, eventIndex };
    } catch {
      return null;
    }
  }

  /**
   * Takes the fills of a retraction out of their candles. False, with only the retraction noted, when a recount does not
   * prove the stored rows: the log lacks some of their fills, or the minute is pruned.
   */
  withdraw(retraction: SlotRetraction, recounts: readonly MarketRecount[]): boolean {
    this.withdrawn.add(retraction);
    const proven = recounts.filter((one) => this.#perp(one.marketIndex).isProven(one));
    for (const one of proven) this.#perp(one.marketIndex).correct(one);
    return proven.length === recounts.length;
  }

  /** Minute of a perp market's first fill; null before it. */
  beginningOf(marketIndex: number): number | null {
    return this.#markets.get(marketKey({ marketType: 'perp', marketIndex }))?.candles.first?.minute ?? null;
  }

  /** Whether a recount proves the stored rows of its minutes. */
  isProven(one: MarketRecount): boolean {
    return this.#perp(one.marketIndex).isProven(one);
  }

  /** Candles that changed since the last call, market by market. Walk it to its end. */
  *takeCandles(): Generator<CandleView | WithdrawnCandle> {
    for (const market of this.#unpublished) yield* market.takeCandles();
  }

  /** Summaries that changed since the last call; call `takeCandles` first. */
  takeSummaries(): MarketSummary[] {
    const summaries: MarketSummary[] = [];
    for (const market of this.#unpublished) {
      const summary = market.takeSummary();
      if (summary) summaries.push(summary);
    }
    this.#unpublished.clear();
    return summaries;
  }

  /** Pieces of state changed since the last call. */
  takeChanges(): StatePiece[] {
    const pieces: StatePiece[] = this.#seen
      .takeChanges()
      .map(({ name, bytes }) => ({ name: SEEN + SEPARATOR + name, bytes }));
    for (const market of this.#unsaved) {
      const prefix = marketKey(market.ref) + SEPARATOR;
      for (const { name, bytes } of market.takeChanges()) pieces.push({ name: prefix + name, bytes });
    }
    this.#unsaved.clear();
    for (const { name, bytes } of this.withdrawn.takeChanges()) {
      pieces.push({ name: WITHDRAWN + SEPARATOR + name, bytes });
    }
    return pieces;
  }

  /** Restores pieces of `takeChanges`, all at once and in any order. */
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
      if (owner === SEEN) this.#seen.restore(own);
      else if (owner === WITHDRAWN) for (const piece of own) this.withdrawn.restore(piece);
      else this.#market(owner).restore(own);
    }
  }

  #applyAction(event: PartialEvent, bytes: Uint8Array): Applied {
    const fill = this.#judged(fillOf(event), event);
    if (fill === null || this.#isWithdrawn(fill, bytes)) {
      const { data } = event;
      this.#perp(bounded(data, 'market_index')).advance(bounded(data, 'ts'), bounded(data, 'slot'));
      return 'none';
    }
    if (fill.id >= 0) return this.#perp(fill.marketIndex).addFill(fill) ? 'fill' : 'repeated';
    const { signature, eventIndex } = decodeEvent(bytes);
    if (this.#seen.has(signature, eventIndex)) return 'repeated';
    this.#perp(fill.marketIndex).addFill(fill);
    this.#seen.add(signature, eventIndex);
    return 'fill';
  }

  #isWithdrawn({ slot }: Fill, bytes: Uint8Array): boolean {
    return this.withdrawn.hasSlot(slot) && this.withdrawn.has(slot, decodeEvent(bytes).signature);
  }

  #judged(fill: Fill | null, { data }: PartialEvent): Fill | null {
    if (this.#filter === NO_FILTER || fill?.use !== 'price' || !isFilteredOut(fill, data.maker, this.#filter))
      return fill;
    return { ...fill, use: 'volume' };
  }

  #perp(marketIndex: number): MarketState {
    let market = this.#perps.get(marketIndex);
    if (!market) {
      const ref: MarketRef = { marketType: 'perp', marketIndex };
      market = this.#market(marketKey(ref));
      this.#perps.set(marketIndex, market);
    }
    return this.#touched(market);
  }

  #market(key: string): MarketState {
    let market = this.#markets.get(key);
    if (!market) {
      market = new MarketState(parseMarketKey(key));
      this.#markets.set(key, market);
    }
    return market;
  }

  #touched(market: MarketState): MarketState {
    this.#unpublished.add(market);
    this.#unsaved.add(market);
    return market;
  }
}
