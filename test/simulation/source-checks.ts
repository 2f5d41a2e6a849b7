// Laws of several sources at once: an honest one is never named, and a lying one is at the end.

import type { Source } from '../../ingest/source.ts';
import type { MergedPlan } from './plan.ts';

export class SourceChecks {
  readonly #plan: MergedPlan | null;
  readonly #violated: (rule: string, detail: string) => void;
  #named = 0;

  constructor(plan: MergedPlan | null, violated: (rule: string, detail: string) => void) {
    this.#plan = plan;
    this.#violated = violated;
  }

  /** Lying sources that were named. */
  get named(): number {
    return this.#named;
  }

  /** `isEnd`: the run is over, otherwise the process crashes. */
  check(source: Source | null, isEnd: boolean): void {
    if (this.#plan === null) return;
    const { lying, isHonest } = this.#plan;
    for (const [number, report] of (source?.reports?.() ?? []).entries()) {
      const { name, isLying, reason } = report;
      const doesLie = lying?.source === number;
      if (doesLie && isLying) this.#named += 1;
      if (!doesLie && isLying && isHonest) this.#violated('no honest source is named', `${name}: ${reason}`);
      if (doesLie && !isLying && isEnd) this.#violated('a lying source is named', `${name}: ${JSON.stringify(report)}`);
    }
  }
}
