// The one patience of all tests that wait for something on real time.

/** What a machine with much else to do may take; costs nothing when things go well. */
const PATIENCE_MS = 30_000;
// Tests may put a fake in its place.
const { setTimeout } = globalThis;

/** Repeats a check until it does not throw and gives what it gave; after 30 s its last error is the test's. */
export async function eventually<T>(check: () => T | Promise<T>, everyMs = 20): Promise<T> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  while (true) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  }
}

/** Resolves when the condition holds; rejects after 30 s. */
export function until(condition: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
  return eventually(async () => {
    if (!(await condition())) throw new Error('the condition did not come true');
  }, everyMs);
}
