import { describe, expect, it } from 'vitest';
import { ROOT, repositoryFiles } from '../support/repository.ts';
import { commentParagraphs, DOCUMENT, markdownParagraphs, measureProse, SOURCE, sentenceLengths } from './prose.ts';

describe('the prose of a file', () => {
  it('is that of its comments; code ends a paragraph', () => {
    const source = '// One sentence that\n// goes on.\nconst a = 1;\n/** Another one here. */\nlet b;\n';
    expect(commentParagraphs(source)).toEqual(['One sentence that goes on.', 'Another one here. ']);
  });

  it('is that of comments in JSX and of docstrings in Python', () => {
    expect(commentParagraphs('<div>\n  {/* A text of it. */}\n</div>')).toEqual(['A text of it. ']);
    const python =
      '"""One line here."""\nasync def a() -> None:\n    """Two lines\n    of it.\n    """\n    b = 1  # no\n# Last.\n';
    expect(commentParagraphs(python, true)).toEqual(['One line here.', 'Two lines of it.', 'Last.']);
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

/** Fifteen words are the aim of CONTRIBUTING.md. These bounds lie a twentieth above the figures of `npm run prose`. */
const COMMENT_WORDS_MAX = 10.9;
const DOCUMENT_WORDS_MAX = 13.5;
const COMMENT_SHARE_MAX = 0.088;

describe('the prose of the repository', () => {
  const figuresOf = (pattern: RegExp) =>
    measureProse(
      ROOT,
      repositoryFiles().filter((file) => pattern.test(file)),
    );

  it('has short sentences, and few lines of comments beside the code', () => {
    const comments = figuresOf(SOURCE);
    const documents = figuresOf(DOCUMENT);
    expect(comments.words / comments.sentences).toBeLessThan(COMMENT_WORDS_MAX);
    expect(documents.words / documents.sentences).toBeLessThan(DOCUMENT_WORDS_MAX);
    expect(comments.commentLines / (comments.codeLines + comments.commentLines)).toBeLessThan(COMMENT_SHARE_MAX);
  });
});
