// The client's API page, from the declarations that its build makes: what each entry exports, with its docstrings.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ENTRIES = ['feed', 'history', 'orderbook', 'accounts', 'swap'];
/** Generated types are listed by name alone: the contracts describe them. */
const GENERATED = /(?:channel-types|account-types|contract)\.d\.ts$/;
/** For the client itself, not for its users. */
const INTERNAL = 'For the client: ';

interface Export {
  readonly name: string;
  readonly file: string;
}

/** Names that an index re-exports, with their files. */
function exportsOf(index: string): Export[] {
  const text = readFileSync(index, 'utf8');
  const found = [...text.matchAll(/export (?:type )?\{([^}]*)\} from '([^']+)'/g)];
  return found.flatMap(([, names = '', from = '']) =>
    names
      .split(',')
      .map((name) => name.replace(/^\s*(?:type )?\s*/, '').trim())
      .filter((name) => name !== '')
      .map((name) => ({ name, file: path.join(path.dirname(index), from.replace(/\.(?:js|ts)$/, '.d.ts')) })),
  );
}

/** The declaration of a name: its text, and the doc comment before it. */
function declarationOf({ name, file }: Export): { readonly doc: string; readonly text: string } | null {
  const source = readFileSync(file, 'utf8');
  const head = new RegExp(`^export (?:declare )?(?:abstract )?(?:class|interface|type|function|const) ${name}\\b`, 'm');
  const at = source.search(head);
  if (at < 0) return null;
  const rest = source.slice(at);
  const end = rest.search(/^(?:\}|.*;)$/m);
  const closing = rest.startsWith('export type') || /^export (?:declare )?(?:const|function)/.test(rest);
  // The last line of a declaration begins without an indent, like its first.
  const last = /^\S.*;$/m.exec(rest);
  const length = closing ? (last ? last.index + last[0].length : 0) : rest.indexOf('\n}') + 2;
  const text = rest.slice(0, length > 1 ? length : end).replace(/^export (?:declare )?/, '');
  const doc = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/.exec(source.slice(0, at))?.[0] ?? '';
  return { doc: plain(doc), text: withoutInternals(text) };
}

function plain(doc: string): string {
  return doc
    .replace(/^\/\*\*|\*\/\s*$/g, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trim())
    .join(' ')
    .trim();
}

/** Leaves out private members, and members that only the client itself calls. */
function withoutInternals(text: string): string {
  const end = text.endsWith('\n}') ? '}' : '';
  const members = text.slice(0, text.length - end.length).split(/(?<=[;{]\n)(?= {4}\S)/);
  const isOwn = (member: string): boolean => !/^ {4}#private/.test(member) && !member.includes(INTERNAL);
  return `${members.filter(isOwn).join('').replaceAll('    ', '  ')}${end}`;
}

function entryText(folder: string, entry: string): string {
  const sections = exportsOf(path.join(folder, 'client', entry, 'index.d.ts'))
    .filter(({ file }) => !GENERATED.test(file))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((one) => {
      const found = declarationOf(one);
      if (!found) return [];
      return [`### ${one.name}`, '', ...(found.doc === '' ? [] : [found.doc, '']), '```ts', found.text, '```', ''];
    });
  return [`## @slotbook/client/${entry}`, '', ...sections].join('\n');
}

/** The page. Builds the client for it. */
export function apiPage(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'slotbook-api-'));
  try {
    execFileSync(process.execPath, [path.join(ROOT, 'client', 'build.mjs'), folder]);
    const lead = 'Every export of the package, with its docstring. `npm run docs` writes this page.';
    const entries = ENTRIES.map((entry) => entryText(path.join(folder, 'esm'), entry));
    return ['# API of @slotbook/client', '', lead, '', ...entries].join('\n');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
