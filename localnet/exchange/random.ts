// The exchange's only source of randomness: a small seeded generator. Its state is four words, so a snapshot includes it
// and no block depends on a clock.

/** State of the sfc32 generator: four 32-bit words. */
export interface Rng {
  a: number;
  b: number;
  c: number;
  d: number;
}

/** Rounds after seeding, so that similar seeds give different sequences. */
const WARM_UP_ROUNDS = 16;

export function createRng(seed: number): Rng {
  const rng: Rng = { a: seed >>> 0, b: Math.floor(seed / 4294967296) >>> 0, c: 0x9e3779b9, d: 1 };
  for (let round = 0; round < WARM_UP_ROUNDS; round++) nextWord(rng);
  return rng;
}

/** A uniform 32-bit word (algorithm sfc32, public domain). */
function nextWord(rng: Rng): number {
  const sum = (rng.a + rng.b + rng.d) | 0;
  rng.d = (rng.d + 1) | 0;
  rng.a = rng.b ^ (rng.b >>> 9);
  rng.b = (rng.c + (rng.c << 3)) | 0;
  rng.c = ((rng.c << 21) | (rng.c >>> 11)) + sum;
  rng.c |= 0;
  return sum >>> 0;
}

/** Uniform in [0, 1). */
export function uniform(rng: Rng): number {
  return nextWord(rng) / 4294967296;
}

/** Uniform integer in [0, bound). */
export function below(rng: Rng, bound: number): number {
  return Math.floor(uniform(rng) * bound);
}

/** Uniform integer in [low, high]. */
export function between(rng: Rng, low: number, high: number): number {
  return low + below(rng, high - low + 1);
}

export function chance(rng: Rng, probability: number): boolean {
  return uniform(rng) < probability;
}

/** Chance of a rare event; never without the option for them. */
export function seldom(
  world: { readonly rare: { readonly on: boolean; readonly rng: Rng } },
  probability: number,
): boolean {
  return world.rare.on && chance(world.rare.rng, probability);
}

/** One element, or undefined when the list is empty. */
export function pick<T>(rng: Rng, list: readonly T[]): T | undefined {
  return list[below(rng, list.length)];
}

/** Nearly normal with variance 1: a sum of uniforms, because Math.log and Math.cos may differ between engines. */
export function nearlyNormal(rng: Rng): number {
  let sum = 0;
  for (let term = 0; term < 6; term++) sum += uniform(rng);
  return (sum - 3) * Math.SQRT2;
}
