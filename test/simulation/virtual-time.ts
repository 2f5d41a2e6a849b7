// Time that passes only when nothing is left to do. It replaces the clock, the timers and chance of this thread, so that a
// whole ingester runs on it unchanged.

import { createRequire, syncBuiltinESMExports } from 'node:module';
import { chance, createRng, type Rng, uniform } from '../../localnet/exchange/random.ts';

type PromiseTimers = typeof import('node:timers/promises');

interface Entry {
  readonly atMs: number;
  /** Order of entries of the same time. */
  readonly order: number;
  readonly run: () => void;
  /** A timer of the process under test: it ends with the process. */
  readonly isProcess: boolean;
  cancelled: boolean;
}

/** Unix milliseconds at which every simulation begins. */
const EPOCH_MS = Date.UTC(2026, 0, 1);
const realTurn = globalThis.setImmediate;

export class VirtualTime {
  #nowMs = 0;
  #order = 0;
  #heap: Entry[] = [];
  readonly #rng: Rng;

  /** `seed` decides `Math.random`. */
  constructor(seed: number) {
    this.#rng = createRng(seed);
  }

  /** Milliseconds since the simulation began. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** Unix milliseconds. */
  get unixMs(): number {
    return EPOCH_MS + Math.floor(this.#nowMs);
  }

  /** Runs a step of the world after a delay. Returns a function that cancels it. */
  after(delayMs: number, run: () => void): () => void {
    const entry = this.#add(delayMs, run, false);
    return () => {
      entry.cancelled = true;
    };
  }

  /** Ends all timers of the process under test. */
  killTimers(): void {
    for (const entry of this.#heap) if (entry.isProcess) entry.cancelled = true;
  }

  /** Runs entry after entry until `until` holds or nothing is left. All promises settle between two entries. */
  async run(until: () => boolean): Promise<void> {
    await settled();
    while (!until()) {
      const entry = this.#pop();
      if (entry === null) return;
      if (entry.cancelled) continue;
      this.#nowMs = Math.max(this.#nowMs, entry.atMs);
      entry.run();
      await settled();
    }
  }

  /** Replaces the globals of this thread. Returns a function that puts them back. */
  install(): () => void {
    const timers = createRequire(import.meta.url)('node:timers/promises') as Record<string, unknown>;
    const restores = [
      replace(globalThis, 'setTimeout', (run: () => void, ms = 0) => this.#timer(ms, run)),
      replace(globalThis, 'clearTimeout', clear),
      replace(globalThis, 'setInterval', (run: () => void, ms = 0) => this.#interval(ms, run)),
      replace(globalThis, 'clearInterval', clear),
      replace(globalThis, 'setImmediate', (run: () => void) => this.#timer(0, run)),
      replace(Date, 'now', () => this.unixMs),
      replace(performance, 'now', () => this.#nowMs),
      replace(Math, 'random', () => uniform(this.#rng)),
      replace(AbortSignal, 'timeout', (ms: number) => this.#signalAfter(ms)),
      replace(AbortSignal, 'any', composed),
      replace(timers, 'setTimeout', this.#delay as PromiseTimers['setTimeout']),
      replace(timers, 'setImmediate', ((value: unknown) => this.#delay(0, value)) as PromiseTimers['setImmediate']),
    ];
    syncBuiltinESMExports();
    return () => {
      for (const restore of restores) restore();
      syncBuiltinESMExports();
    };
  }

  readonly #delay = (ms = 0, value?: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const stop = () => {
        entry.cancelled = true;
        reject(signal?.reason);
      };
      const entry = this.#add(
        ms,
        () => {
          signal?.removeEventListener('abort', stop);
          resolve(value);
        },
        true,
      );
      signal?.addEventListener('abort', stop, { once: true });
    });

  #timer(ms: number, run: () => void): Timer {
    return new Timer(this.#add(ms, run, true));
  }

  #interval(ms: number, run: () => void): Timer {
    const again = (): void => {
      timer.entry = this.#add(ms, again, true);
      run();
    };
    const timer = new Timer(this.#add(ms, again, true));
    return timer;
  }

  #signalAfter(ms: number): AbortSignal {
    const controller = new AbortController();
    this.#add(ms, () => controller.abort(new DOMException('timed out', 'TimeoutError')), true);
    return controller.signal;
  }

  #add(delayMs: number, run: () => void, isProcess: boolean): Entry {
    const atMs = this.#nowMs + (Number.isFinite(delayMs) && delayMs > 0 ? delayMs : 0);
    const entry: Entry = { atMs, order: this.#order++, run, isProcess, cancelled: false };
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !isBefore(entry, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = entry;
    return entry;
  }

  #pop(): Entry | null {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined) return null;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      if (left === undefined) break;
      const isRight = right !== undefined && isBefore(right, left);
      const least = isRight ? right : left;
      if (!isBefore(least, last)) break;
      heap[at] = least;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = last;
    return first;
  }
}

/** What `setTimeout` returns. */
class Timer {
  entry: Entry;

  constructor(entry: Entry) {
    this.entry = entry;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

function clear(timer: unknown): void {
  if (timer instanceof Timer) timer.entry.cancelled = true;
}

/** Signals that abort with another one. */
const composites = new WeakMap<AbortSignal, Set<AbortController>>();

/** `AbortSignal.any`. Node's own keeps everything that a killed process waited for. */
function composed(signals: Iterable<AbortSignal>): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    if (signal.aborted) {
      controller.abort(signal.reason);
      break;
    }
    compositesOf(signal).add(controller);
  }
  return controller.signal;
}

function compositesOf(signal: AbortSignal): Set<AbortController> {
  const known = composites.get(signal);
  if (known !== undefined) return known;
  const fresh = new Set<AbortController>();
  composites.set(signal, fresh);
  const abort = () => {
    for (const controller of fresh) controller.abort(signal.reason);
  };
  signal.addEventListener('abort', abort, { once: true });
  return fresh;
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}

/** Resolves when no promise of this thread has anything left to do: they all run before the next turn of the event loop. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    realTurn(resolve);
  });
}

function replace(target: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name);
  Object.defineProperty(target, name, { value, configurable: true, writable: true });
  return () => {
    if (before) Object.defineProperty(target, name, before);
    else Reflect.deleteProperty(target, name);
  };
}

/** Decisions of the world, apart from the chance of the process under test. */
export class Dice {
  readonly #rng: Rng;

  constructor(seed: number, purpose: number) {
    this.#rng = createRng(seed * 64 + purpose);
  }

  chance(probability: number): boolean {
    return probability > 0 && chance(this.#rng, probability);
  }

  /** Uniform in [low, high). */
  between(low: number, high: number): number {
    return low + uniform(this.#rng) * (high - low);
  }

  /** Uniform integer in [low, high]. */
  integer(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }

  pick<T>(list: readonly [T, ...T[]]): T {
    return list[this.integer(0, list.length - 1)] ?? list[0];
  }
}
