// Downloads: answers that stream from the store for as long as their client reads. All routes share one bound of them.

import { finished, type Readable } from 'node:stream';
import type { ClickHouseSettings } from '../../platform/index.ts';
import { HistoryError } from '../http/errors.ts';

/** Concurrent downloads. Each uses one of the 16 connections to the store; the other routes need the rest. */
export const DOWNLOADS_AT_ONCE = 4;
/** A slow client has ten minutes for about 40 MB. One that reads nothing for a minute ends at the store's request timeout. */
export const DOWNLOAD_TIMEOUT_S = 600;
/** How long a dated CSV waits for a place. Most of the files before it take less than a second. */
export const CSV_PATIENCE_MS = 10_000;
/** Each waiting one holds a request and its socket. */
export const WAITING_MAX = 256;
/** A refused one comes back when the longest wait of now is over. */
const RETRY_AFTER_S = CSV_PATIENCE_MS / 1_000;

/** For contracts: how long a download may last, and how a failure shows. */
export const DOWNLOAD_END =
  `A download ends after ${DOWNLOAD_TIMEOUT_S} seconds, or when its client reads nothing for a minute. One that cannot be finished is ` +
  'cut off, so that it is no whole body.';

/** Settings of a query whose rows are a download. */
export const DOWNLOAD_SETTINGS: ClickHouseSettings = {
  max_execution_time: DOWNLOAD_TIMEOUT_S,
  // A failed answer is cut off instead of ending with the text of an error.
  http_write_exception_in_output_format: 0,
};

export class Downloads {
  #running = 0;
  /** Each call gives a place to a waiting one, first come first served. */
  readonly #waiting = new Set<() => void>();

  /**
   * Opens a stream once there is a place, and frees the place when the stream ends, fails, or lasts too long. Waits at most
   * `patienceMs`, then throws HistoryError downloadsBusy, as at once without patience. `gone` aborts when the client goes away: it gives up
   * the wait, or ends the stream.
   */
  async take(open: () => Promise<Readable>, patienceMs: number, gone?: AbortSignal): Promise<Readable> {
    if (this.#running < DOWNLOADS_AT_ONCE) this.#running += 1;
    else await this.#wait(patienceMs, gone);
    try {
      const stream = await open();
      this.#hold(stream, gone);
      return stream;
    } catch (error) {
      this.#free();
      throw error;
    }
  }

  #wait(patienceMs: number, gone: AbortSignal | undefined): Promise<void> {
    if (patienceMs === 0) throw new HistoryError('downloadsBusy');
    if (this.#waiting.size >= WAITING_MAX || gone?.aborted) throw refusal();
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        gone?.removeEventListener('abort', refuse);
        this.#waiting.delete(enter);
      };
      const enter = () => {
        leave();
        resolve();
      };
      const refuse = () => {
        leave();
        reject(refusal());
      };
      const timer = setTimeout(refuse, patienceMs);
      gone?.addEventListener('abort', refuse);
      this.#waiting.add(enter);
    });
  }

  #hold(stream: Readable, gone: AbortSignal | undefined): void {
    const end = () => stream.destroy();
    const timer = setTimeout(end, DOWNLOAD_TIMEOUT_S * 1_000).unref();
    gone?.addEventListener('abort', end);
    finished(stream, { writable: false }, () => {
      clearTimeout(timer);
      gone?.removeEventListener('abort', end);
      this.#free();
    });
    if (gone?.aborted) end();
  }

  /** Passes a place on. */
  #free(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#running -= 1;
  }
}

const refusal = (): HistoryError => new HistoryError('downloadsBusy', undefined, { retryAfterS: RETRY_AFTER_S });
