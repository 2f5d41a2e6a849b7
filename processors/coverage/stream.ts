// One numbered stream: the stored ranges, the chain's count, and where its missing records lie.

import { type CoverageHole, isAccountStream, type StreamCounter } from '../../schemas/index.ts';
import { ACCOUNT_RANGES_MAX, type StoredRange, StoredRanges } from './ranges.ts';

/** A count at a slot. */
type Count = readonly [id: number, slot: number];
/** The chain's count rose above `afterId` to `toId` within these slots. */
type Rise = readonly [afterId: number, toId: number, fromSlot: number, toSlot: number];
/** Rises that are remembered while records are missing; beyond it the oldest are forgotten, and their holes are wider. */
const RISES_MAX = 50;

export interface SavedStream {
  readonly ranges: readonly (readonly [number, number, number, number])[];
  readonly chain: Count | null;
  readonly published: string;
  /** Absent in the state of older versions. */
  readonly base?: Count | null;
  readonly rises?: readonly Rise[];
  readonly forgottenId?: number;
}

export class Stream {
  readonly subject: string;
  readonly stream: string;
  #ranges: StoredRanges;
  /** First count of the chain: records up to it are older than the log, unless they are stored. */
  #base: Count | null;
  #chain: Count | null;
  #rises: readonly Rise[];
  /** The published holes, to see changes. */
  publishedHoles: string;
  /** Slot at which the holes were looked for; null before the first time. */
  checkedSlot: number | null = null;

  constructor(subject: string, stream: string, saved: SavedStream = { ranges: [], chain: null, published: '[]' }) {
    this.subject = subject;
    this.stream = stream;
    const rangeOf = ([fromId, toId, fromSlot, toSlot]: readonly [number, number, number, number]): StoredRange => {
      return { fromId, toId, fromSlot, toSlot };
    };
    const rangesMax = isAccountStream(stream) ? ACCOUNT_RANGES_MAX : undefined;
    this.#ranges = new StoredRanges(saved.ranges.map(rangeOf), rangesMax, saved.forgottenId);
    this.#chain = saved.chain;
    this.#base = saved.base === undefined ? saved.chain : saved.base;
    this.#rises = saved.rises ?? [];
    this.publishedHoles = saved.published;
  }

  get ranges(): readonly StoredRange[] {
    return this.#ranges.ranges;
  }

  get chainId(): number | null {
    return this.#chain?.[0] ?? null;
  }

  /** Newest slot of a record or count. */
  get slot(): number {
    return Math.max(this.#chain?.[1] ?? 0, this.ranges.at(-1)?.toSlot ?? 0);
  }

  /** Whether a record is missing, settled or not. */
  get isOpen(): boolean {
    const [first, second] = this.ranges;
    if (second) return true;
    if (this.#base && first && first.fromId > this.#base[0] + 1) return true;
    return (this.chainId ?? 0) > (first?.toId ?? this.#base?.[0] ?? 0);
  }

  /** From this number on, every number of the chain is stored or in a hole; null while nothing is known. */
  get knownFromId(): number | null {
    const [first] = this.ranges;
    const from = Math.min(first?.fromId ?? Number.POSITIVE_INFINITY, (this.#base?.[0] ?? Number.POSITIVE_INFINITY) + 1);
    return Number.isFinite(from) ? Math.max(from, this.#ranges.forgottenId + 1) : null;
  }

  has(id: number): boolean {
    return this.#ranges.has(id);
  }

  /** Adds a stored record. False when it was known. */
  add(id: number, slot: number): boolean {
    return this.#ranges.add(id, slot);
  }

  /** Applies a count of the chain. False when it says nothing new. */
  counted({ slot, lastId, fromId, fromSlot }: StreamCounter): boolean {
    if (this.#isNewLife(slot, lastId)) this.#begin();
    const chain = this.#chain;
    if (chain && (slot < chain[1] || lastId <= chain[0])) return false;
    this.#base ??= fromId === null ? [lastId, slot] : [fromId, fromSlot ?? slot];
    const [afterId, afterSlot] = chain ?? this.#base;
    this.#chain = [lastId, slot];
    const rise: Rise = [afterId, lastId, fromSlot ?? afterSlot, slot];
    this.#rises = this.isOpen ? [...this.#rises, rise].slice(-RISES_MAX) : [];
    return true;
  }

  /** An account that was deleted and opened again counts from the start. */
  #isNewLife(slot: number, lastId: number): boolean {
    return isAccountStream(this.stream) && this.#chain !== null && slot > this.#chain[1] && lastId < this.#chain[0];
  }

  #begin(): void {
    this.#ranges = new StoredRanges([], ACCOUNT_RANGES_MAX);
    this.#base = null;
    this.#chain = null;
    this.#rises = [];
  }

  /** Missing numbers before, between and after the ranges, oldest first. */
  holes(isLost: (fromSlot: number, toSlot: number) => boolean): CoverageHole[] {
    const holes: CoverageHole[] = [];
    let before: Count | null = this.#base;
    for (const range of this.ranges) {
      if (before && range.fromId > before[0] + 1)
        holes.push(this.#hole(before, [range.fromId, range.fromSlot], isLost));
      before = [range.toId, range.toSlot];
    }
    const chain = this.#chain;
    if (before && chain && chain[0] > before[0]) {
      holes.push(this.#hole(before, [chain[0] + 1, Math.max(before[1], chain[1])], isLost));
    }
    return holes;
  }

  /** The hole between two numbers. Neighbours of a late record may have a later slot than the record after the hole. */
  #hole(before: Count, after: Count, isLost: (fromSlot: number, toSlot: number) => boolean): CoverageHole {
    const [fromId, toId] = [before[0] + 1, after[0] - 1];
    const [earliest, latest] = [Math.min(before[1], after[1]), Math.max(before[1], after[1])];
    const fromSlot = Math.max(earliest, this.#riseOf(fromId)?.[2] ?? earliest);
    const toSlot = Math.min(latest, this.#riseOf(toId)?.[3] ?? latest);
    const [from, to] = fromSlot <= toSlot ? [fromSlot, toSlot] : [earliest, latest];
    return {
      fromId,
      toId,
      fromSlot: from,
      toSlot: to,
      isLost: isLost(from, to),
      reconstructed: [],
      reconstructedOrders: [],
    };
  }

  #riseOf(id: number): Rise | undefined {
    const base = this.#base;
    if (base && id <= base[0]) return [0, base[0], 0, base[1]];
    return this.#rises.find(([afterId, toId]) => id > afterId && id <= toId);
  }

  /** The state to save; the constructor takes it. */
  save(): SavedStream {
    return {
      ranges: this.ranges.map(({ fromId, toId, fromSlot, toSlot }) => [fromId, toId, fromSlot, toSlot] as const),
      chain: this.#chain,
      published: this.publishedHoles,
      base: this.#base,
      ...(this.#rises.length > 0 && { rises: this.#rises }),
      ...(this.#ranges.forgottenId > 0 && { forgottenId: this.#ranges.forgottenId }),
    };
  }
}
