// The script of the page's first view: what the document loads before it shows a book, the chart included.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const DIST = path.join(import.meta.dirname, '..', 'dist');
/** Bytes of script that the first view may have, compressed with gzip. */
export const FIRST_VIEW_BYTES_MAX = 75_000;

/** The entry of the document, and what it imports statically. */
export function firstViewScripts(dist = DIST): readonly string[] {
  const assets = path.join(dist, 'assets');
  const entry = /src="\.\/assets\/([^"]+\.js)"/.exec(readFileSync(path.join(dist, 'index.html'), 'utf8'))?.[1];
  if (entry === undefined) throw new Error(`${dist}/index.html names no script`);
  const found = new Set([entry]);
  for (const name of found) {
    const text = readFileSync(path.join(assets, name), 'utf8');
    for (const [, imported = ''] of text.matchAll(/(?:import|from)\s*["']\.\/([^"']+\.js)["']/g)) found.add(imported);
  }
  return [...found].map((name) => path.join(assets, name));
}

/** Bytes of the first view's scripts, each compressed with gzip. */
export function firstViewBytes(dist = DIST): number {
  return firstViewScripts(dist).reduce((sum, file) => sum + gzipSync(readFileSync(file), { level: 9 }).length, 0);
}
