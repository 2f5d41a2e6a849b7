// The shapes recorded from a real node, in a text that a person can read: the node, then every call with its lines.

import { readFileSync, writeFileSync } from 'node:fs';
import type { Shapes } from './observe.ts';

const FILE = new URL('./shapes.txt', import.meta.url);
const INDENT = '  ';

export interface Recorded {
  readonly node: string;
  readonly shapes: Shapes;
}

export function readRecorded(): Recorded {
  const [node = '', ...lines] = readFileSync(FILE, 'utf8').trimEnd().split('\n');
  const shapes: Record<string, string[]> = {};
  let current: string[] = [];
  for (const line of lines) {
    if (line.startsWith(INDENT)) current.push(line.slice(INDENT.length));
    else {
      current = [];
      shapes[line] = current;
    }
  }
  return { node, shapes };
}

export function writeRecorded({ node, shapes }: Recorded): void {
  const calls = Object.entries(shapes).map(([name, lines]) =>
    [name, ...lines.map((line) => `${INDENT}${line}`)].join('\n'),
  );
  writeFileSync(FILE, `${[node, ...calls].join('\n')}\n`);
}
