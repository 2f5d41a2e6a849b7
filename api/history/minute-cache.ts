// Answers that are costly to make and good for a minute: kept, and renewed behind the back of whoever asks.

/** How long an answer counts as fresh, seconds (specification, Limits: one minute). */
export const FRESH_S = 60;
/** An older answer than this is not given any more: whoever asks waits for a new one. */
const STALE_S = 600;
const MAX_KEYS = 100;

interface Kept<T> {
  readonly value: T;
  readonly at: number;
}

export class MinuteCache<T> {
  /** Unix seconds. */
  readonly #now: () => number;
  readonly #kept = new Map<string, Kept<T>>();
  readonly #loading = new Map<string, Promise<T>>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * What `load` gave for the key: at once while it is fresh; at once too for ten minutes, with a new one on its way; else
   * when it is there. Requests that come together share one `load`. Rejects with what `load` throws when there is nothing to
   * give.
   */
  async get(key: string, load: () => Promise<T>): Promise<T> {
    const kept = this.#kept.get(key);
    const age = kept ? this.#now() - kept.at : Number.POSITIVE_INFINITY;
    if (kept && age < FRESH_S) return kept.value;
    const loading = this.#load(key, load);
    if (!kept || age >= STALE_S) return loading;
    loading.catch(() => {}); // the next request tries again
    return kept.value;
  }

  #load(key: string, load: () => Promise<T>): Promise<T> {
    const loading = this.#loading.get(key) ?? this.#renew(key, load);
    this.#loading.set(key, loading);
    return loading;
  }

  async #renew(key: string, load: () => Promise<T>): Promise<T> {
    try {
      const value = await load();
      this.#kept.delete(key);
      this.#kept.set(key, { value, at: this.#now() });
      const [oldest] = this.#kept.keys();
      if (this.#kept.size > MAX_KEYS && oldest !== undefined) this.#kept.delete(oldest);
      return value;
    } finally {
      this.#loading.delete(key);
    }
  }
}
