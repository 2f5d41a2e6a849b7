// The newest final block time, from topic `finality`: rows up to it cannot be taken back by the chain.

import { type EventLog, type Logger, type LogRecord, TopicFollower } from '../../platform/index.ts';
import { type ChainFinality, decodeMessage, TOPICS } from '../../schemas/index.ts';
import { readAndFollow } from './follow.ts';

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
  const follower = new TopicFollower();
  const take = ({ value, offset }: LogRecord): void => {
    try {
      const message = decodeMessage(value);
      // Nothing final is taken back: an older answer of another node changes nothing.
      if (message.name === 'ChainFinality' && message.value.slot > (newest?.slot ?? -1)) newest = message.value;
    } catch (error) {
      logger.warn({ origin: `${TOPIC.name}/${PARTITION}/${offset}`, error: String(error) }, 'unreadable final slot');
    }
  };
  await readAndFollow(follower, { log, logger, topic: TOPIC, take });
  return {
    newest: () => newest,
    done: follower.done,
    stop: () => follower.stop(),
  };
}
