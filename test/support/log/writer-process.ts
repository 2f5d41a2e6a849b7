// Appends numbered records in calls of varying size and prints the number of the last acknowledged one.

import { openEventLog } from '../../../platform/log/open.ts';
import { silentLogger } from '../../../platform/runtime/logger.ts';
import type { WriterTask, WrittenRecord } from './processes.ts';

const CALL_RECORDS_MAX = 20;
const UNDER_WAY = 3;

const { config, topic, partition, writer, calls } = JSON.parse(process.argv[2] ?? '') as WriterTask;
const log = await openEventLog(config, silentLogger());
let number = 0;
const underWay: Promise<void>[] = [];
for (let call = 0; call < calls; call++) {
  const of = 1 + (call % CALL_RECORDS_MAX);
  const records = Array.from({ length: of }, (_, index) => {
    const record: WrittenRecord = { writer, number: number + index, index, of };
    return { key: writer, value: Buffer.from(JSON.stringify(record)), partition };
  });
  number += of;
  const last = number - 1;
  underWay.push(log.append(topic, records).then(() => void process.stdout.write(`${last}\n`)));
  if (underWay.length >= UNDER_WAY) await underWay.shift();
}
await Promise.all(underWay);
await log.close();
