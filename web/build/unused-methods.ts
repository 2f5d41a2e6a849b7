// Leaves methods out of a library that neither it nor the page names. Minifiers keep every method of a class that is used.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}
interface Method extends Node {
  readonly computed: boolean;
  readonly kind: string;
  readonly key: Node & { readonly name: string };
  readonly value: Node;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

const isMethod = (node: Node): node is Method => {
  const { type, kind, computed, key } = node as Method;
  return type === 'MethodDefinition' && kind !== 'constructor' && !computed && key.type === 'Identifier';
};

/** Calls `visit` with a node and all below it, but with nothing below a node for which it returns false. */
function walk(node: Node, visit: (node: Node) => boolean): void {
  if (!visit(node)) return;
  for (const value of Object.values(node)) {
    for (const inner of Array.isArray(value) ? value : [value]) if (isNode(inner)) walk(inner, visit);
  }
}

/** Names that code outside of methods mentions: members, keys of objects and patterns, texts, which may name a member too. */
function namesIn(root: Node): readonly string[] {
  const names: string[] = [];
  walk(root, (node) => {
    if (node !== root && isMethod(node)) return false;
    const { type, computed, property, key, value } = node as Node & Record<string, unknown>;
    const named = type === 'MemberExpression' ? property : type === 'Property' ? key : null;
    if (named !== null && !computed) names.push(String((named as { readonly name?: string }).name));
    if (type === 'Literal' && typeof value === 'string') names.push(value);
    return true;
  });
  return names;
}

/**
 * The code without methods whose name is reachable neither from `used` nor from the code outside of methods. A method that is
 * only mentioned by such methods goes too. `program` is the syntax tree of `code`.
 */
export function withoutUnusedMethods(code: string, program: object, used: Iterable<string>): string {
  const methods = new Map<string, Method[]>();
  walk(program as Node, (node) => {
    if (isMethod(node)) methods.set(node.key.name, [...(methods.get(node.key.name) ?? []), node]);
    return true;
  });
  const reached = new Set<string>([...used, ...namesIn(program as Node)]);
  // A set that grows while it is read: each name brings those in its methods.
  for (const name of reached) {
    for (const { value } of methods.get(name) ?? []) for (const inner of namesIn(value)) reached.add(inner);
  }
  const unused = [...methods].flatMap(([name, list]) => (reached.has(name) ? [] : list));
  return unused
    .toSorted((left, right) => right.start - left.start)
    .reduce((text, { start, end }) => text.slice(0, start) + text.slice(end), code);
}

/** Names of the library's own short names; every public name is longer. */
const SHORT_NAME = 3;

/** Every word in the sources of the page and of what the library stands on, and what the language calls by itself. */
function wordsOf(folders: readonly string[]): Set<string> {
  const words = new Set(['toString', 'valueOf', 'toJSON', 'then']);
  for (const folder of folders) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.(?:tsx?|m?js)$/.test(entry.name)) continue;
      const text = readFileSync(path.join(entry.parentPath, entry.name), 'utf8');
      for (const [word] of text.matchAll(/[\w$]+/g)) if (word.length > SHORT_NAME) words.add(word);
    }
  }
  return words;
}

/** A plugin for Vite. `callers` are the folders whose code may call methods of the library. */
export function unusedMethods(library: RegExp, callers: readonly string[]) {
  return {
    name: 'slotbook:unused-methods',
    transform: {
      filter: { id: library },
      handler(this: { parse(code: string): object }, code: string) {
        return { code: withoutUnusedMethods(code, this.parse(code), wordsOf(callers)), map: null };
      },
    },
  };
}
