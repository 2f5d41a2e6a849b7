// Takes the input from its committed position, answers each record with one output, and keeps a count as state.
// Prints the position after each commit.

import { silentLogger } from '../../runtime/logger.ts';
import { openEventLog } from '../open.ts';
import { positionKey } from '../port.ts';
import type { ConsumerTask } from './processes.ts';

const STEP_RECORDS = 5;

const { config, input, output, group, until } = JSON.parse(process.argv[2] ?? '') as ConsumerTask;
const log = await openEventLog(config, silentLogger());
const { positions, state } = await log.load(group);
let next = positions.get(positionKey(input.name, 0)) ?? 0n;
let count = Number(Buffer.from(state.get('count') ?? []).toString() || '0');
const stop = new AbortController();
if (next < BigInt(until)) {
  const follow = log.follow({
    topic: input,
    from: new Map([[0, next]]),
    signal: stop.signal,
    maxRecords: STEP_RECORDS,
  });
  for await (const { records } of follow) {
    count += records.length;
    next = (records.at(-1)?.offset ?? next) + 1n;
    await log.commit(group, {
      outputs: [
        {
          topic: output,
          records: records.map(({ offset, key, value }) => ({
            key,
            value: Buffer.from(`${offset}:${Buffer.from(value)}`),
          })),
        },
      ],
      positions: [{ topic: input.name, partition: 0, next }],
      state: [{ key: 'count', value: Buffer.from(String(count)) }],
    });
    process.stdout.write(`${next}\n`);
    if (next >= BigInt(until)) stop.abort();
  }
}
await log.close();
