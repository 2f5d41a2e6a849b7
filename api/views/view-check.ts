// A reader's book against a published snapshot of the change that it stands at. The book moves on meanwhile: compared is what it
// was then, and the changes since are kept for the case that it was wrong.

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

/** How a book differed, and the snapshot that says how it should have been. */
export interface ViewFault {
  readonly snapshot: BookViewSnapshot;
  readonly difference: PublishedDifference;
}

export class ViewCheck {
  readonly slot: number;
  /** What has changed since. */
  readonly since: BookViewDiff[] = [];
  readonly #bytes: Uint8Array;
  readonly #expected: BookViewSnapshot;

  /** `bytes`: the snapshot as it was published. Throws SchemaError when they are none. */
  constructor(view: BookView, bytes: Uint8Array) {
    const head = bookViewHead(bytes);
    this.slot = head.slot;
    this.#bytes = bytes;
    this.#expected = { ...head, ...view.lists() };
  }

  /** Null when the snapshot is what the book stood at: then it need not even be decoded. */
  *steps(): Steps<ViewFault | null> {
    if (yield* isEncodedInSteps(this.#bytes, 'BookViewSnapshot', this.#expected)) return null;
    const { name, value: snapshot } = decodeMessage(this.#bytes);
    if (name !== 'BookViewSnapshot') throw new TypeError(`${name} is not a snapshot of a book`);
    const difference = finish(publishedDifference(sidesOf(this.#expected), sidesOf(snapshot)));
    return difference && { snapshot, difference };
  }
}
