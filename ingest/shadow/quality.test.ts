import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../platform/index.ts';
import { decodeMessage, encodeMessage, type FeedQuality, TOPICS } from '../../schemas/index.ts';
import { MemoryLog } from '../../test/support/ingest/memory-log.ts';
import { GapList } from '../gaps.ts';
import type { GapNotice } from '../source.ts';
import { IngestQuality } from './quality.ts';

const SOL = { marketType: 'perp', marketIndex: 0 } as const;
const gap = (fromSlot: number, filled: boolean, toSlot = fromSlot + 5, isLasting = false): GapNotice => ({
  kind: 'gap',
  fromSlot,
  toSlot,
  filled,
  reason: 'test',
  isLasting,
});

/** Quality and gaps of one process, updated like in the pipeline. */
async function process(log: MemoryLog) {
  const quality = new IngestQuality(log, silentLogger());
  await quality.load();
  const gaps = new GapList(log);
  await gaps.load();
  const saved = async () => {
    await gaps.save();
    quality.transactions(gaps.counts);
  };
  return {
    quality,
    note: async (...notices: readonly GapNotice[]) => {
      for (const one of notices) gaps.note(one);
      await saved();
    },
    reached: async (slot: number) => {
      gaps.reached(slot);
      await saved();
    },
  };
}

/** Written counts of a source, as [found, filled]. */
async function counts(quality: IngestQuality, log: MemoryLog, source: string) {
  await quality.flush();
  const row = rows(log).get(`perp-0/${source}`);
  return [row?.gapsFound, row?.gapsFilled];
}

/** The newest row of each key. */
function rows(log: MemoryLog): Map<string, FeedQuality> {
  return new Map(
    log.all(TOPICS.qualityViews).flatMap(({ key, value }) => {
      const message = decodeMessage(value);
      return message.name === 'FeedQuality' ? [[key, message.value]] : [];
    }),
  );
}

