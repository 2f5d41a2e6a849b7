// SIGINT and SIGTERM as a promise; a second signal, or a stop that hangs, ends the process at once.

const HARD_EXIT_AFTER_MS = 15_000;
const EXIT_INTERRUPTED = 130;

/** Settles with the first signal. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let received = false;
    const onSignal = (signal: NodeJS.Signals) => {
      if (received) process.exit(EXIT_INTERRUPTED);
      received = true;
      setTimeout(() => process.exit(EXIT_INTERRUPTED), HARD_EXIT_AFTER_MS).unref();
      resolve(signal);
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}
