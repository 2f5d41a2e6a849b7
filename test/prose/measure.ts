// `npm run prose`: words a sentence, share of comment lines, product files and lines by room. One JSON line per figure.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { DOCUMENT, measureProse, SOURCE } from './prose.ts';

const ROOT = process.argv[2] ?? fileURLToPath(new URL('../../', import.meta.url));
const TEST = /\.test\.ts$|^test\/|^client\/python\/tests\//;

const tracked = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean);
const rooms = [...new Set(tracked.filter((file) => SOURCE.test(file)).map((file) => file.split('/')[0] ?? ''))];
const print = (figure: object) => process.stdout.write(`${JSON.stringify(figure)}\n`);
const share = (part: number, whole: number) => (whole === 0 ? 0 : Math.round((1000 * part) / whole) / 1000);

for (const room of rooms.sort()) {
  const files = tracked.filter((file) => file.startsWith(`${room}/`) && SOURCE.test(file));
  if (files.length === 0) continue;
  const product = measureProse(
    ROOT,
    files.filter((file) => !TEST.test(file)),
  );
  const figures = measureProse(ROOT, files);
  print({
    room,
    productFiles: product.files,
    productLines: product.codeLines + product.commentLines,
    commentShare: share(figures.commentLines, figures.codeLines + figures.commentLines),
    wordsPerSentence: share(figures.words, figures.sentences),
    longSentences: figures.longSentences,
  });
}
for (const [name, pattern] of [
  ['comments', SOURCE],
  ['documents', DOCUMENT],
] as const) {
  const figures = measureProse(
    ROOT,
    tracked.filter((file) => pattern.test(file)),
  );
  print({
    name,
    files: figures.files,
    sentences: figures.sentences,
    wordsPerSentence: share(figures.words, figures.sentences),
    longSentences: figures.longSentences,
    commentShare: share(figures.commentLines, figures.codeLines + figures.commentLines),
  });
}
