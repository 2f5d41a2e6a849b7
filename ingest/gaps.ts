// The durable list of gaps: which slots lack transactions, when each gap was found, and when it was closed.

import type { EventLog } from '../platform/index.ts';
import { type ChainGap, decodeGaps, encodeGaps, GAPS_GROUP, GAPS_KEY } from '../schemas/index.ts';
import type { GapNotice, SlotRange } from './source.ts';

/** Newest closed gaps in the list. Bounds the state, which must fit into one commit. */
const FILLED_MAX = 200;
/** Beyond this number the oldest open gaps merge into one. */
const OPEN_MAX = 1_000;

/** Numbers of gaps. */
export interface GapCounts {
  /** Found by this process. */
  readonly found: number;
  /** Still open, gaps of earlier processes included. */
  readonly open: number;
}

/** The list after a notice. A repeated open gap grows; a notice of the end closes every recoverable gap that it covers. */
export function withNotice(gaps: readonly ChainGap[], notice: GapNotice, atMs: number): readonly ChainGap[] {
  const { fromSlot, toSlot, filled, reason, isLasting = false } = notice;
  const known = new Set(matching(gaps, notice));
  if (filled && known.size > 0) return gaps.map((gap) => (known.has(gap) ? { ...gap, filledAtMs: atMs } : gap));
  const gap: ChainGap = {
    fromSlot,
    toSlot: [...known].reduce((end, one) => Math.max(end, one.toSlot), toSlot),
    reason,
    foundAtMs: [...known].reduce((first, one) => Math.min(first, one.foundAtMs), atMs),
    filledAtMs: filled ? atMs : null,
    isLasting,
    ...countMember([...known]),
  };
  return bounded([...gaps.filter((one) => !known.has(one)), gap]);
}

/**
 * The open gaps that a notice fills or repeats. After a restart during an outage, the same recoverable gap begins
 * earlier: the new process counts it from its resume point.
 */
function matching(gaps: readonly ChainGap[], notice: GapNotice): readonly ChainGap[] {
  const { fromSlot, toSlot, filled, isLasting = false } = notice;
  return gaps.filter((gap) => {
    if (!isOpen(gap) || gap.isLasting !== isLasting) return false;
    const isCovered = gap.fromSlot >= fromSlot && gap.toSlot <= toSlot;
    return filled ? isCovered : gap.fromSlot === fromSlot || (isCovered && !isLasting);
  });
}

/** The list once the log has every transaction up to `slot`: recoverable gaps up to that slot are closed. */
export function withProgress(gaps: readonly ChainGap[], slot: number, atMs: number): readonly ChainGap[] {
  const isReached = (gap: ChainGap) => isOpen(gap) && !gap.isLasting && gap.toSlot <= slot;
  return gaps.some(isReached) ? gaps.map((gap) => (isReached(gap) ? { ...gap, filledAtMs: atMs } : gap)) : gaps;
}

const isOpen = ({ filledAtMs }: ChainGap): boolean => filledAtMs === null;
const countOf = (gaps: readonly ChainGap[]): number => gaps.reduce((sum, { count = 1 }) => sum + count, 0);

/** The `count` of one gap that replaces several. */
function countMember(gaps: readonly ChainGap[]): Pick<ChainGap, 'count'> {
  const count = countOf(gaps);
  return count > 1 ? { count } : {};
}

function bounded(gaps: readonly ChainGap[]): readonly ChainGap[] {
  const sorted = [...gaps].sort((a, b) => a.fromSlot - b.fromSlot || a.toSlot - b.toSlot);
  const filled = sorted.filter((gap) => !isOpen(gap)).sort((a, b) => (a.filledAtMs ?? 0) - (b.filledAtMs ?? 0));
  const forgotten = new Set(filled.slice(0, Math.max(0, filled.length - FILLED_MAX)));
  const open = sorted.filter(isOpen);
  const merged = open.slice(0, Math.max(0, open.length - OPEN_MAX) + 1);
  const [first] = merged;
  if (merged.length < 2 || !first) return sorted.filter((gap) => !forgotten.has(gap));
  const toSlot = merged.reduce((end, gap) => Math.max(end, gap.toSlot), 0);
  // A merged gap is lasting when one of its parts is.
  const isLasting = merged.some((gap) => gap.isLasting);
  const whole = { ...first, toSlot, reason: 'several gaps', isLasting, ...countMember(merged) };
  return [whole, ...sorted.filter((gap) => !forgotten.has(gap) && !merged.includes(gap))];
}

/** The gap list of one log, saved as it changes. */
export class GapList {
  readonly #log: EventLog;
  readonly #now: () => number;
  #gaps: readonly ChainGap[] = [];
  #saved: readonly ChainGap[] | null = null;
  #found = 0;

  /** `now` gives unix milliseconds. */
  constructor(log: EventLog, now: () => number = Date.now) {
    this.#log = log;
    this.#now = now;
  }

  /** Loads the gaps of earlier processes. The first process of a log saves an empty list, which marks the log as watched. */
  async load(): Promise<void> {
    const { state } = await this.#log.load(GAPS_GROUP);
    const bytes = state.get(GAPS_KEY);
    if (bytes !== undefined) {
      this.#gaps = decodeGaps(bytes);
      this.#saved = this.#gaps;
    }
    await this.save();
  }

  get counts(): GapCounts {
    return { found: this.#found, open: countOf(this.#gaps.filter(isOpen)) };
  }

  /** Number of open gaps: lasting ones (no source can close them) or recoverable ones. */
  open(areLasting: boolean): number {
    return countOf(this.#gaps.filter((gap) => isOpen(gap) && gap.isLasting === areLasting));
  }

  /** A notice whose end lies before its begin names its first slot alone. */
  note(given: GapNotice): void {
    const notice = { ...given, toSlot: Math.max(given.fromSlot, given.toSlot) };
    if (matching(this.#gaps, notice).length === 0) this.#found += 1;
    this.#gaps = withNotice(this.#gaps, notice, this.#now());
  }

  /** Blocks of a range were read again. Closes the gaps inside, also lasting ones, except those that slots in `cut` touch. */
  backfilled({ fromSlot, toSlot }: SlotRange, cut: readonly SlotRange[]): void {
    const filledAtMs = this.#now();
    const isInside = (gap: ChainGap) => gap.fromSlot >= fromSlot && gap.toSlot <= toSlot;
    const isCut = (gap: ChainGap) => cut.some((one) => one.toSlot >= gap.fromSlot && one.fromSlot <= gap.toSlot);
    const isFilled = (gap: ChainGap) => isOpen(gap) && isInside(gap) && !isCut(gap);
    if (this.#gaps.some(isFilled)) this.#gaps = this.#gaps.map((gap) => (isFilled(gap) ? { ...gap, filledAtMs } : gap));
  }

  /** Reports that the log has every transaction up to this slot. */
  reached(slot: number): void {
    this.#gaps = withProgress(this.#gaps, slot, this.#now());
  }

  /** Saves changes. Await it before saving a resume point beyond them. */
  async save(): Promise<void> {
    if (this.#gaps === this.#saved) return;
    const gaps = this.#gaps;
    await this.#log.commit(GAPS_GROUP, { state: [{ key: GAPS_KEY, value: encodeGaps(gaps) }] });
    this.#saved = gaps;
  }
}
