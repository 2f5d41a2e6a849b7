// Which numbered records the log has: a function of events, the chain's counts and finished backfills. Pure: time is the
// newest slot seen.

import bs58 from 'bs58';
import {
  type Backfill,
  type ChainEvent,
  COVERAGE_HOLES_MAX,
  type CoverageHole,
  type NumberedStream,
  type StreamCounter,
  type StreamCoverage,
  streamKey,
} from '../../schemas/index.ts';
import { type StoredRange, StoredRanges } from './ranges.ts';

/** A missing number is a hole once the log is so many slots past it: records of one slot arrive in any order. */
export const SETTLE_SLOTS = 150;
/** Slots between two publications of an unchanged kind of coverage. */
const PUBLISH_SLOTS = 10;
/** Finished backfills that are remembered. */
const BACKFILLS_MAX = 1_000;

const SLOT = 'slot';
const BACKFILLS = 'backfills';
const STREAM = 'stream:';

interface Stream {
  readonly subject: string;
  readonly stream: string;
  readonly ranges: StoredRanges;
  chainId: number | null;
  chainSlot: number;
  /** Slot of the last publication; -1 before the first. */
  publishedSlot: number;
  /** The published holes, to see changes. */
  publishedHoles: string;
}

interface Saved {
  readonly ranges: readonly (readonly [number, number, number, number])[];
  readonly chain: readonly [number, number] | null;
  readonly published: string;
}

export interface StatePiece {
  readonly name: string;
  readonly bytes: Uint8Array;
}

type SlotRange = readonly [fromSlot: number, toSlot: number];

export class Coverage {
  readonly #streams = new Map<string, Stream>();
  readonly #changed = new Set<string>();
  /** Streams with more than one range, or behind the chain's count. */
  readonly #open = new Set<string>();
  #backfills: readonly SlotRange[] = [];
  #areBackfillsChanged = false;
  #slot = 0;
  #savedSlot = 0;

  /** Applies an event. Events without a number change only the newest slot. */
  event(event: ChainEvent): void {
    this.#slot = Math.max(this.#slot, event.slot);
    for (const { subject, stream, id } of numbersOf(event)) {
      const key = streamKey({ subject, stream });
      const one = this.#stream(subject, stream);
      if (!one.ranges.add(id, event.slot)) continue;
      this.#touch(key, one);
    }
  }

  counter({ subject, stream, slot, lastId }: StreamCounter): void {
    this.#slot = Math.max(this.#slot, slot);
    const one = this.#stream(subject, stream);
    if (one.chainId !== null && (slot < one.chainSlot || lastId <= one.chainId)) return;
    one.chainId = lastId;
    one.chainSlot = slot;
    this.#touch(streamKey({ subject, stream }), one);
  }