describe('quality of the sources', () => {
  it('writes the newest slot and time of each source once per flush', async () => {
    const log = new MemoryLog();
    const quality = new IngestQuality(log, silentLogger(), () => 77);
    quality.seen(SOL, 'user', 10);
    quality.seen(SOL, 'user', 12);
    quality.seen(SOL, 'user', 11);
    quality.seen(SOL, 'clob', 9);
    await quality.flush();
    await quality.flush();
    expect(log.all(TOPICS.qualityViews)).toHaveLength(2);
    expect(rows(log).get('perp-0/user')).toMatchObject({ slot: 12, atMs: 77, events: 3 });
    expect(rows(log).get('perp-0/clob')).toMatchObject({ slot: 9, events: 1 });
  });

  it('counts a repeated gap once, as found and as filled', async () => {
    const log = new MemoryLog();
    const { quality, note } = await process(log);
    quality.seen(SOL, 'trades', 1);
    await note(gap(5, false), gap(5, false), gap(5, true), gap(9, true), gap(20, false));
    expect(await counts(quality, log, 'trades')).toEqual([3, 2]);
  });

  it('counts a gap as filled once all its transactions are in the log, and a lasting one never', async () => {
    const log = new MemoryLog();
    const { quality, note, reached } = await process(log);
    quality.seen(SOL, 'trades', 1);
    await note(gap(5, false), gap(7, false, 9, true));
    await reached(9);
    expect(await counts(quality, log, 'trades')).toEqual([2, 0]);
    await reached(10);
    expect(await counts(quality, log, 'trades')).toEqual([2, 1]);
  });

  it('does not count a merged gap as filled, before and after a restart', async () => {
    const log = new MemoryLog();
    const first = await process(log);
    first.quality.seen(SOL, 'trades', 1);
    await first.note(...Array.from({ length: 1_100 }, (_, index) => gap(index * 10, false)));
    expect(await counts(first.quality, log, 'trades')).toEqual([1_100, 0]);
    const second = await process(log);
    await second.reached(1_000);
    expect(await counts(second.quality, log, 'trades')).toEqual([1_100, 0]);
    await second.reached(11_000);
    expect(await counts(second.quality, log, 'trades')).toEqual([1_100, 1_100]);
  });

  it('counts a lost connection as one gap of the accounts until all are read, however many attempts fail', async () => {
    const log = new MemoryLog();
    const quality = new IngestQuality(log, silentLogger());
    quality.seen(SOL, 'oracle', 1);
    quality.caughtUp();
    for (let attempt = 0; attempt < 3; attempt++) quality.disconnected();
    expect(await counts(quality, log, 'oracle')).toEqual([1, 0]);
    quality.caughtUp();
    expect(await counts(quality, log, 'oracle')).toEqual([1, 1]);
    quality.disconnected();
    quality.caughtUp();
    expect(await counts(quality, log, 'oracle')).toEqual([2, 2]);
  });

  it('opens and closes each outage once, over attempts, restarts and filled notices in any order', async () => {
    const steps = fc.array(fc.constantFrom('attempt', 'accounts', 'restart', 'listed', 'transactions'), {
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (taken) => {
        const log = new MemoryLog();
        let running = await process(log);
        for (const source of ['user', 'trades'] as const) running.quality.seen(SOL, source, 1);
        const accounts = { found: 0, open: 0 };
        const transactions = { found: 0, open: 0 };
        const lose = (model: typeof accounts) => {
          model.found += 1 - model.open;
          model.open = 1;
        };
        let slot = 100;
        let liveTo = 100;
        let resume = 95;
        for (const step of taken) {
          slot += 10;
          if (step === 'restart') {
            await running.quality.flush();
            running = await process(log);
            liveTo = resume;
          }
          if (step === 'restart' || step === 'attempt') {
            running.quality.disconnected();
            lose(accounts);
          } else if (step === 'accounts') {
            running.quality.caughtUp();
            accounts.open = 0;
          } else {
            await running.note(gap(liveTo, false, slot));
            lose(transactions);
            if (step === 'listed') continue;
            await running.note(gap(liveTo, true, slot));
            transactions.open = 0;
            liveTo = slot;
            resume = slot - 5;
          }
        }
        const expected = ({ found, open }: typeof accounts) => [found, found - open];
        expect(await counts(running.quality, log, 'user')).toEqual(expected(accounts));
        expect(await counts(running.quality, log, 'trades')).toEqual(expected(transactions));
      }),
      { numRuns: 100 },
    );
  });

  it('corrects counts of earlier processes that counted each failed attempt as a gap', async () => {
    const log = new MemoryLog();
    const source = {
      marketType: 'perp',
      marketIndex: 0,
      slot: 9,
      atMs: 1,
      events: 1,
      checks: 0,
      differences: 0,
    } as const;
    const skewed = { ...source, gapsFound: 4, gapsFilled: 1, checkSlot: 0, checkResult: 'none', epoch: 0 };
    await log.append(
      TOPICS.qualityViews,
      ['user', 'trades'].map((name) => ({
        key: `perp-0/${name}`,
        value: encodeMessage('FeedQuality', { ...skewed, source: name }),
      })),
    );
    const { quality, note } = await process(log);
    quality.disconnected();
    expect(await counts(quality, log, 'user')).toEqual([4, 1]);
    quality.caughtUp();
    expect(await counts(quality, log, 'user')).toEqual([4, 4]);
    await note(gap(20, false));
    expect(await counts(quality, log, 'trades')).toEqual([5, 4]);
  });

  it('continues the counts of an earlier process', async () => {
    const log = new MemoryLog();
    const first = new IngestQuality(log, silentLogger());
    first.seen(SOL, 'user', 10);
    first.compared({ slot: 20, markets: [SOL], repaired: new Map([['perp-0', 'accounts']]), differences: [] });
    await first.flush();
    const second = new IngestQuality(log, silentLogger());
    await second.load();
    second.seen(SOL, 'user', 11);
    second.compared({ slot: 30, markets: [SOL], repaired: new Map(), differences: [] });
    await second.flush();
    expect(rows(log).get('perp-0/user')).toMatchObject({ slot: 11, events: 2 });
    expect(rows(log).get('perp-0/shadow')).toMatchObject({
      checks: 2,
      differences: 1,
      checkSlot: 30,
      checkResult: 'equal',
    });
  });

  it('writes rows later when the log was unavailable', async () => {
    const log = new MemoryLog();
    const quality = new IngestQuality(log, silentLogger());
    quality.seen(SOL, 'user', 10);
    log.fault = () => 0;
    await quality.flush();
    expect(log.all(TOPICS.qualityViews)).toHaveLength(0);
    log.fault = () => null;
    await quality.flush();
    expect(rows(log).get('perp-0/user')?.slot).toBe(10);
  });

  it('lists the live sources, and none after a restart with a single one', async () => {
    const log = new MemoryLog();
    const listed = () =>
      log.all(TOPICS.qualityViews).flatMap(({ value }) => {
        const message = decodeMessage(value);
        return message.name === 'LiveSources' ? [message.value.sources.map(({ name }) => name)] : [];
      });
    const counts = { slot: 5, lagSlots: 0, missingAccounts: 0, missingTransactions: 0, contradictions: 0, faults: 0 };
    const source = { name: 'one:1', kind: 'grpc', role: 'leader', isLying: false, reason: '', ...counts } as const;
    const first = new IngestQuality(log, silentLogger());
    first.sources([source]);
    log.fault = () => 0;
    await first.flush();
    log.fault = () => null;
    await first.flush();
    const second = new IngestQuality(log, silentLogger());
    await second.load();
    for (let time = 0; time < 2; time++) {
      second.sources([]);
      await second.flush();
    }
    expect(listed()).toEqual([['one:1'], []]);
  });
});
