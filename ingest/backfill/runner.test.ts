import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BackfillTail, type EventLog, openEventLog, readConfig, silentLogger } from '../../platform/index.ts';
import { type Backfill, encodeMessage, type StreamCoverage, TOPICS } from '../../schemas/index.ts';
import { until } from '../../test/support/platform/eventually.ts';
import type { Clock } from '../rpc/clock.ts';
import type { BlockReader, SlotRange, Source } from '../source.ts';
import { BackfillRunner } from './runner.ts';

const [FROM, TO, CUT] = [100, 159, 125];

interface Filled extends SlotRange {
  readonly cut: readonly SlotRange[];
}

describe('a backfill over several chunks', () => {
  let log: EventLog;
  let dataDir: string;
  let stop: AbortController;
  beforeEach(async () => {
    stop = new AbortController();
    dataDir = await mkdtemp(path.join(tmpdir(), 'slotbook-runner-'));
    log = await openEventLog(readConfig({}, { dataDir }), silentLogger());
    await log.ensureTopics([TOPICS.events, TOPICS.backfills, TOPICS.coverageViews]);
  });
  afterEach(async () => {
    stop.abort();
    await log.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** No node has the blocks below `heldFrom`. */
  const run = async (from: number, heldFrom = 0) => {
    const filled: Filled[] = [];
    const reader: BlockReader = {
      slots: async ({ fromSlot, toSlot }) => {
        const all = Array.from({ length: toSlot - fromSlot + 1 }, (_, index) => fromSlot + index);
        const missing = { fromSlot, toSlot: Math.min(toSlot, heldFrom - 1) };
        return { slots: all.filter((slot) => slot >= heldFrom), missing: fromSlot < heldFrom ? [missing] : [] };
      },
      read: async (slot) =>
        ({ slot, transactions: [], lacking: 0 }) as unknown as Awaited<ReturnType<BlockReader['read']>>,
    };
    let reads = Math.max(from, heldFrom) - 1;
    const pipeline = {
      resume: { slot: 1_000_000 } as never,
      backfill: async () => ({ found: 0, isCut: ++reads === CUT }),
      backfilled: async (range: SlotRange, cut: readonly SlotRange[]) => {
        filled.push({ ...range, cut: [...cut] });
      },
    };
    const source = { blocks: () => reader } as unknown as Source;
    const counts = { nextSlot: from, found: 0, lost: 0, atMs: 0 };
    const value: Backfill = { id: 'one', fromSlot: FROM, toSlot: TO, ...counts, state: 'asked', reason: 'test' };
    await log.append(TOPICS.backfills, [{ key: 'one', value: encodeMessage('Backfill', value) }]);
    const parts = { log, logger: silentLogger(), source, pipeline, blocksPerSecond: 1_000, signal: stop.signal };
    void new BackfillRunner(parts).run();
    const state = async () => (await new BackfillTail(log).read()).get('one');
    await until(async () => (await state())?.state === 'done');
    return { filled, lost: (await state())?.lost };
  };

  it('names a slot with a cut log in every range that contains it, the whole range too', async () => {
    const { filled } = await run(FROM);
    const around = filled.filter(({ fromSlot, toSlot }) => fromSlot <= CUT && toSlot >= CUT);
    const cut = [{ fromSlot: CUT, toSlot: CUT }];
    expect(around.map((one) => one.cut)).toEqual([cut, cut]);
    expect(filled.at(-1)).toEqual({ fromSlot: FROM, toSlot: TO, cut });
  });

  it('that another process began answers only for the slots that it read itself', async () => {
    expect((await run(140)).filled.every(({ fromSlot }) => fromSlot >= 140)).toBe(true);
  });

  it('counts the slots whose blocks no node has, and leaves their gaps open', async () => {
    const { filled, lost } = await run(FROM, 130);
    expect(lost).toBe(30);
    expect(filled.at(-1)).toEqual({ fromSlot: FROM, toSlot: TO, cut: [{ fromSlot: FROM, toSlot: 129 }] });
  });

  it('goes on at its next slot after a minute of failures, and closes the hole', async () => {
    const FAILING_FROM = 140;
    const FAILING_MS = 60_000;
    let nowMs = 0;
    const clock: Clock = {
      now: () => nowMs,
      wait: async (ms, signal) => {
        nowMs += ms;
        await new Promise(setImmediate);
        signal.throwIfAborted();
      },
      chance: () => 0.5,
    };
    const hole = { fromId: 1, toId: 2, fromSlot: FROM, toSlot: TO, isLost: false };
    const value: StreamCoverage = {
      ...{ subject: 'perp-0', stream: 'fills', slot: TO, firstId: 1, lastId: 9, chainId: 9, missing: 2 },
      holes: [{ ...hole, reconstructed: [], reconstructedOrders: [] }],
    };
    await log.append(TOPICS.coverageViews, [{ key: 'perp-0', value: encodeMessage('StreamCoverage', value) }]);
    const read: number[] = [];
    const filled: SlotRange[] = [];
    const reader = {
      slots: async ({ fromSlot, toSlot }: SlotRange) => {
        if (fromSlot >= FAILING_FROM && nowMs < FAILING_MS) throw new Error('HTTP 503');
        return { slots: Array.from({ length: toSlot - fromSlot + 1 }, (_, index) => fromSlot + index), missing: [] };
      },
      read: async (slot: number) => {
        read.push(slot);
        return { slot, transactions: [], lacking: 0 };
      },
    };
    const pipeline = {
      resume: { slot: 1_000_000 } as never,
      backfill: async () => ({ found: 0, isCut: false }),
      backfilled: async (range: SlotRange) => void filled.push(range),
    };
    const source = { blocks: () => reader } as unknown as Source;
    const parts = { log, logger: silentLogger(), source, pipeline, blocksPerSecond: 1_000, signal: stop.signal, clock };
    void new BackfillRunner(parts).run();
    await until(async () => [...(await new BackfillTail(log).read()).values()][0]?.state === 'done');
    expect(nowMs).toBeGreaterThan(FAILING_MS);
    expect(filled.at(-1)).toEqual({ fromSlot: FROM, toSlot: TO });
    expect(read).toEqual(Array.from({ length: TO - FROM + 1 }, (_, index) => FROM + index));
  });
});
