// When the shadow check reads: on a fixed grid, even while an earlier comparison waits.

import { Counter, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../platform/index.ts';
import { loadDefinition } from '../../schemas/index.ts';
import { MemoryLog } from '../../test/support/ingest/memory-log.ts';
import { Differ } from '../differ.ts';
import { compileReaders } from '../readers.ts';
import { type AccountsRead, type AccountsWanted, RESUME_MARGIN_SLOTS, type Source } from '../source.ts';
import { SETTLE_SLOTS, ShadowCheck } from './check.ts';
import { IngestQuality } from './quality.ts';
import { PARTIAL_READS_MAX, ShadowRunner } from './runner.ts';

const EVERY_MS = 10_000;
const SLOT_MS = 400;

/** A clock that moves only when the test advances it. */
class FakeClock {
  ms = 0;
  readonly #waiting = new Set<{ readonly at: number; readonly wake: (goesOn: boolean) => void }>();

  now(): number {
    return this.ms;
  }

  pause(ms: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((wake) => {
      this.#waiting.add({ at: this.ms + ms, wake });
      signal.addEventListener('abort', () => wake(false));
    });
  }

  async to(ms: number): Promise<void> {
    this.ms = ms;
    for (const one of this.#waiting) {
      if (one.at > ms) continue;
      this.#waiting.delete(one);
      one.wake(true);
    }
    await new Promise(setImmediate);
  }
}

interface Run {
  readonly reads: number[];
  /** Slot since which each read wants changes; null: it wants all accounts. */
  readonly since: (number | null)[];
  readonly comparisons: number[];
}

/** Runs so many milliseconds of slots. Returns the start times of reads and comparisons in milliseconds. */
async function minute(readMs: number, totalMs = 60_000): Promise<Run> {
  const readers = compileReaders(loadDefinition('velocity'));
  const newDiffer = () => new Differ(readers, (authority) => authority);
  const differ = newDiffer();
  differ.snapshotBegin();
  differ.snapshotEnd(0, () => {});
  const clock = new FakeClock();
  const stopped = new AbortController();
  const reads: number[] = [];
  const since: (number | null)[] = [];
  const comparisons: number[] = [];
  const accounts = async (_: AbortSignal, wanted?: AccountsWanted): Promise<AccountsRead> => {
    reads.push(clock.ms);
    since.push(wanted?.changedSince ?? null);
    const slot = Math.floor(clock.ms / SLOT_MS);
    await clock.pause(readMs, stopped.signal);
    return { slot, newestSlot: slot, updates: [], isWhole: wanted === undefined };
  };
  const log = new MemoryLog();
  const check = new ShadowCheck(differ, newDiffer);
  const registers = [new Registry()];
  const runner = new ShadowRunner({
    check,
    source: { accounts } as unknown as Source,
    log,
    logger: silentLogger(),
    quality: new IngestQuality(log, silentLogger()),
    differences: new Counter({ name: 'differences', help: 'x', labelNames: ['market'], registers }),
    checks: new Counter({ name: 'checks', help: 'x', registers }),
    everyMs: EVERY_MS,
    signal: stopped.signal,
    clock,
  });
  const running = runner.run();
  for (let ms = 0; ms <= totalMs; ms += 100) {
    await clock.to(ms);
    if (runner.advance(Math.floor(ms / SLOT_MS)) !== null) comparisons.push(ms);
  }
  stopped.abort();
  await running;
  return { reads, since, comparisons };
}

describe('shadow runner', () => {
  it('starts six evenly spaced checks in a minute, while each waits for the slots after its read', async () => {
    const { reads, comparisons } = await minute(2_500);
    expect(reads).toEqual([10_000, 20_000, 30_000, 40_000, 50_000, 60_000]);
    expect(comparisons).toHaveLength(5);
    expect(comparisons[0]).toBeGreaterThanOrEqual(10_000 + SETTLE_SLOTS * SLOT_MS);
  });

  it('reads all accounts first, then what changed since the last compared read, and all again after some reads', async () => {
    const { since } = await minute(1_000, (PARTIAL_READS_MAX + 3) * EVERY_MS);
    const [first, second, ...rest] = since;
    expect([first, second]).toEqual([null, Math.max(0, 10_000 / SLOT_MS - RESUME_MARGIN_SLOTS)]);
    expect(rest.indexOf(null)).toBe(PARTIAL_READS_MAX - 1);
    for (const [index, slot] of rest.slice(0, PARTIAL_READS_MAX - 1).entries()) {
      expect(slot).toBe(Math.max(0, ((index + 2) * EVERY_MS) / SLOT_MS - RESUME_MARGIN_SLOTS));
    }
  });

  it('rests twice as long as a read takes, so that a slow node is not read all the time', async () => {
    const { reads } = await minute(12_000);
    expect(reads).toEqual([10_000, 50_000]);
  });
});
