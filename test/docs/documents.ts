// Reads the Markdown documents of the repository: their headings, links and shell lines.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, repositoryFiles } from '../support/repository.ts';

export interface Document {
  /** Relative to the root of the repository. */
  readonly file: string;
  readonly text: string;
}

export function documents(): readonly Document[] {
  return repositoryFiles()
    .filter((file) => file.endsWith('.md'))
    .map((file) => ({ file, text: readFileSync(path.join(ROOT, file), 'utf8') }));
}

const FENCE = /^( *)```(\w*)[^\n]*\n([\s\S]*?)^\1```/gm;

const withoutCode = (text: string): string => text.replace(FENCE, '');

/** Anchors as GitHub makes them from headings. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ''] of withoutCode(text).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    anchors.add(times === 0 ? anchor : `${anchor}-${times}`);
  }
  return anchors;
}

/** Targets of links, code left out. */
export function linksOf(text: string): readonly string[] {
  const prose = withoutCode(text).replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g)].map(([, target = '']) => target);
}

export interface Target {
  /** Relative to the root of the repository. */
  readonly file: string;
  /** Empty for the whole file. */
  readonly anchor: string;
}

/** Target of a link that stands in `file`; null when the link leaves the repository. */
export function targetOf(link: string, file: string): Target | null {
  if (/^(?:https?|mailto):/.test(link)) return null;
  const [target = '', anchor = ''] = link.split('#');
  return { file: target === '' ? file : path.posix.join(path.posix.dirname(file), target), anchor };
}

/** Documents that no chain of links leads to from the document `start`. */
export function unreachable(all: readonly Document[], start: string): readonly string[] {
  const texts = new Map(all.map(({ file, text }) => [file, text]));
  const reached = new Set([start]);
  // A set that grows is iterated to its end.
  for (const file of reached) {
    for (const link of linksOf(texts.get(file) ?? '')) {
      const target = targetOf(link, file);
      if (target !== null && texts.has(target.file)) reached.add(target.file);
    }
  }
  return [...texts.keys()].filter((file) => !reached.has(file));
}

/** Commands of `sh` blocks without comments; a line that ends in a backslash goes on. */
export function shellLines(text: string): readonly string[] {
  const lines: string[] = [];
  for (const [, , language = '', body = ''] of text.matchAll(FENCE)) {
    if (!['sh', 'bash', 'shell'].includes(language)) continue;
    const joined = body.replace(/\\\n\s*/g, ' ');
    for (const line of joined.split('\n')) {
      const command = line.replace(/(?:^|\s)#(?:\s.*)?$/, '').trim();
      if (command !== '') lines.push(command);
    }
  }
  return lines;
}

/** Commands of npm inside sentences. */
export function inlineCommands(text: string): readonly string[] {
  return [...withoutCode(text).matchAll(/`(npm [^`\n]+)`/g)].map(([, command = '']) => command);
}

const ROOMS = 'api|bin|client|deploy|docs|examples|ingest|localnet|platform|processors|schemas|test|web';
const NAMED_PATH = new RegExp(`\`((?:${ROOMS})/[\\w./-]+\\.(?:tsx?|mjs|css|json|sql|ya?ml|md|xml|conf))\``, 'g');

const NAMED_FILE = /(?<![\w@./-])(?:\.{1,2}\/)*(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.(?:tsx?|mjs|md|sql|py)\b(?!\/)/g;

/** Names of files in prose, with or without a folder. Addresses are none. */
export function filesNamedIn(prose: string): readonly string[] {
  return prose.replace(/https?:\S+/g, '').match(NAMED_FILE) ?? [];
}

/** Files of the rooms that a text names in backticks, by their path from the root. */
export function pathsOf(text: string): readonly string[] {
  return [...withoutCode(text).matchAll(NAMED_PATH)].map(([, named = '']) => named);
}
