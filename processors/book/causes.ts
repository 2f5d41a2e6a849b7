// The transaction that last wrote each order, beside the rows of the order table. It is a column of its own: most readers of rows
// do not need it, and with a source without signatures it takes no memory.

import { type Cause, SIGNATURE_BYTES } from '../../schemas/index.ts';

const SLOT_AT = 0;
const INDEX_AT = 8;
// Values at INDEX_AT: no cause, a cause whose index is unknown, and the index 0.
const NONE = 0;
const UNKNOWN = 1;
const FIRST = 2;
const SIGNATURE_AT = 16;
export const CAUSE_BYTES = SIGNATURE_AT + SIGNATURE_BYTES;
/** Causes of the first allocation. */
const START_CAUSES = 256;

export class CauseColumn {
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);

  /** True while no cause was ever set: every cause is unknown. */
  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  /** Cause of the order with this number; null when it is unknown. */
  get(at: number): Cause | null {
    const start = at * CAUSE_BYTES;
    return start < this.#bytes.length ? readCause(this.#view, start) : null;
  }

  set(at: number, cause: Cause | null): void {
    const start = at * CAUSE_BYTES;
    if (cause === null && start >= this.#bytes.length) return;
    if (start >= this.#bytes.length) this.#grow(start + CAUSE_BYTES);
    writeCause(this.#view, start, cause);
  }

  /** A copy that later changes do not reach. */
  freeze(): CauseColumn {
    const frozen = new CauseColumn();
    frozen.#hold(this.#bytes.slice());
    return frozen;
  }

  #grow(bytes: number): void {
    const grown = new Uint8Array(Math.max(START_CAUSES * CAUSE_BYTES, this.#bytes.length * 2, bytes));
    grown.set(this.#bytes);
    this.#hold(grown);
  }

  #hold(bytes: Uint8Array<ArrayBuffer>): void {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}

/** Writes CAUSE_BYTES; all zero for none. */
export function writeCause(view: DataView, start: number, cause: Cause | null): void {
  const bytes = new Uint8Array(view.buffer, view.byteOffset + start, CAUSE_BYTES);
  if (cause === null) {
    bytes.fill(0);
    return;
  }
  view.setFloat64(start + SLOT_AT, cause.slot, true);
  view.setFloat64(start + INDEX_AT, cause.index === null ? UNKNOWN : cause.index + FIRST, true);
  bytes.set(cause.signature, SIGNATURE_AT);
}

/** Inverse of `writeCause`. */
export function readCause(view: DataView, start: number): Cause | null {
  const next = view.getFloat64(start + INDEX_AT, true);
  if (next === NONE) return null;
  const slot = view.getFloat64(start + SLOT_AT, true);
  const at = view.byteOffset + start + SIGNATURE_AT;
  const signature = new Uint8Array(view.buffer, at, SIGNATURE_BYTES).slice();
  return { slot, signature, index: next === UNKNOWN ? null : next - FIRST };
}
