// The loop around a reducer: follow topics, give batches to the reducer, and commit outputs, state and offset together.
// After a failure nothing follows: the reducer is ahead of the committed state.

import {
  type EventLog,
  followingRole,
  type LogBatch,
  type NewRecord,
  type Outputs,
  offsetKey,
  type RoleContext,
  type RunningRole,
  type StateWrite,
  TopicFollower,
} from '../../platform/index.ts';
import type { Topic } from '../../schemas/index.ts';
import type { StatePiece } from './pieces.ts';
import { commitStep, loadSteps } from './step-commit.ts';
import { TopicOrder } from './topic-order.ts';

/** Result of a batch, or of a part of it. It may have any size: see `commitStep`. */
export interface Step {
  readonly outputs: readonly Outputs[];
  readonly state: readonly StateWrite[];
  /** Offset to continue from; null keeps the committed offset, so a restart takes the records again. */
  readonly next: bigint | null;
}

export interface ReducerRole {
  readonly name: string;
  readonly group: string;
  /** Followed from their beginning, every partition. */
  readonly reads: readonly Topic[];
  readonly writes: readonly Topic[];
  /** Upper bound of records in one batch of a topic; the log's own default when absent. */
  readonly maxRecords?: (topic: Topic) => number;
  /** Chain slot at which a batch begins; the earliest of several topics goes first. */
  readonly slotOf?: (topic: Topic, batch: LogBatch) => number;
  /** Loads committed state, and the offsets that it stands at (see `offsetKey`). Called once, before the first batch. */
  restore(state: ReadonlyMap<string, Uint8Array>, offsets: ReadonlyMap<string, bigint>): void;
  /** Applies a batch. Batches come one at a time; the loop commits each step before it asks for the next one. */
  take(topic: Topic, batch: LogBatch): Iterable<Step> | AsyncIterable<Step>;
}

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log or the reducer fails. */
export async function startReducerRole({ log }: Pick<RoleContext, 'log'>, role: ReducerRole): Promise<RunningRole> {
  await log.ensureTopics([...role.reads, ...role.writes]);
  const { offsets, state } = await loadSteps(log, role.group);
  role.restore(state, offsets);
  const order = new TopicOrder();
  const follower = new TopicFollower();
  follower.signal.addEventListener('abort', () => order.close(), { once: true });
  const starts = role.reads.map(async (topic) => ({ topic, from: await startOffsets(log, topic, offsets, order) }));
  for (const { topic, from } of await Promise.all(starts)) {
    const maxRecords = role.maxRecords?.(topic);
    follower.follow({
      log,
      topic,
      from,
      ...(maxRecords !== undefined && { maxRecords }),
      take: async (batch) => {
        if (batch.records.length === 0) return;
        order.expect(topic.name, batch.partition, batch.end - endOf(batch));
        await order.run(topic.name, role.slotOf?.(topic, batch) ?? 0, () => commitSteps(log, role, topic, batch));
      },
    });
  }
  return followingRole(role.name, follower);
}

/** Offset to continue from in each partition; `order` learns how many records are there. */
async function startOffsets(
  log: EventLog,
  topic: Topic,
  offsets: ReadonlyMap<string, bigint>,
  order: TopicOrder,
): Promise<ReadonlyMap<number, bigint | 'earliest'>> {
  const from = new Map<number, bigint | 'earliest'>();
  for (let partition = 0; partition < topic.partitions; partition++) {
    const offset = offsets.get(offsetKey(topic.name, partition));
    const { earliest, next } = await log.bounds(topic, partition);
    order.expect(topic.name, partition, next - (offset ?? earliest));
    from.set(partition, offset ?? 'earliest');
  }
  return from;
}

async function commitSteps(log: EventLog, role: ReducerRole, topic: Topic, batch: LogBatch): Promise<void> {
  for await (const { outputs, state, next } of role.take(topic, batch)) {
    const written = outputs.filter(({ records }) => records.length > 0);
    const offsets = next === null ? [] : [{ topic: topic.name, partition: batch.partition, next }];
    await commitStep(log, role.group, { outputs: written, offsets, state });
  }
}

/**
 * The epoch of a numbering role without saved state: one past the end of its output. Each record of an earlier epoch took an offset
 * there, so this epoch is larger. A key has the same partition in input and output.
 */
export async function firstEpoch(log: EventLog, output: Topic, partition: number): Promise<number> {
  return Number((await log.bounds(output, partition)).next) + 1;
}

/** The last record of each key. */
export function newestOfEach(records: readonly NewRecord[]): NewRecord[] {
  return [...new Map(records.map((record) => [record.key, record])).values()];
}

/** Offset to continue from after a batch. */
export function endOf({ records }: LogBatch): bigint {
  return (records.at(-1)?.offset ?? -1n) + 1n;
}

/** Pieces of a reducer as state: each under `prefix`, which ends the reducer's own part of the group. `piecesOf` reads them. */
export function stateWrites(prefix: string, pieces: Iterable<StatePiece>): StateWrite[] {
  return Array.from(pieces, ({ name, bytes }) => ({ key: prefix + name, value: bytes }));
}
