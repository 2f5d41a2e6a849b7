// Measures both event logs on this machine: npm run measure-log [embedded|kafka]
// Prints figures for the documentation; no test asserts them.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Config, readConfig } from '../../../platform/config.ts';
import { openEventLog } from '../../../platform/log/open.ts';
import type { EventLog, NewRecord } from '../../../platform/log/port.ts';
import { silentLogger } from '../../../platform/runtime/logger.ts';
import type { Topic } from '../../../schemas/index.ts';
import { NODE_FLAGS } from '../platform/children.ts';
import { percentile } from '../platform/percentile.ts';
import { startKafka } from './broker.ts';
import { createTopic, testTopic } from './harness.ts';

const RECORD_BYTES = 200;
const MEASURE_MS = 3000;
const LATENCY_RECORDS = 1000;
const LATENCY_PAUSE_MS = 3;

const [which, config, topic] = process.argv.slice(2);
if (which === 'stamp') await stampRecords(JSON.parse(config ?? '') as Config, JSON.parse(topic ?? '') as Topic);
else {
  if (which !== 'kafka') await measureEmbedded();
  if (which !== 'embedded') await measureKafka();
}

async function measureEmbedded(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'slotbook-measure-'));
  await measure(readConfig({}, { log: 'embedded', dataDir }));
  await rm(dataDir, { recursive: true });
}

async function measureKafka(): Promise<void> {
  const broker = await startKafka();
  await measure(readConfig({}, { log: 'kafka', kafkaBrokers: broker.brokers }));
  await broker.stop();
}

async function measure(config: Config): Promise<void> {
  const log = await openEventLog(config, silentLogger());
  for (const [perCall, underWay] of [
    [1, 1],
    [100, 1],
    [1000, 1],
    [100, 8],
  ] as const) {
    const rate = await throughput(log, perCall, underWay);
    print(log, `append, ${perCall} records a call, ${underWay} calls under way: ${Math.round(rate)} records/s`);
  }
  print(log, `read: ${Math.round(await readRate(log))} records/s`);
  const here = await createTopic(log);
  const stamping = { stop: false };
  const received = latencies(log, here);
  void stamp(log, here, stamping);
  print(log, `append to follower, same process: ${percentiles(await received)}`);
  stamping.stop = true;
  print(log, `append to follower, other process: ${percentiles(await fromOtherProcess(log, config))}`);
  print(log, `commit of 5 outputs, offset and 1 kB of state: ${percentiles(await commits(log))}`);
  await log.close();
}

function print({ kind }: EventLog, line: string): void {
  process.stdout.write(`${kind}: ${line}\n`);
}

function records(count: number): NewRecord[] {
  return Array.from({ length: count }, () => ({ key: 'perp:0', value: Buffer.alloc(RECORD_BYTES, 1), partition: 0 }));
}

/** Records per second. */
async function throughput(log: EventLog, perCall: number, underWay: number): Promise<number> {
  const topic = await createTopic(log);
  const call = records(perCall);
  const startMs = performance.now();
  let count = 0;
  const caller = async () => {
    while (performance.now() - startMs < MEASURE_MS) {
      await log.append(topic, call);
      count += perCall;
    }
  };
  await Promise.all(Array.from({ length: underWay }, caller));
  return (count / (performance.now() - startMs)) * 1000;
}

async function readRate(log: EventLog): Promise<number> {
  const topic = await createTopic(log);
  const total = 200_000;
  for (let at = 0; at < total; at += 1000) await log.append(topic, records(1000));
  const stop = new AbortController();
  const startMs = performance.now();
  let count = 0;
  for await (const batch of log.follow({ topic, from: new Map([[0, 0n]]), signal: stop.signal })) {
    count += batch.records.length;
    if (count >= total) stop.abort();
  }
  return (count / (performance.now() - startMs)) * 1000;
}

/** Wall-clock milliseconds with fractions, comparable between processes of one machine. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

async function stamp(log: EventLog, topic: Topic, until: { stop: boolean }): Promise<void> {
  while (!until.stop) {
    await log.append(topic, [{ key: 'k', value: Buffer.from(String(now())), partition: 0 }]);
    await sleep(LATENCY_PAUSE_MS);
  }
}

async function latencies(log: EventLog, topic: Topic): Promise<number[]> {
  const stop = new AbortController();
  const seen: number[] = [];
  for await (const batch of log.follow({ topic, from: new Map([[0, 'latest']]), signal: stop.signal })) {
    for (const { value } of batch.records) seen.push(now() - Number(Buffer.from(value).toString()));
    if (seen.length >= LATENCY_RECORDS) stop.abort();
  }
  return seen;
}

async function fromOtherProcess(log: EventLog, config: Config): Promise<number[]> {
  const topic = await createTopic(log);
  const script = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [
    ...NODE_FLAGS,
    script,
    'stamp',
    JSON.stringify(config),
    JSON.stringify(topic),
  ]);
  const seen = await latencies(log, topic);
  child.kill();
  return seen;
}

async function stampRecords(config: Config, topic: Topic): Promise<void> {
  await stamp(await openEventLog(config, silentLogger()), topic, { stop: false });
}

async function commits(log: EventLog): Promise<number[]> {
  const topic = await createTopic(log);
  const group = testTopic().name;
  const took: number[] = [];
  for (let at = 0; at < LATENCY_RECORDS; at++) {
    const startMs = performance.now();
    await log.commit(group, {
      outputs: [{ topic, records: records(5) }],
      offsets: [{ topic: 'in', partition: 0, next: BigInt(at) }],
      state: [{ key: 'book', value: Buffer.alloc(1024, at) }],
    });
    took.push(performance.now() - startMs);
  }
  return took;
}

function percentiles(values: readonly number[]): string {
  return `p50 ${percentile(values, 0.5).toFixed(2)} ms, p99 ${percentile(values, 0.99).toFixed(2)} ms`;
}
