import { once } from 'node:events';
import { PassThrough, type Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CSV_PATIENCE_MS, DOWNLOAD_TIMEOUT_S, DOWNLOADS_AT_ONCE, Downloads, WAITING_MAX } from './downloads.ts';

let downloads: Downloads;
let opened: PassThrough[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  downloads = new Downloads();
  opened = [];
});

afterEach(() => {
  vi.useRealTimers();
});

const open = async (): Promise<Readable> => {
  const stream = new PassThrough();
  opened.push(stream);
  return stream;
};

const fill = () => Promise.all(Array.from({ length: DOWNLOADS_AT_ONCE }, () => downloads.take(open, 0)));
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A download that waits; its outcome goes to a list. */
function waiting(name: string, outcomes: string[], gone?: AbortSignal): void {
  downloads.take(open, CSV_PATIENCE_MS, gone).then(
    () => outcomes.push(name),
    (error: { code: string; retryAfterS: number | null }) =>
      outcomes.push(`${name} ${error.code} ${error.retryAfterS}`),
  );
}

describe('downloads', () => {
  it('refuses one more at once where it has no patience', async () => {
    await fill();
    await expect(downloads.take(open, 0)).rejects.toMatchObject({ code: 'downloadsBusy', retryAfterS: null });
    expect(opened).toHaveLength(DOWNLOADS_AT_ONCE);
  });

  it.each([
    ['ends', (stream: PassThrough) => stream.end().resume()],
    ['fails', (stream: PassThrough) => stream.destroy(new Error('the store is away'))],
    ['is left by its reader', (stream: PassThrough) => stream.destroy()],
  ])('gives the place of one that %s to the one that waits longest', async (_, finish) => {
    await fill();
    const outcomes: string[] = [];
    for (const name of ['first', 'second', 'third']) waiting(name, outcomes);
    await settled();
    expect(outcomes).toEqual([]);
    for (const expected of [['first'], ['first', 'second'], ['first', 'second', 'third']]) {
      const running = opened[expected.length - 1];
      finish(running as PassThrough);
      await settled();
      expect(outcomes).toEqual(expected);
    }
  });

  it('gives the place of one that cannot be opened to the next one', async () => {
    const failing = async () => {
      throw new Error('the store is away');
    };
    for (let times = 0; times <= DOWNLOADS_AT_ONCE; times++) {
      await expect(downloads.take(failing, 0)).rejects.toThrow('the store is away');
    }
    await fill();
    const outcomes: string[] = [];
    const failed = downloads.take(failing, CSV_PATIENCE_MS).catch(() => outcomes.push('failed'));
    waiting('next', outcomes);
    opened[0]?.destroy();
    await failed;
    await settled();
    expect(outcomes).toEqual(['failed', 'next']);
  });

  it('refuses one that waited for its whole patience, and says when to come back', async () => {
    await fill();
    const outcomes: string[] = [];
    waiting('patient', outcomes);
    await vi.advanceTimersByTimeAsync(CSV_PATIENCE_MS - 1);
    expect(outcomes).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(outcomes).toEqual(['patient downloadsBusy 10']);
    opened[0]?.destroy();
    await settled();
    await downloads.take(open, 0);
  });

  it('lets a bounded number wait', async () => {
    await fill();
    const outcomes: string[] = [];
    for (let n = 0; n < WAITING_MAX; n++) waiting(`waiting ${n}`, outcomes);
    waiting('one more', outcomes);
    await settled();
    expect(outcomes).toEqual(['one more downloadsBusy 10']);
  });

  it('gives up the wait of a client that goes away', async () => {
    await fill();
    const outcomes: string[] = [];
    const gone = new AbortController();
    waiting('gone', outcomes, gone.signal);
    waiting('next', outcomes);
    gone.abort();
    opened[0]?.destroy();
    await settled();
    expect(outcomes).toEqual(['gone downloadsBusy 10', 'next']);
    expect(opened).toHaveLength(DOWNLOADS_AT_ONCE + 1);
  });

  it.each(['before', 'after'])('ends the stream of a client that goes away %s it opens', async (when) => {
    const gone = new AbortController();
    const taken = downloads.take(
      async () => {
        if (when === 'before') gone.abort();
        return open();
      },
      0,
      gone.signal,
    );
    const stream = await taken;
    if (when === 'after') gone.abort();
    expect(stream.destroyed).toBe(true);
    await settled();
    await fill();
  });

  it('ends after ten minutes', async () => {
    const [stream] = await fill();
    const closed = once(stream as Readable, 'close');
    await vi.advanceTimersByTimeAsync(DOWNLOAD_TIMEOUT_S * 1_000 - 1);
    expect(stream?.destroyed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    await closed;
    await settled();
    await downloads.take(open, 0);
  });
});
