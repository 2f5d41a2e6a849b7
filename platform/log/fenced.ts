// A log through which its holder writes only while `allow` lets it; reading is free.

import type { Topic } from '../../schemas/index.ts';
import type { Commit, EventLog, FollowOptions, NewRecord } from './port.ts';

/** Runs a step that writes, or rejects without running it. */
export type Allow = <T>(write: () => Promise<T>) => Promise<T>;

export class FencedLog implements EventLog {
  readonly kind: EventLog['kind'];
  readonly #log: EventLog;
  readonly #allow: Allow;

  constructor(log: EventLog, allow: Allow) {
    this.kind = log.kind;
    this.#log = log;
    this.#allow = allow;
  }

  append(topic: Topic, records: readonly NewRecord[]) {
    return this.#allow(() => this.#log.append(topic, records));
  }

  commit(group: string, step: Commit) {
    return this.#allow(() => this.#log.commit(group, step));
  }

  forget(group: string) {
    return this.#allow(() => this.#log.forget(group));
  }

  ensureTopics(topics: readonly Topic[]) {
    return this.#log.ensureTopics(topics);
  }

  bounds(topic: Topic, partition: number) {
    return this.#log.bounds(topic, partition);
  }

  read(topic: Topic, partition: number, from: bigint, maxRecords: number) {
    return this.#log.read(topic, partition, from, maxRecords);
  }

  follow(options: FollowOptions) {
    return this.#log.follow(options);
  }

  followPages(options: FollowOptions) {
    return this.#log.followPages(options);
  }

  load(group: string) {
    return this.#log.load(group);
  }

  enforceRetention(nowMs: number) {
    return this.#log.enforceRetention(nowMs);
  }

  close() {
    return this.#log.close();
  }
}
