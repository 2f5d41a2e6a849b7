// The script of the first view stays below its bar. `npm test` builds the page first.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { FIRST_VIEW_BYTES_MAX, firstViewBytes, firstViewScripts } from './first-view.ts';

it(`loads at most ${FIRST_VIEW_BYTES_MAX} bytes of script for the first view, the chart included`, () => {
  const [entry = ''] = firstViewScripts();
  // Marks of the chart library and of the book keeper: the bar counts both.
  for (const part of ['crosshair', 'prevSeq']) expect(readFileSync(entry, 'utf8')).toContain(part);
  expect(firstViewBytes()).toBeLessThanOrEqual(FIRST_VIEW_BYTES_MAX);
});

it('counts what the entry imports statically, and no part that opens later', () => {
  const dist = mkdtempSync(path.join(tmpdir(), 'slotbook-first-view-'));
  try {
    mkdirSync(path.join(dist, 'assets'));
    const write = (name: string, text: string) => writeFileSync(path.join(dist, name), text);
    write('index.html', '<script type="module" src="./assets/a.js"></script>');
    write('assets/a.js', 'import{x}from"./b.js";import"./c.js";const later=()=>import("./d.js");');
    for (const name of ['b', 'c', 'd']) write(`assets/${name}.js`, 'export const x=1;');
    const names = firstViewScripts(dist).map((file) => path.basename(file));
    expect(names.sort()).toEqual(['a.js', 'b.js', 'c.js']);
  } finally {
    rmSync(dist, { recursive: true, force: true });
  }
});
