// The event log as every room sees it: Kafka and the embedded log are two adapters behind this one port.
// The contract suite in contract.ts says in tests what the comments say here.

import type { Topic } from '../../schemas/index.ts';

export { APPEND_BYTES_MAX, KEY_BYTES_MAX, LogLimitError } from './limits.ts';

export interface NewRecord {
  /** Decides the partition (`partitionOf`) and is what compaction keeps the newest record of. */
  readonly key: string;
  readonly value: Uint8Array;
  /** Overrides the partition of the key (slot ticks go to every partition). */
  readonly partition?: number;
}

export interface LogRecord {
  readonly partition: number;
  /** Grows with each record of the partition; not always by one (compaction, and Kafka's control records). */
  readonly offset: bigint;
  readonly key: string;
  readonly value: Uint8Array;
}

export interface Appended {
  readonly partition: number;
  /** Offset of the first and the last record this call put into the partition. */
  readonly first: bigint;
  readonly last: bigint;
}

/** `next` is the offset to read next: one past the last record handled. */
export interface Position {
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

/** What one step of a consumer leaves behind. A state key may be written once per commit. */
export interface Commit {
  readonly outputs?: readonly Outputs[];
  readonly positions?: readonly Position[];
  readonly state?: readonly StateWrite[];
}

/** What a consumer group finds when it starts. */
export interface GroupState {
  /** `next` offset by `topic/partition` (see `positionKey`). */
  readonly positions: ReadonlyMap<string, bigint>;
  readonly state: ReadonlyMap<string, Uint8Array>;
}

export interface FollowOptions {
  readonly topic: Topic;
  /**
   * Where to begin in each partition to be read; `earliest` starts at the oldest record kept, `latest` at the end as it
   * is found between the call and the first batch. An offset that is no longer kept means the oldest one that is.
   */
  readonly from: ReadonlyMap<number, bigint | 'earliest' | 'latest'>;
  readonly signal: AbortSignal;
  /** Upper bound of records in one batch; default 1,000. */
  readonly maxRecords?: number;
}

export interface LogBatch {
  readonly partition: number;
  readonly records: readonly LogRecord[];
  /** End of the partition when the batch was read: lag = end - (last offset + 1). */
  readonly end: bigint;
}

/** Records of one partition without an object for each: for who reads very many and wants their values only. */
export interface LogPage {
  readonly partition: number;
  /** The values, one behind the other. */
  readonly bytes: Uint8Array;
  /** Where each value ends in `bytes`: it begins where the one before ends, the first at 0. */
  readonly ends: Uint32Array;
  readonly offsets: BigUint64Array;
  /** End of the partition when the page was read. */
  readonly end: bigint;
}

export interface EventLog {
  /** Which adapter this is, for status lines and test reports. */
  readonly kind: 'embedded' | 'kafka';

  /** Creates missing topics with the catalogue's partitions and retention. Idempotent. */
  ensureTopics(topics: readonly Topic[]): Promise<void>;

  /**
   * Appends in the given order per partition and resolves when every reader can see the records and a killed process
   * cannot lose them. All records of one call that share a partition are appended together or not at all, and may have
   * at most APPEND_BYTES_MAX bytes; keys at most KEY_BYTES_MAX. Calls under way at once keep their order. Throws
   * LogLimitError; when it rejects otherwise (the store is away), the records may be there all the same.
   */
  append(topic: Topic, records: readonly NewRecord[]): Promise<readonly Appended[]>;

  /** Oldest kept offset and next offset of a partition. Equal when it is empty. */
  bounds(topic: Topic, partition: number): Promise<{ readonly earliest: bigint; readonly next: bigint }>;

  /**
   * Up to `maxRecords` records at or after `from` (or after the oldest kept); empty at the end of the partition. Fewer
   * than asked for does not mean the end: a page is also bounded by bytes.
   */
  read(topic: Topic, partition: number, from: bigint, maxRecords: number): Promise<readonly LogRecord[]>;

  /**
   * Follows partitions until the signal aborts: every record once, in order per partition, new ones soon after append.
   * A slow reader may miss records that retention or compaction removed first. A broker that is away is waited for.
   */
  follow(options: FollowOptions): AsyncIterable<LogBatch>;

  /** As `follow`, page by page: `maxRecords` bounds a page. */
  followPages(options: FollowOptions): AsyncIterable<LogPage>;

  /**
   * Leaves behind what a step produced. Positions and state change together, atomically, and never before the outputs
   * of the same call are visible. After a crash outputs may be there without their position (the embedded log writes
   * all three in one transaction, Kafka cannot), so outputs must be repeatable: same input, same records. Positions and
   * state of one commit together have at most APPEND_BYTES_MAX bytes.
   */
  commit(group: string, step: Commit): Promise<void>;

  /** What earlier commits of the group left. */
  load(group: string): Promise<GroupState>;

  /** Removes positions and state of a group, so that it starts anew. */
  forget(group: string): Promise<void>;

  /** Applies retention now (it is also applied in the background). `nowMs` is wall-clock milliseconds. */
  enforceRetention(nowMs: number): Promise<void>;

  close(): Promise<void>;
}

export function positionKey(topic: string, partition: number): string {
  return `${topic}/${partition}`;
}
