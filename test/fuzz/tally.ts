// Counts of answers to generated inputs, and the first faults with the inputs that caused them.

import fc from 'fast-check';

export interface InputsResult {
  readonly inputs: number;
  /** REST answers by path and status, socket inputs by the state of the connection after them. */
  readonly answers: Readonly<Record<string, number>>;
  /** The first faults, each with the input that caused it. */
  readonly faults: readonly string[];
}

/** Inputs that are sent at the same time. */
export const AT_ONCE = 16;
const CHUNK = 1_000;
const FAULTS_KEPT = 10;
const FAULT_CHARS = 2_000;

export class Tally implements InputsResult {
  readonly answers: Record<string, number> = {};
  readonly faults: string[] = [];
  inputs = 0;

  answered(kind: string): void {
    this.answers[kind] = (this.answers[kind] ?? 0) + 1;
  }

  fault(what: string, input: unknown): void {
    if (this.faults.length < FAULTS_KEPT) this.faults.push(`${what}: ${JSON.stringify(input)}`.slice(0, FAULT_CHARS));
  }
}

/** Inputs of one kind in chunks, the same for the same seed. */
export function* generated<T>(arbitrary: fc.Arbitrary<T>, count: number, seed: number): Generator<T> {
  for (let made = 0; made < count; made += CHUNK) {
    yield* fc.sample(arbitrary, { numRuns: Math.min(CHUNK, count - made), seed: seed + made });
  }
}

/** Hands inputs to workers that share them. */
export async function eachAtOnce<T>(inputs: Iterable<T>, work: (inputs: Iterable<T>) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: AT_ONCE }, () => work(inputs)));
}
