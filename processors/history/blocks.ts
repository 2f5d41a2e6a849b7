// Cutting the log into blocks: what is stored together, and sent again with the same bounds after a crash.

import type { EventLog, LogBatch, LogRecord } from '../../platform/index.ts';
import type { Topic } from '../../schemas/index.ts';

/** Offsets of one partition that belong to a block, both ends included. */
export interface Bounds {
  readonly partition: number;
  readonly from: bigint;
  readonly to: bigint;
}

export interface Block {
  /** In partition order. */
  readonly bounds: readonly Bounds[];
  /** In partition order, then by offset. */
  readonly records: readonly LogRecord[];
}

export interface BlockLimits {
  readonly rowsMax: number;
  readonly bytesMax: number;
  /** Longest a record waits for others, milliseconds. */
  readonly delayMs: number;
}

/** Yields blocks until the batches end; what is still open then is left for the next start. */
export async function* cutBlocks(batches: AsyncIterator<LogBatch>, limits: BlockLimits): AsyncGenerator<Block> {
  let open = new OpenBlock(limits);
  let arriving = batches.next();
  arriving.catch(() => {});
  for (;;) {
    const arrived = await open.withinDelay(arriving);
    if (arrived !== 'late') {
      if (arrived.done) {
        open.discard();
        return;
      }
      arriving = batches.next();
      // A failure is met at the next turn of the loop.
      arriving.catch(() => {});
      for (let rest: LogBatch | null = arrived.value; rest !== null; ) {
        rest = open.take(rest);
        if (!open.isFull()) continue;
        yield open.close();
        open = new OpenBlock(limits);
      }
    } else {
      yield open.close();
      open = new OpenBlock(limits);
    }
  }
}

class OpenBlock {
  readonly #limits: BlockLimits;
  readonly #partitions = new Map<number, LogRecord[]>();
  #rows = 0;
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #late: Promise<'late'> | undefined;

  constructor(limits: BlockLimits) {
    this.#limits = limits;
  }

  isFull(): boolean {
    return this.#rows >= this.#limits.rowsMax || this.#bytes >= this.#limits.bytesMax;
  }

  /** Adds as many records as fit; returns what is left over. */
  take(batch: LogBatch): LogBatch | null {
    const room = Math.max(this.#limits.rowsMax - this.#rows, 0);
    const taken = batch.records.slice(0, room);
    if (taken.length > 0) this.#startClock();
    const records = this.#partitions.get(batch.partition) ?? [];
    for (const record of taken) {
      records.push(record);
      this.#bytes += record.value.length;
    }
    if (records.length > 0) this.#partitions.set(batch.partition, records);
    this.#rows += taken.length;
    return taken.length < batch.records.length ? { ...batch, records: batch.records.slice(room) } : null;
  }

  /** The promise's outcome, or 'late' when the oldest record has waited long enough. */
  withinDelay<T>(arriving: Promise<T>): Promise<T | 'late'> {
    return this.#late === undefined ? arriving : Promise.race([arriving, this.#late]);
  }

  close(): Block {
    this.discard();
    const partitions = [...this.#partitions].sort(([a], [b]) => a - b);
    const bounds = partitions.flatMap(([partition, records]) => {
      const [first, last] = [records[0], records.at(-1)];
      return first && last ? [{ partition, from: first.offset, to: last.offset }] : [];
    });
    return { bounds, records: partitions.flatMap(([, records]) => records) };
  }

  discard(): void {
    clearTimeout(this.#timer);
  }

  #startClock(): void {
    this.#late ??= new Promise((resolve) => {
      this.#timer = setTimeout(() => resolve('late'), this.#limits.delayMs);
    });
  }
}

const READ_RECORDS = 5_000;

/** Reads the records of given bounds again. Those that retention has removed since are absent. */
export async function readBlock(log: EventLog, topic: Topic, bounds: readonly Bounds[]): Promise<Block> {
  const records: LogRecord[] = [];
  for (const { partition, from, to } of bounds) {
    for (let next = from; next <= to; ) {
      const page = await log.read(topic, partition, next, READ_RECORDS);
      const inside = page.filter(({ offset }) => offset <= to);
      records.push(...inside);
      const last = inside.at(-1);
      if (!last || inside.length < page.length) break;
      next = last.offset + 1n;
    }
  }
  return { bounds, records };
}

/** Keeps one item in preparation while the one before is worked on. */
export async function* readAhead<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  let coming = items.next();
  for (;;) {
    const item = await coming;
    if (item.done) return;
    coming = items.next();
    // A failure is met when this item is asked for.
    coming.catch(() => {});
    yield item.value;
  }
}
