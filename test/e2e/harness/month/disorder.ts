// The same month from a second log with copies, disorder and late events, stored and reduced by processes that are killed at
// random moments.

import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLogAt } from '../../../support/log/open-at.ts';
import { eventually, type Running, startRoles } from '../../../support/processes/processes.ts';
import { copyEventsInDisorder, copySurroundings, unread } from './log.ts';
import type { Month } from './run.ts';

const VICTIMS = ['sink', 'candles'] as const;
const CATCH_UP_MS = 120_000;
const PAUSE_MAX_MS = 60;

export interface DisorderedMonth {
  /** Of the history service. */
  readonly url: string;
  readonly clickhouse: string;
  /** Records beyond those of the original log. */
  readonly copies: number;
  readonly kills: number;
  stop(): Promise<void>;
}

export async function disorderedMonth(month: Month, random: () => number, kills: number): Promise<DisorderedMonth> {
  const original = await openLogAt(month.dataDir);
  const dir = path.join(month.dataDir, 'disordered');
  const log = await openLogAt(dir);
  const running = new Map<string, Running>();
  const stop = async (): Promise<void> => {
    for (const role of [...running.values()].reverse()) await role.stop();
    await log.close();
    await original.close();
  };
  try {
    await copySurroundings(original, log);
    const clickhouse = await startRoles(['clickhouse'], { DATA_DIR: dir });
    running.set('clickhouse', clickhouse);
    const settings = { DATA_DIR: dir };
    const start = async (role: 'sink' | 'candles' | 'history'): Promise<void> => {
      running.set(role, await startRoles([role], settings));
    };
    for (const role of VICTIMS) await start(role);
    let done = false;
    let killed = 0;
    const killing = (async () => {
      while (!done || killed < kills) {
        const victim = VICTIMS[killed % VICTIMS.length] ?? 'sink';
        await sleep(100 + random() * 500);
        await running.get(victim)?.kill9();
        await start(victim);
        killed += 1;
      }
    })();
    killing.catch(() => {}); // awaited below
    const copies = await copyEventsInDisorder(original, log, random, () => sleep(random() * PAUSE_MAX_MS));
    done = true;
    await killing;
    await eventually(
      'the second log read to its end',
      async () => (await unread(log, ['candles', 'history-sink'])).length === 0,
      CATCH_UP_MS,
    );
    await start('history');
    const url = running.get('history')?.endpoints.history ?? '';
    return { url, clickhouse: clickhouse.endpoints.clickhouse ?? '', copies, kills: killed, stop };
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
}
