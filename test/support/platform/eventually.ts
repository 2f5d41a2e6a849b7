// Waits for conditions in real time, with one timeout for all tests.

/** Long enough for a machine with ten times the work of its cores; costs nothing when all goes well. */
export const PATIENCE_MS = 240_000;
// The real timer, because tests may install a fake one.
const { setTimeout } = globalThis;

/** A check that takes long is repeated less often, so that what it waits for has the processor. */
const PAUSES_PER_CHECK = 5;
const PAUSE_MAX_MS = 500;

/** Repeats a check until it does not throw, and returns its result. After PATIENCE_MS it throws the last error. */
export async function eventually<T>(check: () => T | Promise<T>, everyMs = 20): Promise<T> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  while (true) {
    const beganMs = performance.now();
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
      const longMs = Math.min(PAUSES_PER_CHECK * (performance.now() - beganMs), PAUSE_MAX_MS);
      await new Promise((resolve) => setTimeout(resolve, Math.max(everyMs, longMs)));
    }
  }
}

/** Resolves when the condition holds; rejects after PATIENCE_MS. */
export function until(condition: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
  return eventually(async () => {
    if (!(await condition())) throw new Error('the condition did not come true');
  }, everyMs);
}
