// News of forks without books: they reach the states at once.

import type { ProcessedBooks } from '../../../ingest/forks/books.ts';
import type { ForkStates } from '../../../ingest/forks/states.ts';

export function appliedAtOnce(forks: () => ForkStates): Pick<ProcessedBooks, 'news' | 'account'> {
  return {
    news: (step) => step(forks()),
    account: (update, step) => {
      forks().account(update);
      step(forks());
    },
  };
}
