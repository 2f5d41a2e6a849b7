// Two sizes of one test: what `npm test` repeats a few times, `npm run soak` repeats often, with the same code.

/** Kills, rounds or inputs: `inTests` of them, or `inSoak` when a soak runs the file. */
export function times(inTests: number, inSoak: number): number {
  return process.env.TEST_SIZE === 'soak' ? inSoak : inTests;
}
