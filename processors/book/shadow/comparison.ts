// A comparison under way, of a book as it stood at one place of the log. Its result is needed when the next records of the
// chain's reader come; until then it may take its time.

import type { BookCheck } from '../../../schemas/index.ts';
import { type PublishedDifference, type PublishedSides, publishedDifference } from '../difference.ts';
import { finish, type Steps } from '../steps.ts';
import type { StillBook } from '../still.ts';
import { type BookFindings, findingsOf } from './compare.ts';

/** A comparison of a book with a fresh read of the chain, at the place of the log for which it is true. */
export interface CheckResult extends BookFindings {
  readonly isEqual: boolean;
  readonly wanted: BookCheck;
  /** What the changes published came to, against the book; null when that is the same, or was not followed. */
  readonly published: PublishedDifference | null;
}

export class Comparison {
  readonly #steps: Steps<CheckResult>;
  #result: CheckResult | null = null;

  /** `published`: what readers have come to at that place, which must not change before the end; null when not followed. */
  constructor(book: StillBook, wanted: BookCheck, published: PublishedSides | null) {
    this.#steps = compare(book, wanted, published);
  }

  get isOver(): boolean {
    return this.#result !== null;
  }

  /** What is left of it; ends at once when another has finished it. */
  *steps(): Steps<CheckResult> {
    while (this.#result === null) {
      const step = this.#steps.next();
      if (step.done === true) this.#result = step.value;
      else yield;
    }
    return this.#result;
  }

  /** Does now what is left of it. */
  finish(): CheckResult {
    return finish(this.steps());
  }
}

function* compare(book: StillBook, wanted: BookCheck, readers: PublishedSides | null): Steps<CheckResult> {
  const found = yield* findingsOf(book, wanted);
  const published = readers ? yield* publishedDifference(readers, book) : null;
  const wrong = found.fields.length + found.levels.length + found.misplaced.length;
  return { ...found, isEqual: found.areOrdersEqual && wrong === 0 && published === null, wanted, published };
}
