// Bounds the numbers of the fills before and after a slot, from stored fills and the chain's counts of each market.

import type { StatePiece } from '../follow/pieces.ts';
import { PieceMap } from './piece-map.ts';

/** Slots with a fill or a count that are remembered of a market; older slots are bounded by 0. */
const MARKS_MAX = 32;
/** Markets that are followed; the protocol has less than 100. */
const MARKETS_MAX = 1_000;

/** A bound of a slot: all fills after it have numbers above `afterId`, all before it below `beforeId`. */
export type FillMark = readonly [slot: number, afterId: number, beforeId: number];

export class FillMarks {
  /** By market, sorted by slot. */
  readonly #marks = new PieceMap<readonly FillMark[]>({
    prefix: 'marks:',
    max: MARKETS_MAX,
    save: (marks) => marks,
    load: (saved) => saved as FillMark[],
  });

  note(market: string, [slot, afterId, beforeId]: FillMark): void {
    const marks = [...(this.#marks.get(market) ?? [])];
    let at = marks.length;
    while (at > 0 && (marks[at - 1]?.[0] ?? 0) > slot) at -= 1;
    const same = marks[at - 1];
    if (same?.[0] === slot) marks[at - 1] = [slot, Math.max(same[1], afterId), Math.min(same[2], beforeId)];
    else marks.splice(at, 0, [slot, afterId, beforeId]);
    const [first, second] = marks;
    if (marks.length > MARKS_MAX && first && second) {
      marks.splice(0, 2, [second[0], Math.max(first[1], second[1]), second[2]]);
    }
    this.#marks.set(market, marks);
  }

  /** Fills in this slot or later have larger numbers. */
  afterId(market: string, slot: number): number {
    return (this.#marks.get(market) ?? []).reduce((most, [at, id]) => (at < slot ? Math.max(most, id) : most), 0);
  }

  /** Fills up to this slot have smaller numbers; null while that is unknown. */
  beforeId(market: string, slot: number): number | null {
    const later = (this.#marks.get(market) ?? []).filter(([at]) => at > slot).map(([, , id]) => id);
    return later.length === 0 ? null : Math.min(...later);
  }

  takeChanges(): StatePiece[] {
    return this.#marks.takeChanges();
  }

  restore(name: string, text: string): boolean {
    return this.#marks.restore(name, text) !== null;
  }
}
