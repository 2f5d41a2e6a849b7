// Metrics of a role while it is the writer. They disappear when another process takes over.

import { type Metric, Registry } from 'prom-client';

/** Number of terms that use a metric of a process; roles of one process may share one. */
const users = new WeakMap<Registry, Map<string, number>>();

/** Forwards to the registry of the process, and removes its own metrics at the end of the term. */
export class TermMetrics extends Registry {
  readonly #process: Registry;
  readonly #names = new Set<string>();
  readonly #endings: (() => void)[] = [];

  constructor(process: Registry) {
    super();
    this.#process = process;
  }

  override registerMetric<T extends string>(metric: Metric<T>): void {
    this.#process.registerMetric(metric);
    this.#use((metric as unknown as { readonly name: string }).name);
  }

  /** A metric that no term registered belongs to the process, and outlives this term. */
  override getSingleMetric<T extends string>(name: string): Metric<T> | undefined {
    const metric = this.#process.getSingleMetric(name) as Metric<T> | undefined;
    if (metric && this.#counts().has(name)) this.#use(name);
    return metric;
  }

  onEnd(ending: () => void): void {
    this.#endings.push(ending);
  }

  end(): void {
    for (const ending of this.#endings.splice(0)) ending();
    const counts = this.#counts();
    for (const name of this.#names) {
      const left = (counts.get(name) ?? 1) - 1;
      if (left > 0) {
        counts.set(name, left);
        continue;
      }
      counts.delete(name);
      this.#process.removeSingleMetric(name);
    }
    this.#names.clear();
  }

  #use(name: string): void {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    const counts = this.#counts();
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  #counts(): Map<string, number> {
    const counts = users.get(this.#process) ?? new Map<string, number>();
    users.set(this.#process, counts);
    return counts;
  }
}
