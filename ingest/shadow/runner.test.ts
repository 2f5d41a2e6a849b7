// When the shadow check reads: on a fixed grid, even while an earlier comparison waits.

import { Counter, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../platform/index.ts';
import { loadDefinition } from '../../schemas/index.ts';
import { MemoryLog } from '../../test/support/ingest/memory-log.ts';
import { compileReaders, Differ } from '../differ.ts';
import type { AccountsRead, Source } from '../source.ts';
import { SETTLE_SLOTS, ShadowCheck } from './check.ts';
import { IngestQuality } from './quality.ts';
import { ShadowRunner } from './runner.ts';

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

/** Runs a minute of slots. Returns the start times of reads and comparisons in milliseconds. */
async function minute(readMs: number): Promise<{ readonly reads: number[]; readonly comparisons: number[] }> {
  const readers = compileReaders(loadDefinition('velocity'));
  const newDiffer = () => new Differ(readers, (authority) => authority);
  const differ = newDiffer();
  differ.snapshotBegin();
  differ.snapshotEnd(0, () => {});
  const clock = new FakeClock();
  const stopped = new AbortController();
  const reads: number[] = [];
  const comparisons: number[] = [];
  const accounts = async (): Promise<AccountsRead> => {
    reads.push(clock.ms);
    const slot = Math.floor(clock.ms / SLOT_MS);
    await clock.pause(readMs, stopped.signal);
    return { slot, updates: [] };
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
  for (let ms = 0; ms <= 60_000; ms += 100) {
    await clock.to(ms);
    if (runner.advance(Math.floor(ms / SLOT_MS)) !== null) comparisons.push(ms);
  }
  stopped.abort();
  await running;
  return { reads, comparisons };
}

describe('shadow runner', () => {
  it('starts six evenly spaced checks in a minute, while each waits for the slots after its read', async () => {
    const { reads, comparisons } = await minute(2_500);
    expect(reads).toEqual([10_000, 20_000, 30_000, 40_000, 50_000, 60_000]);
    expect(comparisons).toHaveLength(5);
    expect(comparisons[0]).toBeGreaterThanOrEqual(10_000 + SETTLE_SLOTS * SLOT_MS);
  });

  it('rests twice as long as a read takes, so that a slow node is not read all the time', async () => {
    const { reads } = await minute(12_000);
    expect(reads).toEqual([10_000, 50_000]);
  });
});
