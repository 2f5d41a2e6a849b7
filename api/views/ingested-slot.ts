// Follows the newest slot that ingest has written to the log. The heartbeat of the `book` channel reports the distance of each
// book from it, which reveals a stalled book role.

import { type EventLog, type LogBatch, type Logger, TopicFollower } from '../../platform/index.ts';
import { decodeMessage, messageName, TOPICS } from '../../schemas/index.ts';
import { followAlways } from './follow.ts';

/** Ingest writes each slot to every partition of `book` and of `positions`. The latter contains fewer other records. */
const TOPIC = TOPICS.positions;
const PARTITION = 0;

export class IngestedSlot {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #follower = new TopicFollower();
  #slot: number | null = null;

  constructor({ log, logger }: { readonly log: EventLog; readonly logger: Logger }) {
    this.#log = log;
    this.#logger = logger;
  }

  /** Newest slot written since the start; null before the first. */
  get slot(): number | null {
    return this.#slot;
  }

  /** Starts to follow at the end of the log. */
  async start(): Promise<void> {
    const [log, logger] = [this.#log, this.#logger];
    await log.ensureTopics([TOPIC]);
    const from = new Map([[PARTITION, (await log.bounds(TOPIC, PARTITION)).next]]);
    const take = (batch: LogBatch): void => this.#take(batch);
    followAlways(this.#follower, { log, logger, topic: TOPIC, from, take });
  }

  /** Settles when following ends. */
  get done(): Promise<void> {
    return this.#follower.done;
  }

  stop(): Promise<void> {
    return this.#follower.stop();
  }

  #take({ records }: LogBatch): void {
    for (const { value, offset } of records) {
      try {
        if (messageName(value) !== 'BookSlot') continue;
        const message = decodeMessage(value);
        if (message.name === 'BookSlot') this.#slot = Math.max(this.#slot ?? 0, message.value.slot);
      } catch (error) {
        const origin = `${TOPIC.name}/${PARTITION}/${offset}`;
        this.#logger.warn({ origin, error: String(error) }, 'unreadable slot record');
      }
    }
  }
}
