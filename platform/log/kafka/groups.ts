// Offsets and state of consumer groups in Kafka: a compacted topic, one partition per group, one record batch per commit.
// Kafka keeps a batch as a whole or not at all, so offsets and state change together.
//
// Records of a writer with a lease name its epoch. Its first commit of a group begins with a marker, so that no late record of
// an earlier writer counts behind it. Such a record still shadows its key in compaction, so the writer repeats the value.

import { partitionOf, type Topic } from '../../../schemas/index.ts';
import { RECORD_OVERHEAD_BYTES } from '../limits.ts';
import { type Commit, type Fence, type GroupState, offsetKey, SupersededError } from '../port.ts';
import { type Epoch, epochHeaders } from './group-entries.ts';
import { GroupReader } from './group-reader.ts';
import type { KafkaReader } from './reader.ts';
import type { KafkaWriter, WriteRecord } from './writer.ts';

export const GROUPS: Topic = {
  name: 'slotbook.groups',
  key: 'reason',
  partitions: 8,
  retention: { kind: 'compact' },
  schemas: [],
  purpose: 'offsets and state of consumer groups',
};

const SEPARATOR = '\0';
const OFFSET = 'p';
const STATE = 's';

/** Timers may fire a little before performance.now() says so. */
const TIMER_SLACK_MS = 10;

interface Claim extends Pick<Epoch, 'epoch'> {
  /** When no late record of an earlier writer can come any more, monotonic milliseconds. Infinite when that is behind. */
  readonly settledAtMs: number;
}

export class KafkaGroups {
  readonly #reader: GroupReader;
  readonly #writer: Pick<KafkaWriter, 'append'>;
  readonly #topic: string;
  readonly #lateMs: number;
  /** By group and role. */
  readonly #claims = new Map<string, Claim>();
  /** Second passes of claims that are to come. */
  readonly #timers = new Set<NodeJS.Timeout>();
  /** The newest store of each group; settles without an error. */
  readonly #stores = new Map<string, Promise<void>>();

  /** `topic` is the name of the groups topic on the broker. `lateMs`: how long after its start a request may still arrive. */
  constructor(
    reader: Pick<KafkaReader, 'bounds' | 'read'>,
    writer: Pick<KafkaWriter, 'append'>,
    topic: string,
    lateMs: number,
  ) {
    this.#reader = new GroupReader(reader, GROUPS, topic, isOf);
    this.#writer = writer;
    this.#topic = topic;
    this.#lateMs = lateMs;
  }

  /** Stores of one group run one after the other. Throws SupersededError when the group has a later epoch of the role. */
  store(group: string, step: Pick<Commit, 'offsets' | 'state' | 'fence'>): Promise<void> {
    const stored = (this.#stores.get(group) ?? Promise.resolve()).then(() => this.#store(group, step));
    this.#stores.set(
      group,
      stored.catch(() => {}),
    );
    return stored;
  }

  /** Includes everything that was committed before the call. */
  async load(group: string): Promise<GroupState> {
    const offsets = new Map<string, bigint>();
    const state = new Map<string, Uint8Array>();
    for (const [key, value] of (await this.#reader.entries(group)).values) {
      if (isMarker(key)) continue;
      const name = key.slice(group.length + 2);
      if (key[group.length + 1] === OFFSET) offsets.set(name, BigInt(value.toString()));
      else state.set(name, value);
    }
    return { offsets, state };
  }

  async forget(group: string): Promise<void> {
    const { values, shadowed } = await this.#reader.entries(group);
    const keys = [...new Set([...values.keys(), ...shadowed.keys()])].filter((key) => !isMarker(key));
    await this.#write(
      group,
      keys.map((key) => ({ key, value: null })),
    );
  }

  async #store(group: string, { offsets = [], state = [], fence }: Parameters<KafkaGroups['store']>[1]): Promise<void> {
    if (fence !== undefined) await this.#claim(group, fence);
    const records: WriteRecord[] = offsets.map(({ topic, partition, next }) => ({
      key: keyOf(group, OFFSET, offsetKey(topic, partition)),
      value: Buffer.from(next.toString()),
    }));
    for (const { key, value } of state) records.push({ key: keyOf(group, STATE, key), value });
    await this.#write(group, records, fence);
  }

  /** Writes the marker of a new epoch. Repeats shadowed values then, and once more when nothing late can come. */
  async #claim(group: string, fence: Fence): Promise<void> {
    const name = markerKey(group, fence.role);
    const claim = this.#claims.get(name);
    const isHeld = claim?.epoch === fence.epoch;
    if (isHeld && performance.now() < claim.settledAtMs) return;
    if (!isHeld) await this.#write(group, [{ key: name, value: Buffer.alloc(0) }], fence);
    const settledAtMs = isHeld ? Number.POSITIVE_INFINITY : performance.now() + this.#lateMs;
    const entries = await this.#reader.entries(group);
    const newest = entries.newest(fence.role);
    if (newest !== null && newest > fence.epoch) throw new SupersededError(group, fence, newest);
    const own = [...entries.shadowed].filter(([, role]) => role === fence.role);
    await Promise.all(own.map(([key]) => this.#write(group, [{ key, value: entries.values.get(key) ?? null }], fence)));
    this.#claims.set(name, { epoch: fence.epoch, settledAtMs });
    if (!isHeld) this.#settleLater(group, fence);
  }

  /** A group may have no further commit for days, and compaction would remove its shadowed values meanwhile. */
  #settleLater(group: string, fence: Fence): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      // An error shows again at the next commit.
      this.store(group, { fence }).catch(() => {});
    }, this.#lateMs + TIMER_SLACK_MS).unref();
    this.#timers.add(timer);
  }

  /** Stops all timers. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  async #write(group: string, records: readonly WriteRecord[], fence?: Fence): Promise<void> {
    if (records.length === 0) return;
    const headers = fence === undefined ? undefined : epochHeaders(fence);
    let bytes = 0;
    for (const { key, value } of records) bytes += key.length + (value?.length ?? 0) + RECORD_OVERHEAD_BYTES;
    const named = headers === undefined ? records : records.map((record) => ({ ...record, headers }));
    await this.#writer.append(this.#topic, [{ partition: partitionOf(GROUPS, group), records: named, bytes }]);
  }
}

function keyOf(group: string, mark: string, name: string): string {
  return `${group}${SEPARATOR}${mark}${name}`;
}

/** Outside the group's own keys, because no group name is empty. */
function markerKey(group: string, role: string): string {
  return `${SEPARATOR}${group}${SEPARATOR}${role}`;
}

/** True for the group's own keys and its markers. */
function isOf(group: string, key: string): boolean {
  return key.startsWith(group + SEPARATOR) || key.startsWith(markerKey(group, ''));
}

function isMarker(key: string): boolean {
  return key.startsWith(SEPARATOR);
}
