// Keeps the newest message of each key of a compacted topic with one partition: reads all of it at the start, then follows.

import { type EventLog, type Logger, TopicFollower } from '../../platform/index.ts';
import { decodeMessage, type MessageName, type MessageTypes, type Topic } from '../../schemas/index.ts';
import { readAndFollow } from './follow.ts';

/** Read access to the newest messages. */
export interface Newest<T> {
  /** The newest message of a key; null without one. */
  get(key: string): T | null;
}

export interface NewestOptions<N extends MessageName> {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly topic: Topic;
  /** Ignores messages of other names. */
  readonly name: N;
  /** Called for every message after `start`. */
  readonly onMessage?: (value: MessageTypes[N]) => void;
}

export class NewestFollower<N extends MessageName> implements Newest<MessageTypes[N]> {
  readonly #options: NewestOptions<N>;
  readonly #byKey = new Map<string, MessageTypes[N]>();
  readonly #follower = new TopicFollower();

  constructor(options: NewestOptions<N>) {
    this.#options = options;
  }

  /** Resolves when everything written so far is read. */
  async start(): Promise<void> {
    const { log, logger, topic, onMessage } = this.#options;
    await readAndFollow(this.#follower, {
      log,
      logger,
      topic,
      take: ({ key, value }, isNew) => {
        const taken = this.#take(key, value);
        if (isNew && taken && onMessage) onMessage(taken);
      },
    });
  }

  /** Settles when following ends. */
  get done(): Promise<void> {
    return this.#follower.done;
  }

  stop(): Promise<void> {
    return this.#follower.stop();
  }

  get(key: string): MessageTypes[N] | null {
    return this.#byKey.get(key) ?? null;
  }

  /** The newest message of every key. */
  values(): IterableIterator<MessageTypes[N]> {
    return this.#byKey.values();
  }

  #take(key: string, bytes: Uint8Array): MessageTypes[N] | null {
    const { topic, name, logger } = this.#options;
    try {
      const message = decodeMessage(bytes);
      if (message.name !== name) return null;
      const value = message.value as MessageTypes[N];
      this.#byKey.set(key, value);
      return value;
    } catch (error) {
      logger.warn({ topic: topic.name, key, error: String(error) }, 'unreadable view record');
      return null;
    }
  }
}
