// Values by bucket of a grid, carried forward to later points.

export interface Bucketed {
  readonly bucket: string;
}

/** The rows of each bucket; `size` is the number of points. */
export function byBucket<R extends Bucketed>(rows: readonly R[], size: number): readonly (readonly R[])[] {
  const buckets: R[][] = Array.from({ length: size }, () => []);
  for (const row of rows) buckets[Number(row.bucket)]?.push(row);
  return buckets;
}

/** Newest value of each name at each point: the value of the point's bucket, else the value before. */
export class CarriedForward<V> {
  readonly #byName = new Map<string, (V | undefined)[]>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  /** Each name has at most one row per bucket, in any order. */
  static of<R extends Bucketed, V>(
    rows: readonly R[],
    size: number,
    name: (row: R) => string,
    value: (row: R) => V,
  ): CarriedForward<V> {
    const series = new CarriedForward<V>(size);
    for (const row of rows) series.#set(name(row), Number(row.bucket), value(row));
    for (const values of series.#byName.values()) {
      for (let point = 1; point < size; point++) values[point] ??= values[point - 1];
    }
    return series;
  }

  /** Null before the first value. */
  at(name: string, point: number): V | null {
    return this.#byName.get(name)?.[point] ?? null;
  }

  #set(name: string, bucket: number, value: V): void {
    const values = this.#byName.get(name) ?? new Array<V | undefined>(this.#size).fill(undefined);
    this.#byName.set(name, values);
    values[bucket] = value;
  }
}

/** Items grouped by name, in their order. */
export function grouped<T>(items: readonly T[], name: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(name(item));
    if (group) group.push(item);
    else groups.set(name(item), [item]);
  }
  return groups;
}
