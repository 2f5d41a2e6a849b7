// A role whose partitions do not know each other: a reducer for each partition of one topic. One commit per batch stores the
// outputs of its records, the offset and the state. A record that cannot be applied is parked.

import {
  type LogBatch,
  type LogRecord,
  type NewRecord,
  type Outputs,
  Pace,
  type RoleContext,
  type RunningRole,
} from '../../platform/index.ts';
import { TOPICS, type Topic } from '../../schemas/index.ts';
import { deadLetter } from './dead-letter.ts';
import { piecesOf, type StatePiece } from './pieces.ts';
import { endOf, type Step, startReducerRole, stateWrites } from './reducer-role.ts';

/** A part of a reducer's state. */
export interface StoredPart {
  restore(pieces: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>): void;
  /** Pieces that changed since the last call. */
  takeChanges(): Iterable<StatePiece>;
}

export interface PartitionReducer {
  /** State by name: it is stored under `<name>:<partition>:`. */
  readonly parts: Readonly<Record<string, StoredPart>>;
  /** Applies a record and gives its outputs. A throw parks the record; outputs given before it are published. */
  take(record: LogRecord): Iterable<NewRecord>;
}

export interface PartitionRole {
  readonly name: string;
  readonly group: string;
  readonly reads: Topic;
  readonly writes: readonly Topic[];
  /** Key of the dead letters. */
  readonly letter: string;
  /** Called once for each partition, in order. */
  reducer(partition: number): PartitionReducer | Promise<PartitionReducer>;
  /** The outputs of a batch's records, in the order of writing. */
  outputs(records: readonly NewRecord[]): readonly Outputs[];
  /** Called before each commit, for metrics. */
  applied?(published: number, parked: number): void;
}

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log fails. */
export async function startPartitionRole(context: RoleContext, role: PartitionRole): Promise<RunningRole> {
  await context.log.ensureTopics(role.writes);
  const reducers: PartitionReducer[] = [];
  for (let partition = 0; partition < role.reads.partitions; partition++) {
    reducers.push(await role.reducer(partition));
  }
  return startReducerRole(context, {
    name: role.name,
    group: role.group,
    reads: [role.reads],
    writes: [...role.writes, TOPICS.deadLetters],
    restore: (state) => {
      for (const [partition, { parts }] of reducers.entries()) {
        for (const [name, part] of Object.entries(parts)) part.restore(piecesOf(state, prefixOf(name, partition)));
      }
    },
    take: (_, batch) => {
      const reducer = reducers[batch.partition];
      return reducer ? take(context, role, reducer, batch) : [];
    },
  });
}

/** One step for the whole batch. Other roles of the process have their turns between its records. */
async function* take(
  { logger }: RoleContext,
  role: PartitionRole,
  reducer: PartitionReducer,
  batch: LogBatch,
): AsyncGenerator<Step> {
  const published: NewRecord[] = [];
  const letters: NewRecord[] = [];
  const pace = new Pace();
  for (const record of batch.records) {
    try {
      for (const one of reducer.take(record)) published.push(one);
    } catch (error) {
      letters.push(deadLetter(role.letter, role.reads, record, error));
    }
    await pace.rest();
  }
  const { partition } = batch;
  if (letters.length > 0) logger.warn({ records: letters.length, partition, role: role.group }, 'records parked');
  role.applied?.(published.length, letters.length);
  const state = Object.entries(reducer.parts).flatMap(([name, part]) =>
    stateWrites(prefixOf(name, partition), part.takeChanges()),
  );
  const outputs = [...role.outputs(published), { topic: TOPICS.deadLetters, records: letters }];
  yield { outputs, state, next: endOf(batch) };
}

function prefixOf(name: string, partition: number): string {
  return `${name}:${partition}:`;
}
