// A process that measures `process.nextTick` after collections that found no tick alive. The bench controls it over IPC.

import { setTimeout as sleep } from 'node:timers/promises';
import { keepTickShape } from '../../../platform/index.ts';

export interface TickLoad {
  readonly keepsShape: boolean;
}

export interface TickResult {
  /** User time of the process for one tick, after the collections. */
  readonly nanoseconds: number;
  /** The same before any. */
  readonly nanosecondsBefore: number;
}

const TICKS = 2_000_000;
/** Ticks of one turn of the loop. */
const CHAIN = 1_000;
/** V8 keeps a map without objects for two collections. */
const COLLECTIONS = 6;

function ticks(count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count;
    const step = (): void => {
      left -= 1;
      if (left % CHAIN > 0) process.nextTick(step);
      else if (left > 0) setImmediate(step);
      else resolve();
    };
    process.nextTick(step);
  });
}

async function nanosecondsOfTick(): Promise<number> {
  const { user } = process.cpuUsage();
  await ticks(TICKS);
  return Math.round((process.cpuUsage().user - user) * (1_000 / TICKS));
}

async function run({ keepsShape }: TickLoad): Promise<TickResult> {
  if (!globalThis.gc) throw new Error('node runs without --expose-gc');
  if (keepsShape) keepTickShape();
  const nanosecondsBefore = await nanosecondsOfTick();
  for (let collection = 0; collection < COLLECTIONS; collection++) {
    await sleep(1);
    globalThis.gc();
  }
  // Learns the second map, or the first one again.
  await ticks(TICKS);
  return { nanosecondsBefore, nanoseconds: await nanosecondsOfTick() };
}

process.on('message', (load: TickLoad) => {
  run(load).then((result) => process.send?.(result));
});
process.on('disconnect', () => process.exit(0));
