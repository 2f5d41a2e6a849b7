// Cuts the log into blocks: records that are stored together, and sent again with the same bounds after a crash.

import { type EventLog, type LogPage, type LogRecord, pageOf } from '../../platform/index.ts';
import type { Topic } from '../../schemas/index.ts';

const READ_RECORDS = 5_000;

/** Offsets of one partition in a block, both ends included. */
export interface Bounds {
  readonly partition: number;
  readonly from: bigint;
  readonly to: bigint;
}

/** One record of a block, with its place in the log. */
export type BlockRecord = Pick<LogRecord, 'partition' | 'offset' | 'value'>;

/** Records of a page from index `from` up to, but not including, `to`. */
interface Slice {
  readonly page: LogPage;
  readonly from: number;
  readonly to: number;
}

/** Records by number, in partition order, then by offset. They stay in their pages. */
export class Block {
  /** In partition order. */
  readonly bounds: readonly Bounds[];
  readonly length: number;
  readonly #pages: readonly LogPage[];
  /** Page of each record, and its index there. */
  readonly #pageOf: Uint32Array;
  readonly #indexOf: Uint32Array;

  constructor(bounds: readonly Bounds[], slices: readonly Slice[]) {
    this.bounds = bounds;
    this.length = slices.reduce((sum, { from, to }) => sum + to - from, 0);
    this.#pages = slices.map(({ page }) => page);
    this.#pageOf = new Uint32Array(this.length);
    this.#indexOf = new Uint32Array(this.length);
    let number = 0;
    slices.forEach(({ from, to }, page) => {
      for (let index = from; index < to; index++) {
        this.#pageOf[number] = page;
        this.#indexOf[number++] = index;
      }
    });
  }

  /** The page around the record's value, which goes from `start` to `end`. */
  bytes(number: number): Uint8Array {
    return this.#page(number).bytes;
  }

  start(number: number): number {
    const index = this.#indexOf[number] as number;
    return index === 0 ? 0 : (this.#page(number).ends[index - 1] as number);
  }

  end(number: number): number {
    return this.#page(number).ends[this.#indexOf[number] as number] as number;
  }

  value(number: number): Uint8Array {
    return this.bytes(number).subarray(this.start(number), this.end(number));
  }

  record(number: number): BlockRecord {
    const { partition, offsets } = this.#page(number);
    return { partition, offset: offsets[this.#indexOf[number] as number] as bigint, value: this.value(number) };
  }

  #page(number: number): LogPage {
    return this.#pages[this.#pageOf[number] as number] as LogPage;
  }
}

export interface BlockLimits {
  readonly rowsMax: number;
  readonly bytesMax: number;
  /** Longest wait of a record for others, milliseconds. */
  readonly delayMs: number;
}

/** The first block of a backlog is this part of a full one, and each next one doubles: ClickHouse gets work early. */
const FIRST_BLOCK_PART = 1 / 4;

/** Yields blocks until the pages end; the last open block is dropped, and the next start reads it again. */
export async function* cutBlocks(pages: AsyncIterator<LogPage>, limits: BlockLimits): AsyncGenerator<Block> {
  const rowsFirst = Math.ceil(limits.rowsMax * FIRST_BLOCK_PART);
  let rowsMax = rowsFirst;
  let open = new OpenBlock({ ...limits, rowsMax });
  let arriving = pages.next();
  arriving.catch(() => {});
  for (;;) {
    const arrived = await open.withinDelay(arriving);
    if (arrived !== 'late') {
      if (arrived.done) {
        open.discard();
        return;
      }
      arriving = pages.next();
      // The next turn of the loop reports a failure.
      arriving.catch(() => {});
      for (let rest: Slice | null = whole(arrived.value); rest !== null; ) {
        rest = open.take(rest);
        if (!open.isFull()) continue;
        yield open.close();
        rowsMax = Math.min(rowsMax * 2, limits.rowsMax);
        open = new OpenBlock({ ...limits, rowsMax });
      }
    } else {
      yield open.close();
      rowsMax = rowsFirst;
      open = new OpenBlock({ ...limits, rowsMax });
    }
  }
}

function whole(page: LogPage): Slice {
  return { page, from: 0, to: page.ends.length };
}

class OpenBlock {
  readonly #limits: BlockLimits;
  readonly #slices: Slice[] = [];
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

  /** Adds as many records as fit; returns the rest. */
  take({ page, from, to }: Slice): Slice | null {
    const end = Math.min(to, from + this.#limits.rowsMax - this.#rows);
    if (end > from) {
      this.#startClock();
      this.#slices.push({ page, from, to: end });
      this.#rows += end - from;
      this.#bytes += (page.ends[end - 1] ?? 0) - (from === 0 ? 0 : (page.ends[from - 1] ?? 0));
    }
    return end < to ? { page, from: end, to } : null;
  }

  /** The promise's outcome, or 'late' when the oldest record has waited its time. */
  withinDelay<T>(arriving: Promise<T>): Promise<T | 'late'> {
    return this.#late === undefined ? arriving : Promise.race([arriving, this.#late]);
  }

  close(): Block {
    this.discard();
    return blockOf(this.#slices);
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

/** A block of slices; each partition's slices are in the order of its offsets. */
function blockOf(slices: readonly Slice[]): Block {
  const ordered = [...slices].sort((a, b) => a.page.partition - b.page.partition);
  const bounds: Bounds[] = [];
  for (const { page, from, to } of ordered) {
    const { partition, offsets } = page;
    const [first, last] = [offsets[from] as bigint, offsets[to - 1] as bigint];
    const before = bounds.at(-1)?.partition === partition ? bounds.pop() : undefined;
    bounds.push({ partition, from: before?.from ?? first, to: last });
  }
  return new Block(bounds, ordered);
}

/** Reads the records of given bounds again, without records that retention has removed since. */
export async function readBlock(log: EventLog, topic: Topic, bounds: readonly Bounds[]): Promise<Block> {
  const slices: Slice[] = [];
  for (const { partition, from, to } of bounds) {
    for (let next = from; next <= to; ) {
      const page = await log.read(topic, partition, next, READ_RECORDS);
      const inside = page.filter(({ offset }) => offset <= to);
      const last = inside.at(-1);
      if (last) slices.push(whole(pageOf(partition, inside, last.offset + 1n)));
      if (!last || inside.length < page.length) break;
      next = last.offset + 1n;
    }
  }
  return new Block(bounds, slices);
}

/** Prepares one item while the previous one is processed. */
export async function* readAhead<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  let coming = items.next();
  for (;;) {
    const item = await coming;
    if (item.done) return;
    coming = items.next();
    // The next pull of this item reports a failure.
    coming.catch(() => {});
    yield item.value;
  }
}
