import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BackfillTail, type Config, openEventLog, readConfig, silentLogger } from '../platform/index.ts';
import { type Backfill, encodeMessage, TOPICS } from '../schemas/index.ts';
import { backfill } from './backfill.ts';

describe('a range that is asked for', () => {
  let config: Config;
  beforeEach(async () => {
    config = readConfig({}, { dataDir: await mkdtemp(path.join(tmpdir(), 'slotbook-backfill-')) });
  });
  afterEach(() => rm(config.dataDir, { recursive: true, force: true }));

  /** The requests after one more for the same range. */
  const askAfter = async (state: Backfill['state']) => {
    const earlier: Backfill = {
      ...{ id: 'earlier', fromSlot: 100, toSlot: 200, nextSlot: 140, found: 3, lost: 1, atMs: 5 },
      ...{ state, reason: 'HTTP 503' },
    };
    const before = await openEventLog(config, silentLogger());
    await before.ensureTopics([TOPICS.backfills]);
    await before.append(TOPICS.backfills, [{ key: 'earlier', value: encodeMessage('Backfill', earlier) }]);
    await before.close();
    expect(await backfill(config, { from: '100', to: '200', wait: false })).toBe(0);
    const log = await openEventLog(config, silentLogger());
    const requests = [...(await new BackfillTail(log).read()).values()];
    await log.close();
    return requests;
  };

  it('goes on where an earlier request for it failed', async () => {
    const [one, ...others] = await askAfter('failed');
    expect(others).toEqual([]);
    expect(one).toMatchObject({ id: 'earlier', nextSlot: 140, found: 3, lost: 1, state: 'asked' });
  });

  it('is read anew after an earlier request for it was done', async () => {
    const [, one] = await askAfter('done');
    expect(one).toMatchObject({ nextSlot: 100, found: 0, lost: 0, state: 'asked' });
  });
});
