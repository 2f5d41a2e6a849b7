// Followers of an environment that wait for records of their topics.

import type { Topics } from './commits.ts';

export class TopicWaits {
  /** Announcements by topic, and those that concern every topic. */
  readonly #counts = new Map<number, number>();
  #everywhere = 0;
  readonly #waiting = new Map<number, (() => void)[]>();

  /** Changes whenever the topic may have new records. */
  countOf(topic: number): number {
    return (this.#counts.get(topic) ?? 0) + this.#everywhere;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Resolves with the next announcement of the topic. */
  next(topic: number): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(topic);
      if (waiting) waiting.push(resolve);
      else this.#waiting.set(topic, [resolve]);
    });
  }

  announce(topics: Topics): void {
    if (topics === null) {
      this.#everywhere += 1;
      for (const topic of [...this.#waiting.keys()]) this.wake(topic);
      return;
    }
    for (const topic of topics) {
      this.#counts.set(topic, (this.#counts.get(topic) ?? 0) + 1);
      this.wake(topic);
    }
  }

  /** Lets the followers of a topic look again. */
  wake(topic: number): void {
    const waiting = this.#waiting.get(topic);
    if (!waiting) return;
    this.#waiting.delete(topic);
    for (const resolve of waiting) resolve();
  }
}
