// Removes records past their retention time, and the oldest expendable records when the log exceeds its cap.
// Works in small steps, so that appends and readers hardly notice.

import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { offsetKey } from '../port.ts';
import type { Environment } from './environment.ts';
import { appendedMsOf, countOf, decodeOffset, parseGroupKey, partitionEnd, recordKey } from './layout.ts';

const STEP_RECORDS = 1000;
const STEP_BYTES = 8 * 1024 * 1024;

interface Step {
  readonly keys: Buffer[];
  readonly records: number;
  readonly bytes: number;
}

interface Range {
  readonly start: Buffer;
  readonly end: Buffer;
}

/** Removes the oldest records appended before `cutoffMs` (wall clock). Returns their number. */
export async function removeOld(
  environment: Environment,
  topicId: number,
  partition: number,
  cutoffMs: number,
): Promise<number> {
  let removed = 0;
  const range = { start: recordKey(topicId, partition, 0n), end: partitionEnd(topicId, partition) };
  while (true) {
    const { keys, records, bytes } = environment.read(() => oldKeys(environment, range, cutoffMs));
    if (keys.length === 0) return removed;
    await remove(environment, keys, bytes);
    removed += records;
  }
}

function oldKeys(environment: Environment, range: Range, cutoffMs: number): Step {
  const keys: Buffer[] = [];
  let [records, bytes] = [0, 0];
  for (const { key, value } of environment.records.getRange(range)) {
    if (appendedMsOf(value) >= cutoffMs || records >= STEP_RECORDS || bytes > STEP_BYTES) break;
    keys.push(key);
    records += countOf(value);
    bytes += value.length;
  }
  return { keys, records, bytes };
}

/** A partition that the cap may shorten. */
export interface Expendable {
  readonly topic: string;
  readonly topicId: number;
  readonly partition: number;
}

/**
 * Removes the oldest records of these partitions, the oldest partition first, until records take at most `maxBytes` of the
 * file. Keeps records appended at or after `keptFromMs`, and records that a consumer group has not read yet. Returns the
 * number removed.
 */
export async function removeOldest(
  environment: Environment,
  from: readonly Expendable[],
  maxBytes: number,
  keptFromMs: number,
): Promise<number> {
  const slowest = environment.read(() => slowestOffsets(environment));
  let removed = 0;
  while (environment.recordBytes() > maxBytes) {
    const step = environment.read(() => oldestStep(environment, from, slowest, keptFromMs));
    if (step === null) break;
    await remove(environment, step.keys, step.bytes);
    removed += step.records;
  }
  return removed;
}

function oldestStep(
  environment: Environment,
  from: readonly Expendable[],
  slowest: ReadonlyMap<string, bigint>,
  keptFromMs: number,
): Step | null {
  let oldest: Range | null = null;
  let oldestMs = keptFromMs;
  for (const { topic, topicId, partition } of from) {
    const start = recordKey(topicId, partition, 0n);
    const unread = slowest.get(offsetKey(topic, partition));
    const end = unread === undefined ? partitionEnd(topicId, partition) : recordKey(topicId, partition, unread);
    for (const { value } of environment.records.getRange({ start, end, limit: 1 })) {
      const appendedMs = appendedMsOf(value);
      if (appendedMs >= oldestMs) continue;
      oldestMs = appendedMs;
      oldest = { start, end };
    }
  }
  return oldest && oldKeys(environment, oldest, keptFromMs);
}

/** The lowest offset of any consumer group, for each partition with a reader. */
function slowestOffsets(environment: Environment): Map<string, bigint> {
  const slowest = new Map<string, bigint>();
  for (const key of environment.groups.getKeys({})) {
    const { entry, name } = parseGroupKey(key);
    if (entry !== 'offset') continue;
    const next = decodeOffset(environment.groups.getBinary(key));
    const known = slowest.get(name);
    if (known === undefined || next < known) slowest.set(name, next);
  }
  return slowest;
}

async function remove(environment: Environment, keys: readonly Buffer[], bytes: number): Promise<void> {
  await environment.write(bytes, () => {
    for (const key of keys) environment.records.removeSync(key);
  });
  await yieldToOthers();
}
