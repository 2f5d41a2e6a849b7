// Lost tails of partitions: the end is below the offset of a reader. A Kafka broker loses a tail with an unclean leader election or
// a restored disk.

import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';

export interface LostTail {
  readonly topic: string;
  readonly partition: number;
  /** Offset of the reader. */
  readonly offset: bigint;
  /** End of the partition, where the reader goes on. */
  readonly next: bigint;
}

export class TailLosses {
  readonly #logger: Logger;
  readonly #count: Counter;

  /** `metrics`: absent where nobody reads metrics. */
  constructor(logger: Logger, metrics?: Registry) {
    this.#logger = logger;
    this.#count = new Counter({
      name: 'slotbook_log_lost_tails_total',
      help: 'offsets of readers beyond the end of their partition, which has lost its newest records',
      registers: metrics ? [metrics] : [],
    });
  }

  report({ topic, partition, offset, next }: LostTail): void {
    this.#count.inc();
    this.#logger.error(
      { topic, partition, from: next.toString(), to: (offset - 1n).toString() },
      'a partition lost these records, which were read before; reading on from its new end',
    );
  }
}
