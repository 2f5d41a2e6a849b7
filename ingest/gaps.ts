// The durable list of gaps: what was missing, from which slot to which, and when it had been read after all.

import type { EventLog } from '../platform/index.ts';
import { type ChainGap, decodeGaps, encodeGaps, GAPS_GROUP, GAPS_KEY } from '../schemas/index.ts';
import type { GapNotice } from './source.ts';

/** Filled gaps kept, newest first; the state must stay far below what one commit can hold. */
const FILLED_KEPT = 200;
/** More open gaps than this become one that covers the oldest of them. */
const OPEN_KEPT = 1_000;

/** Gaps as they are counted. */
export interface GapCounts {
  /** Found by this process. */
  readonly found: number;
  /** Open now, those of earlier processes among them. */
  readonly open: number;
}

/** The list after a notice. An open gap that is told again grows; a filling closes every passing gap that it covers. */
export function withNotice(gaps: readonly ChainGap[], notice: GapNotice, atMs: number): readonly ChainGap[] {
  const { fromSlot, toSlot, filled, reason, isLasting = false } = notice;
  const known = new Set(concerned(gaps, notice));
  if (filled && known.size > 0) return gaps.map((gap) => (known.has(gap) ? { ...gap, filledAtMs: atMs } : gap));
  const gap: ChainGap = {
    fromSlot,
    toSlot: [...known].reduce((end, one) => Math.max(end, one.toSlot), toSlot),
    reason,
    foundAtMs: [...known].reduce((first, one) => Math.min(first, one.foundAtMs), atMs),
    filledAtMs: filled ? atMs : null,
    isLasting,
    ...counted([...known]),
  };
  return bounded([...gaps.filter((one) => !known.has(one)), gap]);
}

/**
 * The open gaps that a notice fills or tells again. A passing one may be told again from an earlier slot: a process that
 * ended during an outage is followed by one that looks from its resume point on.
 */
function concerned(gaps: readonly ChainGap[], notice: GapNotice): readonly ChainGap[] {
  const { fromSlot, toSlot, filled, isLasting = false } = notice;
  return gaps.filter((gap) => {
    if (!isOpen(gap) || gap.isLasting !== isLasting) return false;
    const isCovered = gap.fromSlot >= fromSlot && gap.toSlot <= toSlot;
    return filled ? isCovered : gap.fromSlot === fromSlot || (isCovered && !isLasting);
  });
}

/** The list when every transaction up to `slot` is in the log: passing gaps up to there are filled. */
export function withProgress(gaps: readonly ChainGap[], slot: number, atMs: number): readonly ChainGap[] {
  const isReached = (gap: ChainGap) => isOpen(gap) && !gap.isLasting && gap.toSlot <= slot;
  return gaps.some(isReached) ? gaps.map((gap) => (isReached(gap) ? { ...gap, filledAtMs: atMs } : gap)) : gaps;
}

const isOpen = ({ filledAtMs }: ChainGap): boolean => filledAtMs === null;
const countOf = (gaps: readonly ChainGap[]): number => gaps.reduce((sum, { count = 1 }) => sum + count, 0);

/** What one gap says that stands for these. */
function counted(gaps: readonly ChainGap[]): Pick<ChainGap, 'count'> {
  const count = countOf(gaps);
  return count > 1 ? { count } : {};
}

function bounded(gaps: readonly ChainGap[]): readonly ChainGap[] {
  const sorted = [...gaps].sort((a, b) => a.fromSlot - b.fromSlot || a.toSlot - b.toSlot);
  const filled = sorted.filter((gap) => !isOpen(gap)).sort((a, b) => (a.filledAtMs ?? 0) - (b.filledAtMs ?? 0));
  const forgotten = new Set(filled.slice(0, Math.max(0, filled.length - FILLED_KEPT)));
  const open = sorted.filter(isOpen);
  const merged = open.slice(0, Math.max(0, open.length - OPEN_KEPT) + 1);
  const [first] = merged;
  if (merged.length < 2 || !first) return sorted.filter((gap) => !forgotten.has(gap));
  const toSlot = merged.reduce((end, gap) => Math.max(end, gap.toSlot), 0);
  // What any of them lacks may be missing in the whole.
  const isLasting = merged.some((gap) => gap.isLasting);
  const whole = { ...first, toSlot, reason: 'several gaps', isLasting, ...counted(merged) };
  return [whole, ...sorted.filter((gap) => !forgotten.has(gap) && !merged.includes(gap))];
}

/** The list of one log, saved as it changes. */
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

  /** Goes on with what earlier processes met; the first of a log leaves an empty list, which says that it was watched. */
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

  /** Gaps that are not filled: lasting ones, which nothing that can still be asked would fill, or the others. */
  open(areLasting: boolean): number {
    return countOf(this.#gaps.filter((gap) => isOpen(gap) && gap.isLasting === areLasting));
  }

  note(notice: GapNotice): void {
    if (concerned(this.#gaps, notice).length === 0) this.#found += 1;
    this.#gaps = withNotice(this.#gaps, notice, this.#now());
  }

  /** Every transaction up to this slot is in the log. */
  reached(slot: number): void {
    this.#gaps = withProgress(this.#gaps, slot, this.#now());
  }

  /** Saves what changed; to be awaited before a position is saved that lies past it. */
  async save(): Promise<void> {
    if (this.#gaps === this.#saved) return;
    const gaps = this.#gaps;
    await this.#log.commit(GAPS_GROUP, { state: [{ key: GAPS_KEY, value: encodeGaps(gaps) }] });
    this.#saved = gaps;
  }
}
