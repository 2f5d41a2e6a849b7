// Cache of answers, stale-while-revalidate: fresh for 60 s. Costly ones may be stale for up to 10 min.

import { LRUCache } from 'lru-cache';

/** How long an answer stays fresh, seconds (docs/internals/history-semantics.md). */
export const FRESH_S = 60;
/** Largest age of a costly answer that a request gets without waiting for a new one, seconds. */
const STALE_S = 600;
/** Answers kept; the one loaded longest ago goes first. */
const MAX_KEYS = 100;

interface Cached<T> {
  readonly value: T;
  readonly at: number;
}

export class MinuteCache<T> {
  /** Unix seconds. */
  readonly #now: () => number;
  readonly #staleS: number;
  readonly #cached = new LRUCache<string, Cached<T>>({ max: MAX_KEYS });
  readonly #loading = new Map<string, Promise<T>>();

  /** A request waits for a new answer when the cached one is `staleS` seconds old; at `FRESH_S` no answer is older than a minute. */
  constructor(now: () => number, staleS = STALE_S) {
    this.#now = now;
    this.#staleS = staleS;
  }

  /**
   * Returns the value of the key: cached while fresh, cached with a reload in the background while stale, else freshly loaded.
   * Concurrent requests share one `load`. Rejects with the error of `load` when no usable value is cached.
   */
  async get(key: string, load: () => Promise<T>): Promise<T> {
    const cached = this.#cached.peek(key);
    const age = cached ? this.#now() - cached.at : Number.POSITIVE_INFINITY;
    if (cached && age < FRESH_S) return cached.value;
    const loading = this.#load(key, load);
    if (!cached || age >= this.#staleS) return loading;
    loading.catch(() => {}); // the next request tries again
    return cached.value;
  }

  #load(key: string, load: () => Promise<T>): Promise<T> {
    const loading = this.#loading.get(key) ?? this.#renew(key, load);
    this.#loading.set(key, loading);
    return loading;
  }

  async #renew(key: string, load: () => Promise<T>): Promise<T> {
    try {
      const value = await load();
      this.#cached.set(key, { value, at: this.#now() });
      return value;
    } finally {
      this.#loading.delete(key);
    }
  }
}
