// Lets an iterator sleep until there is something to read.

export class Waiter {
  #resolve: (() => void) | null = null;

  /** Resolves at the next `wake`. */
  wait(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  wake(): void {
    this.#resolve?.();
    this.#resolve = null;
  }
}
