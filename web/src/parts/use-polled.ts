// An answer that is asked for again and again while a view shows it.

import { useEffect, useState } from 'preact/hooks';
import { wordsOf } from '../services.ts';

export interface Polled<T> {
  readonly data: T | null;
  readonly error: string | null;
  /** Unix milliseconds of the newest answer. */
  readonly atMs: number | null;
}

const NOTHING = { data: null, error: null, atMs: null };
const EVERY_MS = 5_000;

/** Asks at once, then every `everyMs`, and anew when `key` changes. A null key asks nothing. A failure keeps the last data. */
export function usePolled<T>(
  key: string | null,
  ask: (signal: AbortSignal) => Promise<T>,
  everyMs = EVERY_MS,
): Polled<T> {
  const [state, setState] = useState<Polled<T>>(NOTHING);
  useEffect(() => {
    if (key === null) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = async () => {
      try {
        const data = await ask(abort.signal);
        setState({ data, error: null, atMs: Date.now() });
      } catch (error) {
        if (abort.signal.aborted) return;
        setState((before) => ({ ...before, error: wordsOf(error) }));
      }
      if (!abort.signal.aborted) timer = setTimeout(again, everyMs);
    };
    setState(NOTHING);
    void again();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key, everyMs]);
  return state;
}
