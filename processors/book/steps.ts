// Work on whole books in steps, so that who runs it may let others have the loop between two of them.

/** Yields wherever it may be left for a while; what it reads must not change meanwhile, or be a copy. */
export type Steps<T> = Generator<void, T>;

/** Orders or levels gone through in one step: some tens of microseconds. */
export const STEP_ITEMS = 64;

/** Does all the steps now. */
export function finish<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** The items of a list, taken in steps. */
export function* listed<T>(items: Iterable<T>): Steps<T[]> {
  const list: T[] = [];
  for (const item of items) {
    list.push(item);
    if (list.length % STEP_ITEMS === 0) yield;
  }
  return list;
}

/** Items of a merge sort between two steps; the last merge is one step all the same. */
const SORT_STEP_ITEMS = 1024;

/** The numbers sorted by what `key` says of them. */
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

/** Merges two sorted runs of `width` that begin at `low`; what lies behind the end has no place. */
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
