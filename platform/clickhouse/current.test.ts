import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryLog } from '../../test/support/log/temporary-log.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import type { EventLog } from '../log/port.ts';
import { silentLogger } from '../runtime/logger.ts';
import { type CurrentDatabases, followCurrent, readCurrent, setCurrent } from './current.ts';

let log: EventLog;

beforeEach(async () => {
  ({ log } = await temporaryLog());
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
