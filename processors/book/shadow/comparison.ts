// A comparison under way, of a book frozen at one offset of the log. Its result is due when ingest's next records for the
// book arrive; until then it runs in steps.

import type { BookCheck } from '../../../schemas/index.ts';
import { type PublishedDifference, type PublishedSides, publishedDifference } from '../difference.ts';
import type { FrozenBook } from '../frozen.ts';
import { finish, type Steps } from '../steps.ts';
import { type BookFindings, findingsOf } from './compare.ts';

/** Result of comparing a book with a fresh read of the chain, and the offset for which it is true. */
export interface CheckResult extends BookFindings {
  readonly isEqual: boolean;
  readonly wanted: BookCheck;
  /** Difference between the published changes and the book; null when equal or not followed. */
  readonly published: PublishedDifference | null;
}

export class Comparison {
  readonly #steps: Steps<CheckResult>;
  #result: CheckResult | null = null;

  /** `published`: the readers' book at that offset, unchanged until the end; null when not followed. */
  constructor(book: FrozenBook, wanted: BookCheck, published: PublishedSides | null) {
    this.#steps = compare(book, wanted, published);
  }

  get isOver(): boolean {
    return this.#result !== null;
  }

  /** The remaining steps; ends at once after `finish`. */
  *steps(): Steps<CheckResult> {
    while (this.#result === null) {
      const step = this.#steps.next();
      if (step.done === true) this.#result = step.value;
      else yield;
    }
    return this.#result;
  }

  /** Runs the remaining steps at once. */
  finish(): CheckResult {
    return finish(this.steps());
  }
}

function* compare(book: FrozenBook, wanted: BookCheck, readers: PublishedSides | null): Steps<CheckResult> {
  const found = yield* findingsOf(book, wanted);
  const published = readers ? yield* publishedDifference(readers, book) : null;
  const wrong = found.fields.length + found.levels.length + found.misplaced.length;
  return { ...found, isEqual: found.areOrdersEqual && wrong === 0 && published === null, wanted, published };
}
