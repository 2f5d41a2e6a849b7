// Texts that wait, first in first out, as bytes in one area: strings would be copied by each collection of the engine's young
// space, and those of a thousand clients that say much made a collection of half a millisecond one of five.

const HEAD_BYTES = 4;
const AREA_MIN_BYTES = 1_024;
const EMPTY = Buffer.alloc(0);

export class TextQueue {
  #area: Buffer = EMPTY;
  #from = 0;
  #to = 0;
  #length = 0;
  #first: string | null = null;

  /** How many wait. */
  get length(): number {
    return this.#length;
  }

  push(text: string): void {
    const bytes = Buffer.byteLength(text);
    if (this.#to + HEAD_BYTES + bytes > this.#area.length) this.#makeRoom(HEAD_BYTES + bytes);
    this.#area.writeUInt32LE(bytes, this.#to);
    this.#area.write(text, this.#to + HEAD_BYTES);
    this.#to += HEAD_BYTES + bytes;
    this.#length += 1;
  }

  /** The one that waits longest, which stays; empty when none does. */
  get first(): string {
    if (this.#length === 0) return '';
    this.#first ??= this.#area.toString('utf8', this.#from + HEAD_BYTES, this.#end());
    return this.#first;
  }

  /** The one that waits longest, which is taken; empty when none does. */
  shift(): string {
    const { first } = this;
    if (this.#length === 0) return first;
    this.#from = this.#end();
    this.#first = null;
    this.#length -= 1;
    return first;
  }

  #end(): number {
    return this.#from + HEAD_BYTES + this.#area.readUInt32LE(this.#from);
  }

  /** What waits moves to an area that has twice the room it needs with so many more bytes. */
  #makeRoom(bytes: number): void {
    const held = this.#to - this.#from;
    const area = Buffer.allocUnsafeSlow(Math.max(AREA_MIN_BYTES, 2 * (held + bytes)));
    this.#area.copy(area, 0, this.#from, this.#to);
    this.#area = area;
    this.#from = 0;
    this.#to = held;
  }
}
