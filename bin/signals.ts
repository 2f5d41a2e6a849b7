// SIGINT and SIGTERM as a promise. A second signal, or a stop that hangs, ends the process at once.

const HARD_EXIT_AFTER_MS = 15_000;
/** npm, the launcher and the terminal may each forward the same signal. */
const SAME_SIGNAL_MS = 1_000;
const EXIT_INTERRUPTED = 130;

/** Resolves with the first signal. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let receivedMs: number | null = null;
    const onSignal = (signal: NodeJS.Signals) => {
      if (receivedMs !== null) {
        if (performance.now() - receivedMs > SAME_SIGNAL_MS) process.exit(EXIT_INTERRUPTED);
        return;
      }
      receivedMs = performance.now();
      setTimeout(() => process.exit(EXIT_INTERRUPTED), HARD_EXIT_AFTER_MS).unref();
      resolve(signal);
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}
