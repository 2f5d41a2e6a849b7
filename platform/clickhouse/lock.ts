// A lock for changes to a database's tables: one process at a time. The lock is a running query. A server refuses a second
// query with the same id, and ends a query when its connection closes, so a killed process leaves no lock behind.

import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseError, type ResultSet } from '@clickhouse/client';
import type { ClickHouseClient } from './client.ts';

/** Sends a row each tenth of a second, so that the connection does not look dead. */
const HOLD = 'SELECT sleepEachRow(0.1) FROM system.numbers';
const ALREADY_RUNNING = '216';
const RETRY_MIN_MS = 100;
const RETRY_MAX_MS = 400;

export interface LockTarget {
  readonly database: string;
  /** Cluster whose replicas count as well; empty for one server. */
  readonly cluster: string;
}

export class LockLostError extends Error {
  override readonly name = 'LockLostError';
}

/** Throws LockLostError when the lock's query has ended. */
export type AssertHeld = () => void;

/**
 * Runs `work` under the lock of this database; waits for the lock without a limit. `work` calls its argument before each step
 * that must not run beside another process. Rejects like `work`, or with the client's error.
 */
export async function withLock<T>(
  client: ClickHouseClient,
  target: LockTarget,
  work: (assertHeld: AssertHeld) => Promise<T>,
): Promise<T> {
  for (;;) {
    const lock = await tryLock(client, target);
    if (lock !== null) return work(lock.assertHeld).finally(lock.release);
    await sleep(randomInt(RETRY_MIN_MS, RETRY_MAX_MS));
  }
}

interface Lock {
  readonly assertHeld: AssertHeld;
  readonly release: () => void;
}

async function tryLock(client: ClickHouseClient, { database, cluster }: LockTarget): Promise<Lock | null> {
  const id = `slotbook-migrations-${database}`;
  const mark = randomUUID();
  let running: ResultSet<'JSONEachRow'> | null = null;
  const release = () => running?.close();
  try {
    running = await client.query({
      query: HOLD,
      query_id: id,
      format: 'JSONEachRow',
      clickhouse_settings: {
        readonly: '2',
        cancel_http_readonly_queries_on_client_close: 1,
        max_block_size: '1',
        max_execution_time: 0,
        log_comment: mark,
      },
    });
    const rows = running.stream();
    let ended = false;
    const end = () => {
      ended = true;
    };
    await new Promise<void>((resolve, reject) => {
      rows.once('data', () => resolve());
      rows.once('error', reject);
      rows.once('close', () => reject(new LockLostError('the lock ended at once')));
    });
    rows.on('error', end).on('close', end).resume();
    const assertHeld = () => {
      if (ended) throw new LockLostError(`the lock of ${database} was lost`);
    };
    if (cluster === '' || !(await isHeldElsewhere(client, cluster, id, mark))) return { assertHeld, release };
    release();
    return null;
  } catch (error) {
    release();
    if (error instanceof ClickHouseError && error.code === ALREADY_RUNNING) return null;
    throw error;
  }
}

/** Each server knows only its own query ids. When two processes lock on two replicas, at least one sees the other here. */
async function isHeldElsewhere(client: ClickHouseClient, cluster: string, id: string, mark: string): Promise<boolean> {
  const result = await client.query({
    query: `SELECT 1 FROM clusterAllReplicas(${cluster}, system.processes)
      WHERE query_id = {id:String} AND Settings['log_comment'] != {mark:String}`,
    query_params: { id, mark },
    format: 'JSONEachRow',
    clickhouse_settings: { skip_unavailable_shards: 1 },
  });
  return (await result.json()).length > 0;
}
