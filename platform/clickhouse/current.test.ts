import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../test/support/platform/eventually.ts';
import { readConfig } from '../config.ts';
import { openEventLog } from '../log/open.ts';
import type { EventLog } from '../log/port.ts';
import { silentLogger } from '../runtime/logger.ts';
import { type CurrentDatabases, followCurrent, readCurrent, setCurrent } from './current.ts';

let folder: string;
let log: EventLog;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'slotbook-current-'));
  log = await openEventLog(readConfig({}, { dataDir: folder }), silentLogger());
});
afterEach(async () => {
  await log.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the current database', () => {
  it('is the configured one until the first rebuild', async () => {
    expect(await readCurrent(log, 'slotbook')).toEqual({ read: 'slotbook', write: 'slotbook', rebuilding: null });
  });

  it('changes for writers first, then for readers', async () => {
    await setCurrent(log, { rebuilding: 'second' });
    await setCurrent(log, { write: 'second' });
    expect(await readCurrent(log, 'slotbook')).toEqual({ read: 'slotbook', write: 'second', rebuilding: 'second' });
    await setCurrent(log, { read: 'second', rebuilding: null });
    expect(await readCurrent(log, 'slotbook')).toEqual({ read: 'second', write: 'second', rebuilding: null });
  });

  it('reaches running processes once for each change', async () => {
    const changes: CurrentDatabases[] = [];
    const known = await readCurrent(log, 'slotbook');
    const follower = followCurrent(log, silentLogger(), known, (now) => changes.push(now));
    await setCurrent(log, { write: 'second' });
    await eventually(() => expect(changes).toHaveLength(1));
    await setCurrent(log, { read: 'second' });
    await eventually(() => expect(changes).toHaveLength(2));
    await follower.stop();
    expect(changes.map(({ read, write }) => [read, write])).toEqual([
      ['slotbook', 'second'],
      ['second', 'second'],
    ]);
  });
});
