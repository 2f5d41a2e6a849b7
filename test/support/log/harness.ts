// An adapter as the contract suite needs it, and helpers of the suite.

import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { Config } from '../../../platform/config.ts';
import { openEventLog } from '../../../platform/log/open.ts';
import type { EventLog, LogRecord, NewRecord } from '../../../platform/log/port.ts';
import { TailLosses } from '../../../platform/log/tail-losses.ts';
import { silentLogger } from '../../../platform/runtime/logger.ts';
import { metricTotal } from '../../../platform/runtime/metrics.ts';
import type { Retention, Topic } from '../../../schemas/index.ts';

export interface LogUnderTest {
  /** Child processes open the same log with it. */
  readonly config: Config;
  /** True when outputs and offsets of a commit are one transaction, so that a crash never repeats an output. */
  readonly atomicOutputs: boolean;
  /** Repetitions of the slow parts. */
  readonly kills: number;
  readonly propertyRuns: number;
  /** Compacts a topic now, which the store would otherwise do later. */
  compact(log: EventLog, topic: Topic): Promise<void>;
  stop(): Promise<void>;
}

const PAGE_RECORDS = 1000;

export function openLog({ config }: LogUnderTest, losses?: TailLosses): Promise<EventLog> {
  return openEventLog(config, silentLogger(), losses);
}

/** Lost tails with their log lines and their metric. */
export function countedLosses() {
  const lines: unknown[] = [];
  const metrics = new Registry();
  const logger = pino({ level: 'error' }, { write: (line) => void lines.push(JSON.parse(line)) });
  const losses = new TailLosses(logger, metrics);
  return { losses, lines, count: () => metricTotal(metrics, 'slotbook_log_lost_tails_total') };
}

/** A separate topic for each test, so that tests share one log. */
export function testTopic(partitions = 1, retention: Retention = { kind: 'time', hours: 1 }): Topic {
  const name = `test-${randomBytes(6).toString('hex')}`;
  return { name, key: 'market', partitions, retention, schemas: [], purpose: 'test' };
}

export async function createTopic(log: EventLog, partitions = 1, retention?: Retention): Promise<Topic> {
  const topic = testTopic(partitions, retention);
  await log.ensureTopics([topic]);
  return topic;
}

/** `count` records whose values are numbers from `first` on. */
export function numbered(count: number, first = 0, partition?: number): NewRecord[] {
  return Array.from({ length: count }, (_, at) => ({
    key: `k${first + at}`,
    value: Buffer.from(String(first + at)),
    ...(partition === undefined ? {} : { partition }),
  }));
}

export function text({ value }: { readonly value: Uint8Array }): string {
  return Buffer.from(value).toString();
}

export async function readAll(log: EventLog, topic: Topic, partition = 0): Promise<LogRecord[]> {
  const all: LogRecord[] = [];
  let from = 0n;
  while (true) {
    const page = await log.read(topic, partition, from, PAGE_RECORDS);
    const last = page.at(-1);
    if (last === undefined) return all;
    all.push(...page);
    from = last.offset + 1n;
  }
}

/** Follows until `count` records have arrived. */
export async function take(
  log: EventLog,
  topic: Topic,
  from: ReadonlyMap<number, bigint | 'earliest' | 'latest'>,
  count: number,
  maxRecords?: number,
): Promise<LogRecord[]> {
  const taken: LogRecord[] = [];
  const stop = new AbortController();
  const options = { topic, from, signal: stop.signal, ...(maxRecords === undefined ? {} : { maxRecords }) };
  for await (const { records } of log.follow(options)) {
    taken.push(...records);
    if (taken.length >= count) stop.abort();
  }
  return taken;
}

/** Offset of the first record that a follower from `from` gets. */
export async function follows(log: EventLog, topic: Topic, from: bigint): Promise<bigint | undefined> {
  return (await take(log, topic, new Map([[0, from]]), 1))[0]?.offset;
}

/** As `follows`, by pages. */
export async function followsPages(log: EventLog, topic: Topic, from: bigint): Promise<bigint | undefined> {
  const stop = new AbortController();
  for await (const { offsets } of log.followPages({ topic, from: new Map([[0, from]]), signal: stop.signal })) {
    return offsets[0];
  }
  return undefined;
}
