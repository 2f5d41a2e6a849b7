// What the contract suite asks of an adapter, and small helpers that its parts share.

import { randomBytes } from 'node:crypto';
import type { Retention, Topic } from '../../../schemas/index.ts';
import type { Config } from '../../config.ts';
import { silentLogger } from '../../runtime/logger.ts';
import { openEventLog } from '../open.ts';
import type { EventLog, LogRecord, NewRecord } from '../port.ts';

export interface LogUnderTest {
  /** Child processes open the same log with it. */
  readonly config: Config;
  /** Outputs and positions of a commit are one transaction: after a crash no output is there twice. */
  readonly atomicOutputs: boolean;
  /** How much of the slow parts to run. */
  readonly kills: number;
  readonly propertyRuns: number;
  /** Brings on the compaction of a topic that the store would otherwise do at leisure. */
  compact(log: EventLog, topic: Topic): Promise<void>;
  stop(): Promise<void>;
}

const PAGE_RECORDS = 1000;

export function openLog({ config }: LogUnderTest): Promise<EventLog> {
  return openEventLog(config, silentLogger());
}

/** A topic of its own for each test, so that tests share one log. */
export function testTopic(partitions = 1, retention: Retention = { kind: 'time', hours: 1 }): Topic {
  const name = `test-${randomBytes(6).toString('hex')}`;
  return { name, key: 'market', partitions, retention, schemas: [], purpose: 'test' };
}

export async function createTopic(log: EventLog, partitions = 1, retention?: Retention): Promise<Topic> {
  const topic = testTopic(partitions, retention);
  await log.ensureTopics([topic]);
  return topic;
}

/** `count` records named by their number, from `first` on. */
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

/** Follows until `count` records came. */
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
