// One answer of the history against what the truth makes of it, told so that the first difference can be seen.

import type { Outcome } from './month-paging.ts';

export interface StatsCheck {
  /** As the contract names it. */
  readonly endpoint: string;
  readonly run: (base: string) => Promise<StatsResult>;
}

export interface StatsResult {
  readonly rows: number;
  readonly requests: number;
  readonly difference: string | null;
}

export async function runStats(base: string, checks: readonly StatsCheck[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const { endpoint, run } of checks) {
    const result = await run(base).catch((error: unknown) => ({ rows: 0, requests: 1, difference: String(error) }));
    outcomes.push({ endpoint, path: endpoint, ...result });
  }
  return outcomes;
}

/**
 * Equal when the answer is what some second of its making makes of the truth. Answers that the service keeps for a minute
 * must be asked for here first.
 */
export async function askedAt(ask: () => Promise<unknown>, expectedAt: (now: number) => unknown): Promise<StatsResult> {
  const before = Math.floor(Date.now() / 1000);
  const body = await ask();
  const after = Math.floor(Date.now() / 1000);
  const got = JSON.stringify(body);
  let nearest = '';
  for (let now = before; now <= after; now += 1) {
    const expected = JSON.stringify(expectedAt(now));
    if (expected === got) return { rows: Array.isArray(body) ? body.length : 1, requests: 1, difference: null };
    if (now === before || partedAt(expected, got) > partedAt(nearest, got)) nearest = expected;
  }
  return { rows: 0, requests: 1, difference: `expected ${shortened(nearest, got)}` };
}

function partedAt(expected: string, got: string): number {
  let at = 0;
  while (at < expected.length && expected[at] === got[at]) at += 1;
  return at;
}

/** Two texts from a little before the place where they part. */
function shortened(expected: string, got: string): string {
  const at = partedAt(expected, got);
  const from = Math.max(0, at - 60);
  return `...${expected.slice(from, at + 80)}, got ...${got.slice(from, at + 80)}`;
}

export function compared(expected: unknown, got: unknown, requests: number): StatsResult {
  const [left, right] = [JSON.stringify(expected), JSON.stringify(got)];
  const rows = Array.isArray(got) ? got.length : 1;
  return { rows, requests, difference: left === right ? null : `expected ${shortened(left, right)}` };
}
