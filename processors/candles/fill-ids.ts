// The exact set of applied fills of a market, by fill record id. Where ids have gaps it has pages of bits, for the rest ranges
// of whole pages. In the long run a market's ids have no gap, so ranges are few.

const PAGE_BITS = 12;
const PAGE_IDS = 1 << PAGE_BITS;
const BYTE_BITS = 3;
const FULL = 'full';

interface Page {
  readonly bits: Uint8Array;
  count: number;
}

export interface IdPiece {
  readonly name: string;
  /** null deletes the piece. */
  readonly bytes: Uint8Array | null;
}

export class FillIds {
  readonly #pages = new Map<number, Page>();
  /** Pages with every id applied: first and last page of each range, ascending. */
  readonly #full: [number, number][] = [];
  readonly #changed = new Set<number>();
  #fullChanged = false;

  /** Adds an id, a whole number from 0; true when it is new. */
  add(id: number): boolean {
    const number = Math.floor(id / PAGE_IDS);
    if (this.#isFull(number)) return false;
    const page = this.#pages.get(number) ?? this.#addPage(number);
    const place = id - number * PAGE_IDS;
    const byte = place >> BYTE_BITS;
    const bit = 1 << (place & 7);
    const before = page.bits[byte] ?? 0;
    if ((before & bit) !== 0) return false;
    page.bits[byte] = before | bit;
    page.count++;
    this.#changed.add(number);
    if (page.count === PAGE_IDS) this.#complete(number);
    return true;
  }

  /** Takes an id out again. Does nothing when it was not applied. */
  remove(id: number): void {
    if (!this.has(id)) return;
    const number = Math.floor(id / PAGE_IDS);
    const page = this.#pages.get(number) ?? this.#reopen(number);
    const place = id - number * PAGE_IDS;
    const byte = place >> BYTE_BITS;
    page.bits[byte] = (page.bits[byte] ?? 0) & ~(1 << (place & 7));
    page.count--;
    this.#changed.add(number);
  }

  has(id: number): boolean {
    const number = Math.floor(id / PAGE_IDS);
    if (this.#isFull(number)) return true;
    const place = id - number * PAGE_IDS;
    return ((this.#pages.get(number)?.bits[place >> BYTE_BITS] ?? 0) & (1 << (place & 7))) !== 0;
  }

  /** Pieces changed since the last call. */
  takeChanges(): IdPiece[] {
    const pieces: IdPiece[] = [];
    for (const number of this.#changed) {
      const page = this.#pages.get(number);
      pieces.push({ name: String(number), bytes: page ? page.bits.slice() : null });
    }
    this.#changed.clear();
    if (this.#fullChanged) pieces.push({ name: FULL, bytes: Buffer.from(JSON.stringify(this.#full)) });
    this.#fullChanged = false;
    return pieces;
  }

  /** Restores a piece of `takeChanges`. */
  restore(name: string, bytes: Uint8Array): void {
    if (name === FULL) {
      this.#full.push(...(JSON.parse(Buffer.from(bytes).toString('utf8')) as [number, number][]));
      return;
    }
    const bits = new Uint8Array(bytes);
    let count = 0;
    for (const byte of bits) for (let rest = byte; rest > 0; rest &= rest - 1) count++;
    this.#pages.set(Number(name), { bits, count });
  }

  #addPage(number: number): Page {
    const page = { bits: new Uint8Array(PAGE_IDS >> BYTE_BITS), count: 0 };
    this.#pages.set(number, page);
    return page;
  }

  #isFull(number: number): boolean {
    for (let index = this.#full.length - 1; index >= 0; index--) {
      const [first, last] = this.#full[index] as [number, number];
      if (number > last) return false;
      if (number >= first) return true;
    }
    return false;
  }

  /** Takes a full page out of its range. */
  #reopen(number: number): Page {
    const place = this.#full.findIndex(([first, last]) => first <= number && number <= last);
    const [first, last] = this.#full[place] as [number, number];
    const rest: [number, number][] = [
      [first, number - 1],
      [number + 1, last],
    ];
    this.#full.splice(place, 1, ...rest.filter(([from, to]) => from <= to));
    this.#fullChanged = true;
    const page = this.#addPage(number);
    page.bits.fill(0xff);
    page.count = PAGE_IDS;
    return page;
  }

  #complete(number: number): void {
    this.#pages.delete(number);
    const after = this.#full.findIndex(([first]) => first > number);
    const place = after < 0 ? this.#full.length : after;
    this.#full.splice(place, 0, [number, number]);
    this.#meld(place + 1);
    this.#meld(place);
    this.#fullChanged = true;
  }

  /** Merges a range with its predecessor when no page lies between. */
  #meld(place: number): void {
    const before = this.#full[place - 1];
    const range = this.#full[place];
    if (!before || !range || before[1] + 1 !== range[0]) return;
    before[1] = range[1];
    this.#full.splice(place, 1);
  }
}
