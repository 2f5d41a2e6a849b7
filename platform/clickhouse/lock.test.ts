import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loginOf } from '../../test/support/clickhouse/login.ts';
import { NODE_FLAGS } from '../../test/support/platform/children.ts';
import { readConfig } from '../config.ts';
import { silentLogger } from '../runtime/logger.ts';
import { LockLostError, withLock } from './lock.ts';
import { type ClickHouse, openClickHouse } from './provider.ts';

// A busy machine with a cold page cache takes seconds to start the engine.
const WORK_MS = 300;
const POLL_MS = 20;
const target = { database: 'locked', cluster: '' };
let dataDir: string;
let clickhouse: ClickHouse;

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-lock-'));
  clickhouse = await openClickHouse(readConfig({}, { dataDir }), silentLogger());
});
afterAll(async () => {
  await clickhouse.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('lock of migrations', () => {
  it('belongs to one process at a time, for each database', async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await sleep(WORK_MS);
      inside -= 1;
    };
    await Promise.all([1, 2, 3].map(() => withLock(clickhouse.client, target, work)));
    expect(most).toBe(1);
    // Each waits until both have the lock.
    const elsewhere = { ...target, database: 'other' };
    let entered = 0;
    let letGo: (both: boolean) => void = () => {};
    const both = new Promise<boolean>((resolve) => {
      letGo = resolve;
    });
    const wait = (): Promise<boolean> => {
      entered += 1;
      if (entered === 2) letGo(true);
      return both;
    };
    await Promise.all([target, elsewhere].map((each) => withLock(clickhouse.client, each, wait)));
    expect(await both).toBe(true);
  });

  it('is released when the work fails, with its error', async () => {
    const failing = withLock(clickhouse.client, target, () => Promise.reject(new RangeError('of the work')));
    await expect(failing).rejects.toThrow(new RangeError('of the work'));
    expect(await withLock(clickhouse.client, target, () => Promise.resolve('next'))).toBe('next');
  });

  it('is released when its process is killed', async () => {
    const script = fileURLToPath(new URL('../../test/support/clickhouse/lock-holder.ts', import.meta.url));
    const holder = spawn(process.execPath, [...NODE_FLAGS, script, JSON.stringify(loginOf(clickhouse)), 'locked'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    let killed = false;
    const next = withLock(clickhouse.client, target, () => Promise.resolve(killed));
    await sleep(WORK_MS);
    killed = holder.kill('SIGKILL');
    expect(await next).toBe(true);
  });

  it('reports its loss when the server ends it', async () => {
    const lost = withLock(clickhouse.client, target, async (assertHeld) => {
      assertHeld();
      await clickhouse.client.command({ query: "KILL QUERY WHERE query_id = 'slotbook-migrations-locked' SYNC" });
      for (;;) {
        await sleep(POLL_MS);
        assertHeld();
      }
    });
    await expect(lost).rejects.toThrow(LockLostError);
  });
});
