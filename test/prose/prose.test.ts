import { describe, expect, it } from 'vitest';
import { commentParagraphs, markdownParagraphs, sentenceLengths } from './prose.ts';

describe('the prose of a file', () => {
  it('is that of its comments; code ends a paragraph', () => {
    const source = '// One sentence that\n// goes on.\nconst a = 1;\n/** Another one here. */\nlet b;\n';
    expect(commentParagraphs(source)).toEqual(['One sentence that goes on.', 'Another one here. ']);
  });

  it('is that of Markdown without code, tables and headings', () => {
    const page =
      '# Head\n\nA text of it.\n\n| a | b |\n|---|---|\n\n```sh\nnpm start\n```\n- one item\n- another item\n';
    expect(markdownParagraphs(page).map((part) => part.trim())).toEqual([
      'A text of it.',
      '- one item',
      '- another item',
    ]);
  });

  it('has words by the sentence; code and links count as a word, and fragments not at all', () => {
    expect(sentenceLengths('It reads `a b c` from [the page](x.md#y). Then it stops, e.g. here. Short one.')).toEqual([
      6, 5,
    ]);
  });
});
