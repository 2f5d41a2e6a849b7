import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type ChainGap, encodeGaps, GAPS_GROUP, GAPS_KEY, TOPICS } from '../../schemas/index.ts';
import { readConfig } from '../config.ts';
import { silentLogger } from '../runtime/logger.ts';
import { historySinkGroup, readHistoryCompleteness } from './completeness.ts';
import { openEventLog } from './open.ts';
import type { EventLog } from './port.ts';

const GAP: ChainGap = {
  fromSlot: 5,
  toSlot: 9,
  reason: 'not connected',
  foundAtMs: 1,
  filledAtMs: null,
  isLasting: false,
};

describe('completeness of the history in the log', () => {
  let dataDir: string;
  let log: EventLog;

  beforeEach(async () => {
    dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-facts-'));
    log = await openEventLog(readConfig({}, { dataDir }), silentLogger());
    await log.ensureTopics([TOPICS.events]);
  });
  afterEach(async () => {
    await log.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const watched = (gaps: readonly ChainGap[]) =>
    log.commit(GAPS_GROUP, { state: [{ key: GAPS_KEY, value: encodeGaps(gaps) }] });
  const append = (partition: number, records: number) =>
    log.append(
      TOPICS.events,
      Array.from({ length: records }, (_, index) => ({ key: 'k', value: Buffer.from([index]), partition })),
    );

  it('is unknown while no ingest has written it', async () => {
    expect(await readHistoryCompleteness(log, 'history-sink')).toEqual({
      gaps: null,
      coverage: [],
      accounts: [],
      eventsNotStored: null,
    });
  });

  it("consists of gaps, and of events after the sink's offset in every partition", async () => {
    await watched([GAP]);
    await append(0, 3);
    await append(1, 4);
    expect(await readHistoryCompleteness(log, 'history-sink')).toEqual({
      gaps: [GAP],
      coverage: [],
      accounts: [],
      eventsNotStored: 7,
    });
    await log.commit('history-sink', { offsets: [{ topic: TOPICS.events.name, partition: 1, next: 3n }] });
    expect((await readHistoryCompleteness(log, 'history-sink')).eventsNotStored).toBe(4);
  });

  it("counts the log's events at the time of the call, and waits until the store has them", async () => {
    await watched([]);
    await append(0, 2);
    const asked = readHistoryCompleteness(log, 'history-sink', 20_000);
    await log.commit('history-sink', { offsets: [{ topic: TOPICS.events.name, partition: 0, next: 2n }] });
    expect(await asked).toEqual({ gaps: [], coverage: [], accounts: [], eventsNotStored: 0 });
  });

  it('uses the sink of the given database', () => {
    expect(historySinkGroup('slotbook', 'slotbook')).toBe('history-sink');
    expect(historySinkGroup('slotbook_2', 'slotbook')).toBe('history-sink@slotbook_2');
  });
});
