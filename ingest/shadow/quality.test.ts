import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../platform/index.ts';
import { decodeMessage, type FeedQuality, TOPICS } from '../../schemas/index.ts';
import type { GapNotice } from '../source.ts';
import { MemoryLog } from '../testing/memory-log.ts';
import { IngestQuality } from './quality.ts';

const SOL = { marketType: 'perp', marketIndex: 0 } as const;
const gap = (fromSlot: number, filled: boolean): GapNotice => ({
  kind: 'gap',
  fromSlot,
  toSlot: fromSlot + 5,
  filled,
  reason: 'test',
});

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
  it('has the newest slot and time of each source, told once per flush', async () => {
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

  it('counts a gap once however often it is told, and its filling', async () => {
    const log = new MemoryLog();
    const quality = new IngestQuality(log, silentLogger());
    quality.seen(SOL, 'trades', 1);
    for (const notice of [gap(5, false), gap(5, false), gap(5, true), gap(9, true), gap(20, false)])
      quality.gap(notice);
    await quality.flush();
    expect(rows(log).get('perp-0/trades')).toMatchObject({ gapsFound: 3, gapsFilled: 2 });
  });

  it('counts a lost connection as a gap of the accounts until they were all read', async () => {
    const log = new MemoryLog();
    const quality = new IngestQuality(log, silentLogger());
    quality.seen(SOL, 'oracle', 1);
    quality.caughtUp();
    quality.disconnected();
    await quality.flush();
    expect(rows(log).get('perp-0/oracle')).toMatchObject({ gapsFound: 1, gapsFilled: 0 });
    quality.caughtUp();
    await quality.flush();
    expect(rows(log).get('perp-0/oracle')).toMatchObject({ gapsFound: 1, gapsFilled: 1 });
  });

  it('goes on counting where an earlier process stopped', async () => {
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

  it('tells later what a log that was away did not take', async () => {
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
});
