// Compares one answer of the history with the expected one and reports the first difference.

import type { Outcome } from './paging.ts';

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
 * Equal when the answer is the expected one of any second during the request. The service caches some answers for a minute, so
 * this must request them first.
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

/** Two texts from a little before their first difference. */
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
