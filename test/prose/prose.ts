// Reads the prose of a checkout: comments of TypeScript, SQL and Python, and Markdown without code and tables.

import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface ProseFigures {
  readonly files: number;
  readonly codeLines: number;
  readonly commentLines: number;
  readonly sentences: number;
  readonly words: number;
  /** Sentences of more than LONG_WORDS words. */
  readonly longSentences: number;
}

export const SOURCE = /\.(?:tsx?|mjs|sql|py)$/;
export const DOCUMENT = /\.md$/;
const LONG_WORDS = 30;
/** A fragment such as a list item or a unit is no sentence. */
const SENTENCE_WORDS_MIN = 3;

const COMMENT_LINE = /^\s*(?:\{?\/\*\*?|\/\/|\*\/|\*(?!\/)|--)\s?(.*?)(?:\*\/\}?)?\s*$/;
const PYTHON_COMMENT = /^\s*#\s?(.*?)\s*$/;
const DOCSTRING = /^\s*"""/;
const BLANK = /^\s*$/;

/** The words of each line that is a comment, undefined for a line of code. A docstring of Python is a comment. */
function commentWords(text: string, isPython: boolean): readonly (string | undefined)[] {
  const lines = text.split('\n');
  if (!isPython) return lines.map((line) => COMMENT_LINE.exec(line)?.[1]);
  let isInside = false;
  return lines.map((line) => {
    const isComment = isInside || DOCSTRING.test(line);
    if (isComment && line.split('"""').length === 2) isInside = !isInside;
    return isComment ? line.replaceAll('"""', '').trim() : PYTHON_COMMENT.exec(line)?.[1];
  });
}

/** Comment paragraphs of a source file; code between two comments ends a paragraph. */
export function commentParagraphs(text: string, isPython = false): string[] {
  const paragraphs: string[] = [];
  let open: string[] = [];
  const close = () => {
    if (open.length > 0) paragraphs.push(open.join(' '));
    open = [];
  };
  for (const words of commentWords(text, isPython)) {
    if (words === undefined || BLANK.test(words) || words.startsWith('@')) close();
    else open.push(words);
  }
  close();
  return paragraphs;
}

/** Markdown paragraphs and list items, without code blocks, tables and headings. */
export function markdownParagraphs(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '').replace(/<!--[\s\S]*?-->/g, '');
  return prose
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.)\s)/)
    .map((part) =>
      part
        .split('\n')
        .filter((line) => !/^\s*(?:\||#)/.test(line))
        .join(' '),
    )
    .filter((part) => !BLANK.test(part));
}

/** Sentences without markup. Code in backticks counts as one word, and link targets do not count. */
export function sentencesOf(paragraph: string): readonly string[] {
  return paragraph
    .trim()
    .replace(/`[^`]*`/g, 'code')
    .replace(/\]\([^)]*\)/g, ']')
    .replace(/\b(?:e\.g|i\.e|etc)\./g, 'eg')
    .split(/(?<=[.!?])\s+/);
}

export function wordCount(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[A-Za-z0-9]/.test(word)).length;
}

/** Words of each sentence that is no fragment. */
export function sentenceLengths(paragraph: string): number[] {
  return sentencesOf(paragraph)
    .map(wordCount)
    .filter((words) => words >= SENTENCE_WORDS_MIN);
}

/** Sums over files, whose paths are relative to `root`. */
export function measureProse(root: string, files: readonly string[]): ProseFigures {
  let codeLines = 0;
  let commentLines = 0;
  const lengths: number[] = [];
  for (const file of files) {
    const text = readFileSync(path.join(root, file), 'utf8');
    const isMarkdown = DOCUMENT.test(file);
    const isPython = file.endsWith('.py');
    for (const part of isMarkdown ? markdownParagraphs(text) : commentParagraphs(text, isPython)) {
      lengths.push(...sentenceLengths(part));
    }
    if (isMarkdown) continue;
    const lines = text.split('\n');
    for (const [at, words] of commentWords(text, isPython).entries()) {
      if (BLANK.test(lines[at] ?? '')) continue;
      if (words === undefined) codeLines++;
      else commentLines++;
    }
  }
  return {
    files: files.length,
    codeLines,
    commentLines,
    sentences: lengths.length,
    words: lengths.reduce((sum, words) => sum + words, 0),
    longSentences: lengths.filter((words) => words > LONG_WORDS).length,
  };
}
