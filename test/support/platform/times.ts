// Two sizes of one test: what `npm test` repeats a few times, `npm run soak` repeats often, with the same code.

/** Whether a soak runs the file. */
export const isSoak = process.env.TEST_SIZE === 'soak';

/** Kills, rounds or inputs: `inTests` of them, or `inSoak` when a soak runs the file. */
export function times(inTests: number, inSoak: number): number {
  return isSoak ? inSoak : inTests;
}
