// Keeps words out that once had a meaning of their own in this project; docs/concepts/glossary.md has those that remain.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, repositoryFiles } from '../support/repository.ts';

/** Retired words by what to write instead. A part of a camelCase or snake_case name counts as a word. */
const RETIRED: Readonly<Record<string, string>> = {
  bell: 'commit signal',
  brisk: 'say which messages',
  companion: 'lookup table',
  companions: 'lookup tables',
  densities: 'rows per time',
  doubt: 'discrepancy',
  doubted: 'suspect, or unproven',
  doubtful: 'unproven',
  doubts: 'discrepancies',
  foresee: 'prefetch',
  foreseen: 'prefetched',
  heard: 'received',
  hears: 'receives',
  joins: 'pending subscriptions',
  lane: 'queue, or half of a number',
  lanes: 'queues, or halves of a number',
  liar: 'lying source',
  liars: 'lying sources',
  sighting: 'observation',
  sightings: 'observations',
  testimonies: 'answers of the arbiter',
  testimony: 'answer of the arbiter',
  told: 'published, written or known',
  unheard: 'not received',
  untold: 'not published',
  witness: 'arbiter, of live sources',
  witnesses: 'arbiters, of live sources',
};
/** SQL, names of migrations and names in stored states keep their words. */
const EXEMPT = /\bJOINS?\b|0006_companions|'doubt:'/g;
const SKIPPED = /^(?:docs\/concepts\/glossary\.md|test\/prose\/|CHANGELOG\.md|package-lock\.json)|\/idl\//;
const READ = /\.(?:tsx?|mjs|py|md|sql|avsc|ya?ml|grit)$/;

/** Retired words of a text, with their lines. */
function retiredIn(text: string): readonly string[] {
  return text.split('\n').flatMap((line, at) => {
    const words = line
      .replace(EXEMPT, '')
      .replace(/([a-z\d])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[a-z]+/g);
    return (words ?? [])
      .filter((word) => Object.hasOwn(RETIRED, word))
      .map((word) => `${at + 1}: ${word} (${RETIRED[word]})`);
  });
}

describe('retired words', () => {
  it('are found in prose and in parts of names', () => {
    expect(retiredIn('const isTold = 1;\n// was heard by bell_ringers')).toHaveLength(3);
    expect(retiredIn('LEFT JOIN threshold')).toEqual([]);
  });

  const files = repositoryFiles().filter((file) => READ.test(file) && !SKIPPED.test(file));
  it('stand in no file', () => {
    const found = files.flatMap((file) =>
      retiredIn(readFileSync(path.join(ROOT, file), 'utf8')).map((fault) => `${file}:${fault}`),
    );
    expect(found).toEqual([]);
  });

  it('leave a glossary of thirty terms at most, in order', () => {
    const glossary = readFileSync(new URL('../../docs/concepts/glossary.md', import.meta.url), 'utf8');
    const terms = [...glossary.matchAll(/^\| ([a-z][a-z ]*) \|/gm)].map(([, term = '']) => term);
    expect(terms.length).toBeGreaterThan(20);
    expect(terms.length).toBeLessThanOrEqual(30);
    expect(terms).toEqual([...new Set(terms)].sort());
  });
});
