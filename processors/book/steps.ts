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
