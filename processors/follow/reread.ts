// Reads a partition again from an offset on, for a reducer that must count a part of its state anew.

import { type EventLog, readPages } from '../../platform/index.ts';
import type { Topic } from '../../schemas/index.ts';

/** A partition up to the offset of its reducer. */
export interface ReadPart {
  readonly log: EventLog;
  readonly topic: Topic;
  readonly partition: number;
  /** Next offset of the reducer. */
  readonly end: bigint;
}

/** Values of a part from an offset on, as often as `values` is called. */
export interface Reread {
  /** The part begins with the oldest record of the log. */
  readonly isWhole: boolean;
  values(): AsyncIterable<Uint8Array>;
}

/** Begins with the oldest record where `start` is null or no longer in the log. */
export async function rereadFrom(part: ReadPart, start: bigint | null): Promise<Reread> {
  const { earliest } = await part.log.bounds(part.topic, part.partition);
  const isWhole = start === null || start <= earliest;
  return { isWhole, values: () => valuesOf(part, isWhole ? earliest : start) };
}

async function* valuesOf(part: ReadPart, start: bigint): AsyncGenerator<Uint8Array> {
  if (start >= part.end) return;
  for await (const page of readPages(part, start)) {
    for (const { value, offset } of page) {
      if (offset >= part.end) return;
      yield value;
    }
    if ((page.at(-1)?.offset ?? 0n) + 1n >= part.end) return;
  }
}
