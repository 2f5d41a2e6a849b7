// Links of all documents lead somewhere, and every shell line names commands, scripts and files that exist.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROLE_NAMES } from '../../bin/roles.ts';
import { commentParagraphs, SOURCE } from '../prose/prose.ts';
import { SUITES } from '../soak/suites.mjs';
import { ROOT, repositoryFiles } from '../support/repository.ts';
import {
  anchorsOf,
  documents,
  filesNamedIn,
  inlineCommands,
  linksOf,
  pathsOf,
  shellLines,
  targetOf,
  unreachable,
} from './documents.ts';

const all = documents();
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const scripts = new Set(Object.keys((JSON.parse(read('package.json')) as { readonly scripts: object }).scripts));
const namesIn = (folder: string) =>
  new Set(
    readdirSync(path.join(ROOT, folder))
      .filter((file) => file.endsWith('.ts'))
      .map((file) => file.slice(0, -3)),
  );

/** Programs that a shell line may begin with. */
const PROGRAMS = new Set(
  'npm npx node curl docker git cd export clickhouse-client pip python python3 kcat kubectl promtool kill mkdir'.split(
    ' ',
  ),
);
const NPM_BUILTIN = new Set(['start', 'test', 'ci', 'install', 'pack', 'run', 'view']);
/** Commands of the program, as `bin/cli.ts` names them. */
const COMMANDS = new Set([...read('bin/cli.ts').matchAll(/\.command\('([\w-]+)/g)].map(([, name = '']) => name));
const ROLES = new Set<string>(ROLE_NAMES);
const ALL_SUITES = new Set(['all', 'repeat']);
const NAMED: Readonly<Record<string, string>> = { bench: 'test/bench', soak: 'test/soak', example: 'examples' };

/** The fault of the words after `npm run slotbook --`; null for none. */
function faultOfCommand([command = '', ...rest]: readonly string[]): string | null {
  if (command.startsWith('-')) return null;
  if (!COMMANDS.has(command)) return `no command: ${command}`;
  if (command !== 'run') return null;
  const flags = rest.findIndex((word) => word.startsWith('-'));
  const unknown = rest
    .slice(0, flags < 0 ? rest.length : flags)
    .find((word) => /^[a-z]/.test(word) && !ROLES.has(word));
  return unknown === undefined ? null : `no role: ${unknown}`;
}

/** The fault of a shell line; null for none. */
function faultOf(line: string): string | null {
  for (const part of line.split(/\s(?:\||&&|;)\s/)) {
    const words = part.trim().split(/\s+/);
    while (/^[A-Z_]+=/.test(words[0] ?? '')) words.shift();
    // `npm run -s` prints nothing of its own.
    if (words[1] === 'run' && words[2] === '-s') words.splice(2, 1);
    const [program = '', first = '', second = ''] = words;
    if (program === '') continue;
    if (!PROGRAMS.has(program)) return `no known program: ${program}`;
    if (program !== 'npm') continue;
    if (!NPM_BUILTIN.has(first)) return `no npm command: ${first}`;
    if (first === 'run' && second !== '' && !scripts.has(second)) return `no script: ${second}`;
    if (second === 'slotbook' && words[3] === '--') {
      const fault = faultOfCommand(words.slice(4));
      if (fault !== null) return fault;
    }
    const folder = NAMED[second];
    const name = words[3];
    if (first === 'run' && folder !== undefined && name !== undefined && !/^(?:[-[<]|[A-Z]+$)/.test(name)) {
      const isSuite = folder === NAMED.soak && (name in SUITES || ALL_SUITES.has(name));
      if (!isSuite && !namesIn(folder).has(name)) return `nothing in ${folder} named ${name}`;
    }
    if (first === 'test' && second === '--') {
      const missing = words.slice(2).find((word) => /\//.test(word) && !existsSync(path.join(ROOT, word)));
      if (missing !== undefined) return `no file: ${missing}`;
    }
  }
  return null;
}

describe.each(all.map(({ file, text }) => [file, text] as const))('%s', (file, text) => {
  it('links to files and headings that exist', () => {
    const broken = linksOf(text).filter((link) => {
      const target = targetOf(link, file);
      if (target === null) return false;
      if (!existsSync(path.join(ROOT, target.file))) return true;
      return target.anchor !== '' && target.file.endsWith('.md') && !anchorsOf(read(target.file)).has(target.anchor);
    });
    expect(broken).toEqual([]);
  });

  it('names only files of the repository that exist', () => {
    const missing = pathsOf(text).filter((named) => !existsSync(path.join(ROOT, named)));
    expect(missing).toEqual([]);
  });

  it('names scripts, benches and files in shell lines that exist', () => {
    const faults = [...shellLines(text), ...inlineCommands(text)].flatMap((line) => {
      const fault = faultOf(line);
      return fault === null ? [] : [`${line}: ${fault}`];
    });
    expect(faults).toEqual([]);
  });
});

describe('all documents', () => {
  it('are reachable by links from the README', () => {
    expect(unreachable(all, 'README.md')).toEqual([]);
  });
});

describe('comments', () => {
  const files = repositoryFiles();
  const ends = new Set(files.flatMap((file) => file.split('/').map((_, at, folders) => folders.slice(at).join('/'))));

  /** A name is that of a file from the root, from the folder of the comment, or of the end of a path. */
  const exists = (named: string, file: string) =>
    ends.has(named) || ends.has(path.posix.join(path.posix.dirname(file), named));

  it('name only files that exist', () => {
    const missing = files
      .filter((file) => SOURCE.test(file))
      .flatMap((file) =>
        commentParagraphs(read(file), file.endsWith('.py'))
          .flatMap(filesNamedIn)
          .filter((named) => !exists(named, file))
          .map((named) => `${file}: ${named}`),
      );
    expect(missing).toEqual([]);
  });

  it('name a file with or without its folder', () => {
    expect(filesNamedIn('See a/b.ts, ../c.md and `d.py`, not https://e.com/f.md or g.ts/h.')).toEqual([
      'a/b.ts',
      '../c.md',
      'd.py',
    ]);
  });
});

describe('the checks of documents', () => {
  it('finds anchors, links and shell lines as a reader sees them', () => {
    const text = '# One, two\n[a](b.md#c) `[x](y)`\n```sh\nnpm start   # run\n```\n## One, two\n';
    expect([...anchorsOf(text)]).toEqual(['one-two', 'one-two-1']);
    expect(linksOf(text)).toEqual(['b.md#c']);
    expect(shellLines(text)).toEqual(['npm start']);
    expect(pathsOf('`api/index.ts`, `/l2`, `api/*/x.ts` and `a/b.ts`')).toEqual(['api/index.ts']);
  });

  it('finds a document that nothing links, and one that only such a document links', () => {
    const pages = [
      { file: 'README.md', text: '[a](docs/a.md#b) `[c](docs/c.md)` [d](https://e.com/docs/d.md)' },
      { file: 'docs/a.md', text: '[b](b.md) [r](../README.md)' },
      { file: 'docs/b.md', text: '' },
      { file: 'docs/c.md', text: '[d](d.md)' },
      { file: 'docs/d.md', text: '' },
    ];
    expect(unreachable(pages, 'README.md')).toEqual(['docs/c.md', 'docs/d.md']);
  });

  it('finds a script that does not exist', () => {
    expect(faultOf('npm run nonsense')).toBe('no script: nonsense');
    expect(faultOf('npm run bench nonsense')).toBe('nothing in test/bench named nonsense');
    expect(faultOf('npm run soak nonsense')).toBe('nothing in test/soak named nonsense');
    expect(faultOf('npm run -s nonsense')).toBe('no script: nonsense');
    expect(faultOf('npm run soak exports')).toBeNull();
    expect(faultOf('npm start -- --help')).toBeNull();
  });
});
