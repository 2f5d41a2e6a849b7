// Reads the input from its committed offset, writes one output per record, and counts records as state.
// Prints the offset after each commit.

import { openEventLog } from '../../../platform/log/open.ts';
import { offsetKey } from '../../../platform/log/port.ts';
import { silentLogger } from '../../../platform/runtime/logger.ts';
import type { ConsumerTask } from './processes.ts';

const STEP_RECORDS = 5;

const { config, input, output, group, until } = JSON.parse(process.argv[2] ?? '') as ConsumerTask;
const log = await openEventLog(config, silentLogger());
const { offsets, state } = await log.load(group);
let next = offsets.get(offsetKey(input.name, 0)) ?? 0n;
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
      offsets: [{ topic: input.name, partition: 0, next }],
      state: [{ key: 'count', value: Buffer.from(String(count)) }],
    });
    process.stdout.write(`${next}\n`);
    if (next >= BigInt(until)) stop.abort();
  }
}
await log.close();
