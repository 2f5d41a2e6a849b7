// Typed event listeners: a map from event names to listeners.

export class Events<T extends Record<string, unknown>> {
  readonly #listeners = new Map<keyof T, Set<(event: never) => void>>();

  /** Calls `listener` at each event of that name. Returns a function that removes it. */
  on<N extends keyof T>(name: N, listener: (event: T[N]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  protected emit<N extends keyof T>(name: N, event: T[N]): void {
    callAll(this.#listeners.get(name) ?? [], event as never);
  }
}

/** Calls each listener. One that fails stops neither the others nor the feed: its error surfaces as an uncaught one. */
export function callAll(listeners: Iterable<(event: never) => void>, event: never): void {
  for (const listener of [...listeners]) {
    try {
      listener(event);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
}
