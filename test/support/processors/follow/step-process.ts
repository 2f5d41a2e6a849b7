// Writes large steps from the committed offset on, for tests that kill it. Prints the offset after each.

import { offsetKey, openEventLog, silentLogger } from '../../../../platform/index.ts';
import { commitStep, loadSteps } from '../../../../processors/follow/step-commit.ts';
import { outputsOf, type StepTask, stateOf } from './large-steps.ts';

const { config, input, output, group } = JSON.parse(process.argv[2] ?? '') as StepTask;
const log = await openEventLog(config, silentLogger());
const { offsets } = await loadSteps(log, group);
for (let next = (offsets.get(offsetKey(input.name, 0)) ?? 0n) + 1n; ; next++) {
  await commitStep(log, group, {
    outputs: [{ topic: output, records: outputsOf(next) }],
    offsets: [{ topic: input.name, partition: 0, next }],
    state: stateOf(next),
  });
  process.stdout.write(`${next}\n`);
}
