// The Python book keeper on the messages that the TypeScript one is measured with, on one core. `npm run bench python-book`; one
// JSON line per figure. The package runs from its wheel.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { CHANGES_PER_MESSAGE, diffs, LEVELS, snapshot } from '../support/client/busy-book.ts';
import { installedWheel, PYTHON_CLIENT, pythonTools, run } from '../support/client/python.ts';
import { report } from './harness/report.ts';

const BAR = 200_000;

interface Figures {
  readonly keeper: number;
  readonly frames: number;
}

const tools = await pythonTools();
if ('absent' in tools) process.stderr.write(`python-book: NOT RUN, ${tools.absent}\n`);
else {
  const wheel = await installedWheel(tools);
  try {
    const file = path.join(wheel.folder, 'frames.jsonl');
    writeFileSync(file, [snapshot(), ...diffs()].map((message) => `${JSON.stringify(message)}\n`).join(''));
    const { isOk, text } = await run(wheel.python, [path.join(PYTHON_CLIENT, 'tests/bench_keeper.py'), file]);
    if (!isOk) throw new Error(text);
    const { keeper, frames } = JSON.parse(text) as Figures;
    const beside = {
      levels: 2 * LEVELS,
      changesPerMessage: CHANGES_PER_MESSAGE,
      checksumEachChanges: 100,
      python: tools.version,
    };
    const name = 'python client: book keeper with a checksum each 100 changes';
    report({ name, value: keeper, unit: 'level changes/s', beside, bar: { atLeast: BAR } });
    report({
      name: 'python client: the same from the bytes of frames',
      value: frames,
      unit: 'level changes/s',
      beside,
    });
  } finally {
    await wheel.remove();
  }
}