  /** A finished backfill: the holes inside its slots that remain are lost. */
  backfill({ state, fromSlot, toSlot }: Backfill): void {
    if (state !== 'done') return;
    this.#backfills = [...this.#backfills, [fromSlot, toSlot] as const].slice(-BACKFILLS_MAX);
    this.#areBackfillsChanged = true;
    for (const key of this.#open) this.#changed.add(key);
  }

  /** Coverages that changed and are due. Call after a batch. */
  takeViews(): StreamCoverage[] {
    const views: StreamCoverage[] = [];
    for (const key of new Set([...this.#changed, ...this.#open])) {
      const one = this.#streams.get(key);
      if (!one || this.#slot < one.publishedSlot + PUBLISH_SLOTS) continue;
      const view = this.#view(one);
      const holes = JSON.stringify(view.holes);
      const isAccount = one.stream === 'liquidations';
      // Accounts are many: only those with holes, or with holes that closed, are published.
      const isDue = isAccount ? holes !== one.publishedHoles : this.#changed.has(key) || holes !== one.publishedHoles;
      if (!isDue) continue;
      one.publishedSlot = this.#slot;
      one.publishedHoles = holes;
      this.#changed.add(key);
      views.push(view);
    }
    return views;
  }

  /** Pieces of state changed since the last call. Call it after `takeViews`. */
  takeChanges(): StatePiece[] {
    const pieces: StatePiece[] = [];
    for (const key of this.#changed) {
      const one = this.#streams.get(key);
      if (one) pieces.push({ name: STREAM + key, bytes: Buffer.from(JSON.stringify(savedOf(one))) });
    }
    this.#changed.clear();
    if (this.#areBackfillsChanged)
      pieces.push({ name: BACKFILLS, bytes: Buffer.from(JSON.stringify(this.#backfills)) });
    this.#areBackfillsChanged = false;
    if (this.#slot !== this.#savedSlot) pieces.push({ name: SLOT, bytes: Buffer.from(String(this.#slot)) });
    this.#savedSlot = this.#slot;
    return pieces;
  }

  /** Restores pieces of `takeChanges`, in any order. */
  restore(pieces: Iterable<StatePiece>): void {
    for (const { name, bytes } of pieces) {
      const text = Buffer.from(bytes).toString('utf8');
      if (name === SLOT) this.#slot = this.#savedSlot = Number(text);
      else if (name === BACKFILLS) this.#backfills = JSON.parse(text) as readonly SlotRange[];
      else if (name.startsWith(STREAM)) this.#restoreStream(name.slice(STREAM.length), JSON.parse(text) as Saved);
    }
  }

  #restoreStream(key: string, { ranges, chain, published }: Saved): void {
    const at = key.lastIndexOf('/');
    const one = this.#stream(
      key.slice(0, at),
      key.slice(at + 1),
      ranges.map(([fromId, toId, fromSlot, toSlot]) => ({ fromId, toId, fromSlot, toSlot })),
    );
    one.chainId = chain?.[0] ?? null;
    one.chainSlot = chain?.[1] ?? 0;
    one.publishedHoles = published;
    if (isOpen(one) || published !== '[]') this.#open.add(key);
  }

  #stream(subject: string, stream: string, ranges: readonly StoredRange[] = []): Stream {
    const key = streamKey({ subject, stream });
    let one = this.#streams.get(key);
    if (!one) {
      const blank = { chainId: null, chainSlot: 0, publishedSlot: -PUBLISH_SLOTS, publishedHoles: '[]' };
      one = { subject, stream, ranges: new StoredRanges(ranges), ...blank };
      this.#streams.set(key, one);
    }
    return one;
  }

  #touch(key: string, one: Stream): void {
    this.#changed.add(key);
    if (isOpen(one)) this.#open.add(key);
    else if (one.publishedHoles === '[]') this.#open.delete(key);
  }

  #view(one: Stream): StreamCoverage {
    const { ranges } = one.ranges;
    const last = ranges.at(-1);
    const holes = this.#holesOf(one).filter(({ toSlot }) => this.#slot >= toSlot + SETTLE_SLOTS);
    return {
      subject: one.subject,
      stream: one.stream,
      slot: Math.max(one.chainSlot, last?.toSlot ?? 0),
      firstId: ranges[0]?.fromId ?? null,
      lastId: last?.toId ?? null,
      chainId: one.chainId,
      missing: holes.reduce((sum, { fromId, toId }) => sum + toId - fromId + 1, 0),
      holes: holes.slice(0, COVERAGE_HOLES_MAX),
    };
  }

  /** Missing numbers between the ranges, and between the last one and the chain's count. */
  #holesOf({ ranges: { ranges }, chainId, chainSlot }: Stream): CoverageHole[] {
    const holes: CoverageHole[] = [];
    for (const [index, after] of ranges.entries()) {
      const before = ranges[index - 1];
      if (before) holes.push(this.#hole(before.toId + 1, after.fromId - 1, before.toSlot, after.fromSlot));
    }
    const last = ranges.at(-1);
    if (last && chainId !== null && chainId > last.toId) {
      holes.push(this.#hole(last.toId + 1, chainId, last.toSlot, Math.max(last.toSlot, chainSlot)));
    }
    return holes;
  }

  /** Neighbours of a late record may have a later slot than the record after the hole. */
  #hole(fromId: number, toId: number, slotA: number, slotB: number): CoverageHole {
    const [fromSlot, toSlot] = [Math.min(slotA, slotB), Math.max(slotA, slotB)];
    const isLost = this.#backfills.some(([from, to]) => from <= fromSlot && to >= toSlot);
    return { fromId, toId, fromSlot, toSlot, isLost };
  }
}

const isOpen = ({ ranges: { ranges }, chainId }: Stream): boolean =>
  ranges.length > 1 || (chainId !== null && chainId > (ranges.at(-1)?.toId ?? chainId));

function savedOf({ ranges, chainId, chainSlot, publishedHoles }: Stream): Saved {
  return {
    ranges: ranges.ranges.map(({ fromId, toId, fromSlot, toSlot }) => [fromId, toId, fromSlot, toSlot] as const),
    chain: chainId === null ? null : [chainId, chainSlot],
    published: publishedHoles,
  };
}

interface Numbered {
  readonly subject: string;
  readonly stream: NumberedStream;
  readonly id: number;
}

/** The numbers of an event (docs/internals/ingest.md, "Completeness"). */
export function numbersOf({ name, data }: ChainEvent): readonly Numbered[] {
  switch (name) {
    case 'OrderActionRecord':
      return numbered(`${String(data.market_type)}-${String(data.market_index)}`, 'fills', data.fill_record_id);
    case 'FundingRateRecord':
      return numbered(`perp-${String(data.market_index)}`, 'funding', data.record_id);
    case 'DepositRecord':
      return numbered(`spot-${String(data.market_index)}`, 'deposits', data.deposit_record_id);
    case 'OrderPlaceRecordV0':
      return numbered(`perp-${String(data.market_index)}`, 'bookOrders', data.order_id);
    case 'LiquidationRecord':
      return numbered(accountOf(data.user), 'liquidations', data.liquidation_id);
    default:
      return [];
  }
}

function numbered(subject: string | null, stream: NumberedStream, value: unknown): readonly Numbered[] {
  const id = typeof value === 'bigint' ? Number(value) : value;
  return subject !== null && typeof id === 'number' && Number.isSafeInteger(id) && id > 0
    ? [{ subject, stream, id }]
    : [];
}

const accountOf = (key: unknown): string | null => (key instanceof Uint8Array ? bs58.encode(key) : null);
