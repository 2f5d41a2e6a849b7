// Writes the state of the books to `views.quality`: epoch, slot and results of the shadow check, as rows of source `book`.
// Ingest repairs a book whose row reports a difference.

import { Counter, type Registry } from 'prom-client';
import { type EventLog, type Logger, readToEnd } from '../../../platform/index.ts';
import {
  decodeMessage,
  encodeMessage,
  type FeedQuality,
  type MarketRef,
  marketKey,
  newQuality,
  qualityKey,
  TOPICS,
} from '../../../schemas/index.ts';
import type { CheckResult } from '../shadow/comparison.ts';

/** Source of the rows written here. */
const BOOK_SOURCE = 'book';
/** Ingest also writes this metric, for differences it finds; both may run in one process. */
const DIFFERENCES_METRIC = 'slotbook_shadow_differences_total';

export class BookQuality {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #differences: Counter<'market'>;
  readonly #rows = new Map<string, FeedQuality>();
  readonly #changed = new Set<string>();

  constructor(log: EventLog, logger: Logger, registry: Registry) {
    this.#log = log;
    this.#logger = logger;
    this.#differences =
      (registry.getSingleMetric(DIFFERENCES_METRIC) as Counter<'market'> | undefined) ??
      new Counter({
        name: DIFFERENCES_METRIC,
        help: 'differences that the shadow check found between a book and the chain',
        labelNames: ['market'],
        registers: [registry],
      });
  }

  /** Reads the counts of an earlier process. */
  async load(): Promise<void> {
    await this.#log.ensureTopics([TOPICS.qualityViews]);
    await readToEnd({ log: this.#log, topic: TOPICS.qualityViews, partition: 0 }, ({ value }) => {
      const message = decodeMessage(value);
      if (message.name !== 'FeedQuality' || message.value.source !== BOOK_SOURCE) return;
      this.#keep(marketKey(message.value), message.value);
    });
  }

  /** Epoch of a book's newest row; 0 without a row. */
  epoch(key: string): number {
    return this.#rows.get(key)?.epoch ?? 0;
  }

  /** Sets the head of a book; `atMs` is unix milliseconds. */
  setHead(market: MarketRef, head: { readonly epoch: number; readonly slot: number }, atMs: number): void {
    const key = marketKey(market);
    const row = this.#rows.get(key) ?? newQuality(market, BOOK_SOURCE);
    const epoch = Math.max(0, head.epoch);
    if (row.epoch === epoch && row.slot === head.slot) return;
    this.#set(key, { ...row, epoch, slot: head.slot, atMs, events: row.events + 1 });
  }

  /** Adds the result of a comparison. */
  addResult(key: string, result: CheckResult): void {
    const { isEqual, wanted, orders, digest, fields, levels, misplaced, published } = result;
    const { slot } = wanted;
    const before = this.#rows.get(key) ?? newQuality(wanted, BOOK_SOURCE);
    if (!isEqual) {
      this.#differences.inc({ market: key });
      const onChain = { orders: wanted.orders, digest: wanted.digest };
      this.#logger.error(
        { market: key, slot, onChain, inBook: { orders, digest }, fields, levels, misplaced, published },
        'shadow check: the book differs from the chain',
      );
    }
    this.#set(key, {
      ...before,
      checks: before.checks + 1,
      differences: before.differences + (isEqual ? 0 : 1),
      checkSlot: slot,
      checkResult: isEqual ? 'equal' : 'differs',
    });
  }

  /** Writes the rows that changed since the last call. */
  async flush(): Promise<void> {
    if (this.#changed.size === 0) return;
    const records = [...this.#changed].flatMap((key) => {
      const row = this.#rows.get(key);
      return row ? [{ key: qualityKey(row), value: encodeMessage('FeedQuality', row) }] : [];
    });
    this.#changed.clear();
    await this.#log.append(TOPICS.qualityViews, records);
  }

  #set(key: string, row: FeedQuality): void {
    this.#keep(key, row);
    this.#changed.add(key);
  }

  #keep(key: string, row: FeedQuality): void {
    // From zero, so that the first difference is an increase.
    if (!this.#rows.has(key)) this.#differences.inc({ market: key }, 0);
    this.#rows.set(key, row);
  }
}
