// The keeper passes the published conformance vectors, and the published file is what the generator makes.

import { readFileSync } from 'node:fs';
import { crc32 as zlibCrc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { accountVectors } from '../../test/conformance/account-vectors.ts';
import { type VectorLine, vectors } from '../../test/conformance/vectors.ts';
import { BookKeeper, type SideName } from '../index.ts';

const FILE = new URL('../conformance/book.jsonl', import.meta.url);
/** Messages and seed of the published file. */
const PUBLISHED = [1000, 1] as const;

function linesOf(keeper: BookKeeper, side: SideName): string[] {
  if (keeper.level === 'l3') {
    return keeper
      .orders(side)
      .map(({ price, size, maker, orderId, source }) => `${price} ${size} ${maker} ${orderId} ${source}`);
  }
  return keeper.levels(side).map(({ price, size, sources }) => {
    const parts = (['dlob', 'vamm'] as const).flatMap((name) =>
      sources[name] === undefined ? [] : [`${name}=${sources[name]}`],
    );
    return `${price} ${size} ${parts.join()}`;
  });
}

/** Counts results; throws at the first line that the keeper does not pass. */
function check(lines: Iterable<VectorLine>): Record<string, number> {
  const seen: Record<string, number> = {};
  let keeper = new BookKeeper({ level: 'l2' });
  let number = 0;
  for (const line of lines) {
    number += 1;
    if ('keeper' in line) {
      keeper = new BookKeeper(line.keeper);
      continue;
    }
    const result = keeper.apply(line.message as never);
    seen[result] = (seen[result] ?? 0) + 1;
    if (result !== line.result) throw new Error(`line ${number}: ${result} instead of ${line.result}`);
    if (line.crc === undefined) continue;
    const book = { bids: linesOf(keeper, 'bids'), asks: linesOf(keeper, 'asks') };
    const crc = zlibCrc32(['bids', ...book.bids, 'asks', ...book.asks].join('\n'));
    if (crc !== line.crc) throw new Error(`line ${number}: another book`);
    if (line.book) expect(book).toEqual(line.book);
  }
  return seen;
}

describe('conformance vectors of accounts', () => {
  it('in the repository are what the generator makes', () => {
    const published = readFileSync(new URL('../conformance/accounts.jsonl', import.meta.url), 'utf8');
    const isFresh = [...accountVectors()].join('') === published;
    expect(isFresh ? 'fresh' : 'stale: npm run conformance -- accounts > client/conformance/accounts.jsonl').toBe(
      'fresh',
    );
  });
});

describe('conformance vectors', () => {
  const published = readFileSync(FILE, 'utf8');

  it('in the repository are passed, with every result many times', () => {
    const seen = check(
      published
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as VectorLine),
    );
    expect(Object.values(seen).reduce((sum, count) => sum + count, 0)).toBe(PUBLISHED[0]);
    for (const result of ['applied', 'gap', 'checksum', 'malformed', 'waiting']) {
      expect(seen[result] ?? 0, result).toBeGreaterThan(5);
    }
  });

  it('in the repository are what the generator makes', () => {
    const made = [...vectors(...PUBLISHED)].map((line) => `${JSON.stringify(line)}\n`).join('');
    expect(made === published ? 'fresh' : 'stale: npm run conformance -- 1000 1 > client/conformance/book.jsonl').toBe(
      'fresh',
    );
  });

  it('of other seeds are passed too', () => {
    const seen = check(vectors(Number(process.env.SLOTBOOK_VECTORS ?? 3000), 2));
    expect(seen.applied ?? 0).toBeGreaterThan(1000);
  });
});
