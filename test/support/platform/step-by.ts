// Runs work that is done in steps.

/** Runs all steps, with a call of `between` after each. */
export function stepBy<T>(
  steps: Generator<void, T>,
  between: () => void = () => {},
): { readonly result: T; readonly count: number } {
  for (let count = 0; ; count += 1) {
    const step = steps.next();
    if (step.done === true) return { result: step.value, count };
    between();
  }
}
