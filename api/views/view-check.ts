// Compares a reader's book with a published snapshot of the same version, in steps. Copies the book first and collects later
// changes, because the book changes between steps and may need a correction.

import {
  type BookView,
  finish,
  type PublishedDifference,
  publishedDifference,
  type Steps,
  sidesOf,
} from '../../processors/book/index.ts';
import {
  type BookViewDiff,
  type BookViewSnapshot,
  bookViewHead,
  decodeMessage,
  isEncodedInSteps,
} from '../../schemas/index.ts';

/** The difference of a book, and the snapshot to correct it by. */
export interface ViewFault {
  readonly snapshot: BookViewSnapshot;
  readonly difference: PublishedDifference;
}

export class ViewCheck {
  readonly slot: number;
  /** Changes since the start of the comparison. */
  readonly since: BookViewDiff[] = [];
  readonly #bytes: Uint8Array;
  readonly #expected: BookViewSnapshot;

  /** `bytes`: the published snapshot. Throws SchemaError when they are not one. */
  constructor(view: BookView, bytes: Uint8Array) {
    const head = bookViewHead(bytes);
    this.slot = head.slot;
    this.#bytes = bytes;
    this.#expected = { ...head, ...view.lists() };
  }

  /** Null for an equal book. Compares encoded bytes first, so an equal snapshot needs no decoding. */
  *steps(): Steps<ViewFault | null> {
    if (yield* isEncodedInSteps(this.#bytes, 'BookViewSnapshot', this.#expected)) return null;
    const { name, value: snapshot } = decodeMessage(this.#bytes);
    if (name !== 'BookViewSnapshot') throw new TypeError(`${name} is not a snapshot of a book`);
    const difference = finish(publishedDifference(sidesOf(this.#expected), sidesOf(snapshot)));
    return difference && { snapshot, difference };
  }
}
