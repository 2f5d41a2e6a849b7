// The event log for all rooms. Kafka and the embedded log are the two adapters behind this port.
// The contract suite test/support/log/contract.ts tests all promises of these comments.

import type { Topic } from '../../schemas/index.ts';

/** The log does not answer at the moment. Readers and writers restart from their offsets when it is back. */
export class LogAwayError extends Error {
  override readonly name = 'LogAwayError';
}

/** A commit whose role has a later writer in the group. */
export class SupersededError extends Error {
  override readonly name = 'SupersededError';

  constructor(group: string, { role, epoch }: Fence, later: bigint) {
    super(`group ${group} has commits of ${role} with epoch ${later}; this process has epoch ${epoch}`);
  }
}

/** A writer's right to commit (see lease.ts). */
export interface Fence {
  /** Epochs of different roles are not compared. */
  readonly role: string;
  readonly epoch: bigint;
  /** Rejects when another process has begun. */
  check(): Promise<void>;
}

export interface NewRecord {
  /** Decides the partition (`partitionOf`). Compaction keeps the newest record of each key. */
  readonly key: string;
  readonly value: Uint8Array;
  /** Overrides the partition of the key (slot ticks go to every partition). */
  readonly partition?: number;
}

export interface LogRecord {
  readonly partition: number;
  /** Increases with each record of the partition, not always by one (compaction, Kafka's control records). */
  readonly offset: bigint;
  readonly key: string;
  readonly value: Uint8Array;
}

export interface Appended {
  readonly partition: number;
  /** Offsets of the first and last record of this call in the partition. */
  readonly first: bigint;
  readonly last: bigint;
}

/** `next` is the offset to read next: one past the last handled record. */
export interface NextOffset {
  readonly topic: string;
  readonly partition: number;
  readonly next: bigint;
}

export interface Outputs {
  readonly topic: Topic;
  readonly records: readonly NewRecord[];
}

export interface StateWrite {
  readonly key: string;
  /** null deletes the key. */
  readonly value: Uint8Array | null;
}

/** The results of one consumer step. One commit may write a state key once. */
export interface Commit {
  /** Any number of them, in their order; each has at most APPEND_BYTES_MAX bytes for a partition. */
  readonly outputs?: readonly Outputs[];
  readonly offsets?: readonly NextOffset[];
  readonly state?: readonly StateWrite[];
  /** Offsets and state stay as they are when the group has a commit of the same role with a later epoch, even an empty one. */
  readonly fence?: Fence;
}

/** Offsets and state of a consumer group at its start. */
export interface GroupState {
  /** `next` offset by `topic/partition` (see `offsetKey`). */
  readonly offsets: ReadonlyMap<string, bigint>;
  readonly state: ReadonlyMap<string, Uint8Array>;
}

/** `writer`: the role commits to the group, so no late commit of its earlier writer counts behind the load. */
export type GroupUse = 'writer' | 'reader';

/**
 * Start offset of a partition. `earliest` is the oldest record, `latest` the end at some moment between the call and the first
 * batch. A removed offset means the oldest remaining one. An offset beyond the end means the end, because the partition lost its
 * tail; a running follower goes on at the new end too.
 */
export type FollowFrom = bigint | 'earliest' | 'latest';

export interface FollowOptions {
  readonly topic: Topic;
  /** Of each partition to read. */
  readonly from: ReadonlyMap<number, FollowFrom>;
  readonly signal: AbortSignal;
  /** Most records of one batch; default 1,000. */
  readonly maxRecords?: number;
}

export interface LogBatch {
  readonly partition: number;
  readonly records: readonly LogRecord[];
  /** End of the partition at the time of the read: lag = end - (last offset + 1). */
  readonly end: bigint;
}

/** Records of one partition without an object for each, for readers that need only the values of very many records. */
export interface LogPage {
  readonly partition: number;
  /** The concatenated values. */
  readonly bytes: Uint8Array;
  /** End of each value in `bytes`. A value begins at the end of the previous one, the first at 0. */
  readonly ends: Uint32Array;
  readonly offsets: BigUint64Array;
  /** End of the partition at the time of the read. */
  readonly end: bigint;
}

export interface EventLog {
  /** Name of the adapter, for status lines and test reports. */
  readonly kind: 'embedded' | 'kafka';

  /** Creates missing topics with the catalogue's partitions and retention. Idempotent. */
  ensureTopics(topics: readonly Topic[]): Promise<void>;

  /**
   * Appends in order per partition, also over concurrent calls. Resolves when every reader sees the records and no kill can lose them.
   * Stores those of one partition (at most APPEND_BYTES_MAX bytes; keys at most KEY_BYTES_MAX) together or not at all.
   * Throws LogLimitError. After any other rejection, such as LogAwayError, the records may be stored.
   */
  append(topic: Topic, records: readonly NewRecord[]): Promise<readonly Appended[]>;

  /** Oldest stored offset and next offset of a partition. Equal when it is empty. */
  bounds(topic: Topic, partition: number): Promise<{ readonly earliest: bigint; readonly next: bigint }>;

  /**
   * Up to `maxRecords` records at or after `from`, or from the oldest one; empty at the end of the partition. Bytes limit the
   * result too, so fewer records do not mean the end.
   */
  read(topic: Topic, partition: number, from: bigint, maxRecords: number): Promise<readonly LogRecord[]>;

  /**
   * Follows partitions until the signal aborts: every record once, in order per partition, new ones soon after their append.
   * A slow reader can miss records that retention or compaction removes first. Waits for an unreachable broker.
   */
  follow(options: FollowOptions): AsyncIterable<LogBatch>;

  /** Like `follow`, page by page; `maxRecords` limits a page. */
  followPages(options: FollowOptions): AsyncIterable<LogPage>;

  /**
   * Stores offsets and state (at most APPEND_BYTES_MAX bytes) together, and never before the outputs of the call are visible. Outputs must
   * be repeatable: after a crash Kafka may have them without the offsets.
   * Rejects with SupersededError when the log notices a later epoch; Kafka may store a commit without effect and resolve.
   */
  commit(group: string, step: Commit): Promise<void>;

  /** Offsets and state from earlier commits of the group. A role with a lease gives `reader` for a group that another role writes. */
  load(group: string, as?: GroupUse): Promise<GroupState>;

  /** Removes offsets and state of a group, so that it starts from the beginning. */
  forget(group: string): Promise<void>;

  /** Applies retention at once, in addition to the background run. `nowMs` is wall-clock milliseconds. */
  enforceRetention(nowMs: number): Promise<void>;

  close(): Promise<void>;
}

export function offsetKey(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}
