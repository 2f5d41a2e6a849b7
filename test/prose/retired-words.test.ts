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
  tell: 'publish, say, or distinguish',
  tells: 'publishes, says, or distinguishes',
  testimonies: 'answers of the arbiter',
  testimony: 'answer of the arbiter',
  told: 'published, written or known',
  unheard: 'not received',
  untold: 'not published',
  witness: 'arbiter, of live sources',
  witnesses: 'arbiters, of live sources',
};
/** SQL, names of migrations, names in stored states and dated benchmarks keep their words; nobody can tell loss from intent. */
const EXEMPT = /\bJOINS?\b|0006_companions|'doubt:'|tell (?:loss|the changes?)|never tells/g;
/** Retired in names alone: in prose they are ordinary words. */
const RETIRED_IN_NAMES: Readonly<Record<string, string>> = {
  bulk: 'range or download',
  facts: 'say which',
  filling: 'closing or covering: a fill is a trade',
  noise: 'junk',
  passing: 'transient or forwarding',
  shown: 'visible, displayed or listed',
  still: 'waiting or staying',
};
/** Users set SLOTBOOK_CANDLE_NOISE_*, and the Python client's method has the words of its public path. */
const EXEMPT_NAMES = /candleNoise(?:Quote|Exempt)|SLOTBOOK_CANDLE_NOISE_(?:QUOTE|EXEMPT)|market_candles_bulk/g;
const SKIPPED = /^(?:docs\/concepts\/glossary\.md|test\/prose\/|CHANGELOG\.md|package-lock\.json)|\/idl\//;
const READ = /\.(?:tsx?|mjs|py|md|sql|avsc|ya?ml|grit)$/;
const CODE = /\.(?:tsx?|mjs|py)$/;
/** A name of several words anywhere, and any name that a line declares. */
const NAMES =
  /[A-Za-z]+(?:_[A-Za-z]+|[A-Z][a-z]+)\w*|(?<=\b(?:const|let|function|class|interface|type|def) #?|#)[A-Za-z]+/g;

/** Words of a text in lower case. */
function wordsOf(text: string): readonly string[] {
  return (
    text
      .replace(/([a-z\d])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[a-z]+/g) ?? []
  );
}

const retired = (words: readonly string[], list: Readonly<Record<string, string>>): readonly string[] =>
  words.filter((word) => Object.hasOwn(list, word)).map((word) => `${word} (${list[word]})`);

/** Retired words of a text, with their lines. */
function retiredIn(text: string): readonly string[] {
  return text
    .split('\n')
    .flatMap((line, at) => retired(wordsOf(line.replace(EXEMPT, '')), RETIRED).map((fault) => `${at + 1}: ${fault}`));
}

/** Words that are retired in names, of a source text, with their lines. */
function retiredInNames(text: string): readonly string[] {
  return text.split('\n').flatMap((line, at) => {
    const names = line.replace(EXEMPT_NAMES, '').match(NAMES) ?? [];
    return retired(names.flatMap(wordsOf), RETIRED_IN_NAMES).map((fault) => `${at + 1}: ${fault}`);
  });
}

describe('retired words', () => {
  it('are found in prose and in parts of names', () => {
    expect(retiredIn('const isTold = 1;\n// was heard by bell_ringers')).toHaveLength(3);
    expect(retiredIn('LEFT JOIN threshold')).toEqual([]);
  });

  it('are found in names of several words and in declared ones, not in prose', () => {
    expect(retiredInNames('const shown = 1;\nisShown(SHOWN_MAX);\n#still() {\nfunction readBulk() {')).toHaveLength(5);
    expect(retiredInNames('// All of it is shown, and still noise.')).toEqual([]);
  });

  const files = repositoryFiles().filter((file) => READ.test(file) && !SKIPPED.test(file));
  it('stand in no file', () => {
    const found = files.flatMap((file) =>
      retiredIn(readFileSync(path.join(ROOT, file), 'utf8')).map((fault) => `${file}:${fault}`),
    );
    expect(found).toEqual([]);
  });

  it('name nothing, and no file', () => {
    const sources = files.filter((file) => CODE.test(file));
    const found = sources.flatMap((file) => [
      ...retired(wordsOf(file), RETIRED_IN_NAMES).map((fault) => `${file}: ${fault}`),
      ...retiredInNames(readFileSync(path.join(ROOT, file), 'utf8')).map((fault) => `${file}:${fault}`),
    ]);
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
