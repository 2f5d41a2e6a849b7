// Reads a partition again around a chain slot, for a reducer that must count a part of its state anew.

import type { EventLog } from '../../platform/index.ts';
import type { Topic } from '../../schemas/index.ts';

const PAGE_RECORDS = 1_000;
/** Two minutes before the slot: the events of its minute begin there. */
const BEFORE_SLOTS = 300;

/** A partition up to the offset of its reducer. */
export interface ReadPart {
  readonly log: EventLog;
  readonly topic: Topic;
  readonly partition: number;
  /** Next offset of the reducer. */
  readonly end: bigint;
  /** Slot of a record; null when it has none. */
  readonly slotOf: (bytes: Uint8Array) => number | null;
}

/** Values of a part from an offset on, as often as `values` is called. */
export interface Reread {
  /** The part begins with the oldest record of the log. */
  readonly isWhole: boolean;
  values(): AsyncIterable<Uint8Array>;
}

/** Goes back `back` records and further, in doubling steps, until the events around a slot follow. */
export async function rereadAround(part: ReadPart, slot: number, back: bigint): Promise<Reread> {
  const { log, topic, partition, end, slotOf } = part;
  const { earliest } = await log.bounds(topic, partition);
  for (let distance = back; ; distance *= 2n) {
    const start = end - distance;
    if (start <= earliest) return { isWhole: true, values: () => valuesOf(part, earliest) };
    const page = await log.read(topic, partition, start, PAGE_RECORDS);
    // A backfill mixes older records in, so the newest one of the page counts.
    const newest = Math.max(...page.map(({ value }) => slotOf(value) ?? 0));
    if (newest < slot - BEFORE_SLOTS) return { isWhole: false, values: () => valuesOf(part, start) };
  }
}

async function* valuesOf({ log, topic, partition, end }: ReadPart, start: bigint): AsyncGenerator<Uint8Array> {
  for (let next = start; next < end; ) {
    const page = await log.read(topic, partition, next, PAGE_RECORDS);
    const last = page.at(-1);
    if (!last) return;
    for (const { value, offset } of page) if (offset < end) yield value;
    next = last.offset + 1n;
  }
}
