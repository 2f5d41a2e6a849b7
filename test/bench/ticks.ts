// Time of one `process.nextTick` after collections, in a process that keeps the shape of its tick objects and in one that does not.
// `npm run bench ticks`.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { machine } from './harness/processes.ts';
import { report } from './harness/report.ts';
import type { TickLoad, TickResult } from './harness/tick-load.ts';

const LOAD = fileURLToPath(new URL('./harness/tick-load.ts', import.meta.url));
const BAR = 2;

async function measure(load: TickLoad): Promise<TickResult> {
  const child = fork(LOAD, { execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning'] });
  const exited = once(child, 'exit');
  child.send(load);
  const [result] = (await once(child, 'message')) as [TickResult];
  child.disconnect();
  await exited;
  return result;
}

const dropped = await measure({ keepsShape: false });
const kept = await measure({ keepsShape: true });
report({
  name: 'ticks: a tick after collections, shape dropped against kept',
  value: dropped.nanoseconds / kept.nanoseconds,
  unit: 'x',
  bar: { atLeast: BAR },
  kept,
  dropped,
  ...machine(),
});
