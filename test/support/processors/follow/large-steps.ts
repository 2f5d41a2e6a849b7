// Steps whose outputs, and every second time whose state, are larger than one append to the log.

import type { Config, NewRecord, StateWrite } from '../../../../platform/index.ts';
import type { Topic } from '../../../../schemas/index.ts';
import { type Child, startScript } from '../../log/processes.ts';

export interface StepTask {
  readonly config: Config;
  readonly input: Topic;
  readonly output: Topic;
  readonly group: string;
}

const OUTPUTS = 12;
const STATES = 6;
const VALUE = Buffer.alloc(750_000, 7);

export function startSteps(task: StepTask): Child {
  return startScript(new URL('./step-process.ts', import.meta.url), task);
}

/** Outputs of the step that commits this offset. */
export function outputsOf(next: bigint): NewRecord[] {
  return Array.from({ length: OUTPUTS }, (_, at) => ({ key: `${next}:${at}`, value: VALUE }));
}

export function stateOf(next: bigint): StateWrite[] {
  const count = next % 2n === 0n ? STATES : 1;
  return Array.from({ length: count }, (_, at) => ({
    key: `${at}`,
    value: Buffer.concat([Buffer.of(Number(next)), VALUE]),
  }));
}
