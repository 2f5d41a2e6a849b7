// How close together the rows of a list stand: with it the store is asked for a stretch of time that is likely to hold a
// page, instead of having to look for one. Only a guess about cost; what is answered never depends on it.

/** Lists remembered, the least recently asked for forgotten first. */
const MAX_LISTS = 10_000;
/** A stretch is taken this much longer than the last page of the list suggests. */
const MARGIN = 2;

export class Densities {
  readonly #secondsPerRow = new Map<string, number>();

  /** Where a stretch of `rows` rows that ends at `top` should begin, unix seconds; null when nothing is known of the list. */
  stretch(list: string, top: number, rows: number): number | null {
    const known = this.#secondsPerRow.get(list);
    return known === undefined ? null : Math.floor(top - MARGIN * known * rows) - 1;
  }

  /** A page of `rows` rows went from `top` back to `bottom`, and more follow. */
  learn(list: string, top: number, bottom: number, rows: number): void {
    this.forget(list);
    this.#secondsPerRow.set(list, Math.max(0, top - bottom) / rows);
    if (this.#secondsPerRow.size <= MAX_LISTS) return;
    const [oldest] = this.#secondsPerRow.keys();
    if (oldest !== undefined) this.forget(oldest);
  }

  forget(list: string): void {
    this.#secondsPerRow.delete(list);
  }
}
