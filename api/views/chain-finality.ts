// The newest final block time, from topic `finality`: rows up to it cannot be taken back by the chain.

import type { EventLog, LogBatch, Logger } from '../../platform/index.ts';
import { type ChainFinality, decodeMessage, TOPICS } from '../../schemas/index.ts';
import { followAlways } from './follow.ts';
import { readToEnd } from './read-to-end.ts';

const TOPIC = TOPICS.finality;
const PARTITION = 0;

export interface RunningFinality {
  /** Null while the source of the chain data has not said it, as for a capture. */
  newest(): ChainFinality | null;
  /** Settles when following ends. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** Resolves when the log is read to its end. Rejects when it cannot be read. */
export async function followFinality({
  log,
  logger,
}: {
  readonly log: EventLog;
  readonly logger: Logger;
}): Promise<RunningFinality> {
  let newest: ChainFinality | null = null;
  const abort = new AbortController();
  const take = ({ value, offset }: LogBatch['records'][number]): void => {
    try {
      const message = decodeMessage(value);
      // Nothing final is taken back: an older answer of another node changes nothing.
      if (message.name === 'ChainFinality' && message.value.slot > (newest?.slot ?? -1)) newest = message.value;
    } catch (error) {
      logger.warn({ origin: `${TOPIC.name}/${PARTITION}/${offset}`, error: String(error) }, 'unreadable final slot');
    }
  };
  await log.ensureTopics([TOPIC]);
  const next = await readToEnd({ log, topic: TOPIC, partition: PARTITION }, take);
  const loop = followAlways({
    log,
    logger,
    topic: TOPIC,
    from: new Map([[PARTITION, next]]),
    signal: abort.signal,
    take: ({ records }) => {
      for (const record of records) take(record);
    },
  });
  loop.catch(() => {}); // `done` reports it
  return {
    newest: () => newest,
    done: loop,
    stop: async () => {
      abort.abort();
      await loop.catch(() => {});
    },
  };
}
