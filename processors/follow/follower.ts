// The loop that roles around a reducer share: follow topics, give batches to the reducer, and leave outputs, state and
// position behind in one commit, in order; what failed once is not gone on with.

import {
  type EventLog,
  type LogBatch,
  type LogRecord,
  type NewRecord,
  type Outputs,
  positionKey,
  type RoleContext,
  type RunningRole,
  type StateWrite,
} from '../../platform/index.ts';
import { encodeMessage, type Topic } from '../../schemas/index.ts';
import { Lanes } from './lanes.ts';

/** What a reducer leaves behind of a batch, or of a part of it. */
export interface Step {
  readonly outputs: readonly Outputs[];
  readonly state: readonly StateWrite[];
  /** Offset to go on from; null when the records are not done with: they will be taken again after a restart. */
  readonly next: bigint | null;
}

export interface Follower {
  /** Name of the role. */
  readonly name: string;
  readonly group: string;
  /** Followed from their beginning, every partition. */
  readonly reads: readonly Topic[];
  readonly writes: readonly Topic[];
  /** Upper bound of records in one batch of a topic; the log's own default when absent. */
  readonly maxRecords?: (topic: Topic) => number;
  /** Where in the chain a batch begins; of several topics the one that is behind goes first. */
  readonly placeOf?: (topic: Topic, batch: LogBatch) => number;
  /** Takes back what earlier steps left as state. Called once, before the first batch. */
  restore(state: ReadonlyMap<string, Uint8Array>): void;
  /** Takes a batch in. Batches come one at a time; each step is left behind before the next is asked for. */
  take(topic: Topic, batch: LogBatch): Iterable<Step>;
}

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log or the reducer fails. */
export async function startFollower({ log }: Pick<RoleContext, 'log'>, follower: Follower): Promise<RunningRole> {
  await log.ensureTopics([...follower.reads, ...follower.writes]);
  const { positions, state } = await log.load(follower.group);
  follower.restore(state);
  const stopping = new AbortController();
  const lanes = new Lanes();
  stopping.signal.addEventListener('abort', () => lanes.close(), { once: true });
  const starts = follower.reads.map(async (topic) => ({ topic, from: await beginning(log, topic, positions, lanes) }));
  const loops = (await Promise.all(starts)).map(({ topic, from }) =>
    followTopic(log, follower, topic, from, lanes, stopping),
  );
  const done = Promise.all(loops).then(() => {});
  done.catch(() => {}); // whoever waits for `done` gets the failure
  return {
    name: follower.name,
    endpoints: {},
    done,
    stop: async () => {
      stopping.abort();
      await Promise.allSettled(loops);
    },
  };
}

/** Where to go on in each partition; `lanes` gets to know how much is there. */
async function beginning(
  log: EventLog,
  topic: Topic,
  positions: ReadonlyMap<string, bigint>,
  lanes: Lanes,
): Promise<ReadonlyMap<number, bigint | 'earliest'>> {
  const from = new Map<number, bigint | 'earliest'>();
  for (let partition = 0; partition < topic.partitions; partition++) {
    const position = positions.get(positionKey(topic.name, partition));
    const { earliest, next } = await log.bounds(topic, partition);
    lanes.expect(topic.name, partition, next - (position ?? earliest));
    from.set(partition, position ?? 'earliest');
  }
  return from;
}

async function followTopic(
  log: EventLog,
  follower: Follower,
  topic: Topic,
  from: ReadonlyMap<number, bigint | 'earliest'>,
  lanes: Lanes,
  stopping: AbortController,
): Promise<void> {
  const { signal } = stopping;
  const maxRecords = follower.maxRecords?.(topic);
  try {
    const batches = log.follow({ topic, from, signal, ...(maxRecords === undefined ? {} : { maxRecords }) });
    for await (const batch of batches) {
      if (batch.records.length === 0) continue;
      lanes.expect(topic.name, batch.partition, batch.end - endOf(batch));
      const place = follower.placeOf?.(topic, batch) ?? 0;
      const isDone = await lanes.run(topic.name, place, () => leave(log, follower, topic, batch));
      if (!isDone || signal.aborted) break;
    }
  } catch (error) {
    if (signal.aborted) return;
    stopping.abort();
    throw error;
  }
}

async function leave(log: EventLog, follower: Follower, topic: Topic, batch: LogBatch): Promise<void> {
  for (const { outputs, state, next } of follower.take(topic, batch)) {
    const written = outputs.filter(({ records }) => records.length > 0);
    const positions = next === null ? [] : [{ topic: topic.name, partition: batch.partition, next }];
    if (next !== null || state.length > 0) await log.commit(follower.group, { outputs: written, positions, state });
    else for (const { topic: to, records } of written) await log.append(to, records);
  }
}

/** Offset to go on from after a batch. */
export function endOf({ records }: LogBatch): bigint {
  return (records.at(-1)?.offset ?? -1n) + 1n;
}

/** The dead letter of a record that a reducer could not take in; it is keyed by its reason. */
export function deadLetter(reason: string, topic: Topic, record: LogRecord, error: unknown): NewRecord {
  const detail = error instanceof Error ? error.message : String(error);
  const origin = `${topic.name}/${record.partition}/${record.offset}`;
  return { key: reason, value: encodeMessage('DeadLetter', { reason, detail, slot: 0, origin, bytes: record.value }) };
}

export interface StatePiece {
  readonly name: string;
  /** null: the piece is gone. */
  readonly bytes: Uint8Array | null;
}

/** Pieces of a reducer as state: each under `prefix`, which ends the reducer's own part of the group. */
export function stateWrites(prefix: string, pieces: Iterable<StatePiece>): StateWrite[] {
  return Array.from(pieces, ({ name, bytes }) => ({ key: prefix + name, value: bytes }));
}

/** Inverse of `stateWrites`. */
export function piecesOf(
  state: ReadonlyMap<string, Uint8Array>,
  prefix: string,
): { readonly name: string; readonly bytes: Uint8Array }[] {
  const found: { name: string; bytes: Uint8Array }[] = [];
  for (const [key, bytes] of state) if (key.startsWith(prefix)) found.push({ name: key.slice(prefix.length), bytes });
  return found;
}
