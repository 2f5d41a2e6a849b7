// Metrics of books at commitment processed, beside those of the confirmed ones in the same process.

import { type Metric, Registry } from 'prom-client';

const OWN = 'slotbook_';
const PREFIX = 'slotbook_processed_';

/** Forwards to the registry of the process. Each name begins with `slotbook_processed_`, in place of `slotbook_` where it has that. */
export class ProcessedMetrics extends Registry {
  readonly #process: Registry;

  constructor(process: Registry) {
    super();
    this.#process = process;
  }

  override registerMetric<T extends string>(metric: Metric<T>): void {
    // The types of the client lack these members, which every metric has. It reads the name anew for each scrape.
    const named = metric as unknown as { name: string; help: string };
    named.name = processedName(named.name);
    named.help = `${named.help}, at processed`;
    this.#process.registerMetric(metric);
  }

  override getSingleMetric<T extends string>(name: string): Metric<T> | undefined {
    return this.#process.getSingleMetric(processedName(name)) as Metric<T> | undefined;
  }
}

const processedName = (name: string): string => `${PREFIX}${name.startsWith(OWN) ? name.slice(OWN.length) : name}`;
