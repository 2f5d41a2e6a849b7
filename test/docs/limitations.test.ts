// LIMITATIONS.md says each surprise in one sentence. Details stand in the pages that it links.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { markdownParagraphs, sentencesOf, wordCount } from '../prose/prose.ts';
import { ROOT } from '../support/repository.ts';

const WORDS_MAX = 30;
const BULLET = /^\s*[-*] /;

const bulletsOf = (text: string): readonly string[] =>
  markdownParagraphs(text)
    .filter((part) => BULLET.test(part))
    .map((part) => part.replace(BULLET, '').trim());

/** Bullets that are not one whole sentence, or one that is too long. */
const faultsOf = (text: string): readonly string[] =>
  bulletsOf(text).filter((bullet) => {
    const [sentence = '', ...others] = sentencesOf(bullet);
    return others.length > 0 || !sentence.endsWith('.') || wordCount(sentence) > WORDS_MAX;
  });

describe('the limitations', () => {
  const page = readFileSync(path.join(ROOT, 'LIMITATIONS.md'), 'utf8');

  it('are one short sentence each', () => {
    expect(bulletsOf(page).length).toBeGreaterThan(50);
    expect(faultsOf(page)).toEqual([]);
  });

  it('are found where they are two sentences, a fragment or too long', () => {
    const long = `It has${' one more word'.repeat(10)}.`;
    const whole = 'A loss of 0.1 s shows at [a page](a.md#b. c), `d. e` and\n  the next line.';
    expect(faultsOf(`# Head\n\n- ${whole}\n- One. Two.\n- no sentence\n- ${long}\n`)).toEqual([
      'One. Two.',
      'no sentence',
      long,
    ]);
  });
});
