// The durable list of gaps: what was missing, from which slot to which, and when it had been read after all.

import type { EventLog } from '../platform/index.ts';
import { type ChainGap, decodeGaps, encodeGaps, GAPS_GROUP, GAPS_KEY } from '../schemas/index.ts';
import type { GapNotice } from './source.ts';

/** Filled gaps kept, newest first; the state must stay far below what one commit can hold. */
const FILLED_KEPT = 200;
/** More open gaps than this become one that covers the oldest of them. */
const OPEN_KEPT = 1_000;

/** The list after a notice. An open gap that is told again grows; a filling closes every passing gap that it covers. */
export function withNotice(gaps: readonly ChainGap[], notice: GapNotice, atMs: number): readonly ChainGap[] {
  const { fromSlot, toSlot, filled, reason, isLasting = false } = notice;
  const covers = (gap: ChainGap) =>
    isOpen(gap) && gap.isLasting === isLasting && gap.fromSlot >= fromSlot && gap.toSlot <= toSlot;
  if (!filled) {
    const isSame = (gap: ChainGap) => isOpen(gap) && gap.isLasting === isLasting && gap.fromSlot === fromSlot;
    const held = gaps.find(isSame);
    const foundAtMs = held?.foundAtMs ?? atMs;
    const end = Math.max(toSlot, held?.toSlot ?? 0);
    const gap = { fromSlot, toSlot: end, reason, foundAtMs, filledAtMs: null, isLasting };
    return bounded([...gaps.filter((one) => !isSame(one)), gap]);
  }
  if (gaps.some(covers)) return gaps.map((gap) => (covers(gap) ? { ...gap, filledAtMs: atMs } : gap));
  return bounded([...gaps, { fromSlot, toSlot, reason, foundAtMs: atMs, filledAtMs: atMs, isLasting }]);
}

/** The list when every transaction up to `slot` is in the log: passing gaps up to there are filled. */
export function withProgress(gaps: readonly ChainGap[], slot: number, atMs: number): readonly ChainGap[] {
  const isReached = (gap: ChainGap) => isOpen(gap) && !gap.isLasting && gap.toSlot <= slot;
  return gaps.some(isReached) ? gaps.map((gap) => (isReached(gap) ? { ...gap, filledAtMs: atMs } : gap)) : gaps;
}

const isOpen = ({ filledAtMs }: ChainGap): boolean => filledAtMs === null;

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
  const whole = { ...first, toSlot, reason: 'several gaps', isLasting: merged.some(({ isLasting }) => isLasting) };
  return [whole, ...sorted.filter((gap) => !forgotten.has(gap) && !merged.includes(gap))];
}

/** The list of one log, saved as it changes. */
export class GapList {
  readonly #log: EventLog;
  readonly #now: () => number;
  #gaps: readonly ChainGap[] = [];
  #saved: readonly ChainGap[] | null = null;

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

  note(notice: GapNotice): void {
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
