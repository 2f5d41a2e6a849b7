// A wait that ends with its signal, around work that cannot be aborted itself.

/** The result of the work. Rejects with the signal's reason when that aborts first: the work goes on, its result is left behind. */
export function beforeAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
