// Work on whole books in steps: the caller may yield to the event loop between them.

/** Yields wherever the work may pause; its input must not change meanwhile. */
export type Steps<T> = Generator<void, T>;

/** Orders or levels of one step: some tens of microseconds. */
export const STEP_ITEMS = 64;

/** Runs all steps at once. */
export function finish<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** The items of an iterable as a list, in steps. */
export function* listed<T>(items: Iterable<T>): Steps<T[]> {
  const list: T[] = [];
  for (const item of items) {
    list.push(item);
    if (list.length % STEP_ITEMS === 0) yield;
  }
  return list;
}

/** Items of a merge sort between two steps; only the last merge is one longer step. */
const SORT_STEP_ITEMS = 1024;

/** The numbers sorted by `key`. */
export function* sortedInSteps(numbers: readonly number[], key: (one: number) => number): Steps<Int32Array> {
  let from = Int32Array.from(numbers);
  let to = new Int32Array(from.length);
  let done = 0;
  for (let width = 1; width < from.length; width *= 2) {
    for (let low = 0; low < from.length; low += 2 * width) {
      merge(from, to, low, width, key);
      done += 2 * width;
      if (done < SORT_STEP_ITEMS) continue;
      done = 0;
      yield;
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Merges two sorted runs of `width` from `low` on; runs beyond the end are shorter. */
function merge(from: Int32Array, to: Int32Array, low: number, width: number, key: (one: number) => number): void {
  const middle = Math.min(low + width, from.length);
  const end = Math.min(low + 2 * width, from.length);
  let left = low;
  let right = middle;
  for (let at = low; at < end; at += 1) {
    const isLeft = right >= end || (left < middle && key(from[left] as number) <= key(from[right] as number));
    to[at] = (isLeft ? from[left++] : from[right++]) as number;
  }
}
