// Removes records that a newer one with the same key replaces. An index in the store has the newest offset of each key. So a
// run reads only the records since the last one, and keeps one step in memory. The index and its end change in one transaction
// with the removals: all processes and restarts share them, and two processes that compact at once take turns.

import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { type Environment, put } from './environment.ts';
import {
  compactedKey,
  decodeOffset,
  encodeOffset,
  newestKey,
  offsetOf,
  partitionEnd,
  partitionKey,
  recordKey,
  recordKeyOf,
} from './layout.ts';

/** Records and bytes of a step. A step of new keys holds the process and all writers for some milliseconds. */
const STEP_RECORDS = 500;
const STEP_BYTES = 8 * 1024 * 1024;

/** One compaction step: the records read and those that they supersede. */
interface Step {
  /** Offset of the first record, which is the end of the index. */
  readonly from: bigint;
  readonly next: bigint;
  /** Offsets by key of the index. */
  readonly newest: ReadonlyMap<string, bigint>;
  /** Keys of the store. */
  readonly replaced: readonly Buffer[];
}

/** Keeps the newest record of each key among those before the current end. Returns the number removed. */
export async function compact(
  environment: Environment,
  topicId: number,
  partition: number,
  signal: AbortSignal,
): Promise<number> {
  const { partitions } = environment;
  const end = environment.read(() => decodeOffset(partitions.getBinary(partitionKey(topicId, partition))));
  let removed = 0;
  while (!signal.aborted) {
    const step = environment.read(() => nextStep(environment, topicId, partition));
    if (step.from >= end || step.next === step.from) break;
    removed += await environment.write(0, () => apply(environment, topicId, partition, step));
    await yieldToOthers();
  }
  return removed;
}

function nextStep(environment: Environment, topicId: number, partition: number): Step {
  const { compaction, records } = environment;
  const from = decodeOffset(compaction.getBinary(compactedKey(topicId, partition)));
  const range = {
    start: recordKey(topicId, partition, from),
    end: partitionEnd(topicId, partition),
    limit: STEP_RECORDS,
  };
  const newest = new Map<string, bigint>();
  const replaced: Buffer[] = [];
  let next = from;
  let bytes = 0;
  for (const { key, value } of records.getRange(range)) {
    const offset = offsetOf(key);
    next = offset + 1n;
    bytes += value.length;
    const name = recordKeyOf(value);
    // Batches from before the topic was compacted are not split.
    if (name !== null) {
      const older = newest.get(name) ?? indexed(environment, newestKey(topicId, partition, name));
      if (older !== null) replaced.push(recordKey(topicId, partition, older));
      newest.set(name, offset);
    }
    if (bytes > STEP_BYTES) break;
  }
  return { from, next, newest, replaced };
}

function indexed({ compaction }: Environment, key: Buffer): bigint | null {
  const bytes = compaction.getBinary(key);
  return bytes === undefined ? null : decodeOffset(bytes);
}

/** Call it inside a write transaction. Does nothing when another process has taken these records. Returns the number removed. */
function apply(environment: Environment, topicId: number, partition: number, step: Step): number {
  const { compaction, records } = environment;
  const end = compactedKey(topicId, partition);
  if (decodeOffset(compaction.getBinary(end)) !== step.from) return 0;
  let removed = 0;
  for (const key of step.replaced) if (records.removeSync(key)) removed += 1;
  for (const [name, offset] of step.newest) {
    put(compaction, newestKey(topicId, partition, name), encodeOffset(offset));
  }
  put(compaction, end, encodeOffset(step.next));
  return removed;
}
