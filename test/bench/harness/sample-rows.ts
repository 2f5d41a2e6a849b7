// Samples as rows of numbers. Thousands a second make no garbage, whose collection would count against the server.

/** A message that a sampled client read. `seq` and `prevSeq` are NaN where it has none. */
export interface Sample {
  /** Number of the client, unique over the crowd. */
  readonly client: number;
  readonly market: number;
  readonly seq: number;
  readonly prevSeq: number;
  readonly slot: number;
  readonly atMs: number;
}

const COLUMNS = ['client', 'market', 'seq', 'prevSeq', 'slot', 'atMs'] as const satisfies readonly (keyof Sample)[];
const FIRST_ROWS = 1_024;

/** One number for each column. */
export type SampleRow = readonly [number, number, number, number, number, number];

export class SampleRows {
  #values = new Float64Array(FIRST_ROWS * COLUMNS.length);
  #length = 0;

  add(row: SampleRow): void {
    if (this.#length === this.#values.length) {
      const larger = new Float64Array(this.#values.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values.set(row, this.#length);
    this.#length += COLUMNS.length;
  }

  /** The rows one after the other; none are left. */
  take(): Float64Array {
    const taken = this.#values.slice(0, this.#length);
    this.#length = 0;
    return taken;
  }
}

export function* samplesOf(values: Float64Array): Iterable<Sample> {
  for (let at = 0; at < values.length; at += COLUMNS.length) {
    const [client, market, seq, prevSeq, slot, atMs] = values.subarray(at, at + COLUMNS.length) as unknown as SampleRow;
    yield { client, market, seq, prevSeq, slot, atMs };
  }
}
