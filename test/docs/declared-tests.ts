// Finds the tests that a run of the suites declares, by their syntax. Titles in comments, in skipped suites and in functions
// that no suite calls do not count.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'vite';
import { ROOT } from '../support/repository.ts';

export interface DeclaredTest {
  /** The file that has the title. Helpers of a suite have titles too. */
  readonly file: string;
  readonly title: string;
  /** Code of the conditions under which the test runs. */
  readonly conditions: readonly string[];
}

/** The members of ESTree that are read here. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly arguments?: unknown;
  readonly callee?: unknown;
  readonly declaration?: unknown;
  readonly declarations?: unknown;
  readonly id?: unknown;
  readonly init?: unknown;
  readonly left?: unknown;
  readonly local?: unknown;
  readonly imported?: unknown;
  readonly key?: unknown;
  readonly name?: unknown;
  readonly object?: unknown;
  readonly properties?: unknown;
  readonly property?: unknown;
  readonly source?: unknown;
  readonly specifiers?: unknown;
  readonly tag?: unknown;
  readonly test?: unknown;
  readonly value?: unknown;
}

interface Module {
  readonly text: string;
  readonly body: readonly Node[];
  /** Functions of the top level by name. */
  readonly functions: ReadonlyMap<string, Node>;
  /** Imported names by the file and the name there. */
  readonly imports: ReadonlyMap<string, { readonly file: string; readonly name: string }>;
}

const DECLARES = new Set(['it', 'test', 'describe']);
const BRANCHES = new Set(['IfStatement', 'ConditionalExpression']);
const NEVER = new Set(['skip', 'todo']);
/** Functions of product code declare no tests. */
const HAS_TESTS = /\.test\.ts$|^test\//;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;
const isFunction = ({ type }: Node) => /Function(?:Expression|Declaration)$/.test(type);
const childrenOf = (node: Node): readonly Node[] => Object.values(node).flat().filter(isNode);
const nameOf = (node: unknown): string => (isNode(node) && typeof node.name === 'string' ? node.name : '');
const nodesOf = (value: unknown): readonly Node[] => (Array.isArray(value) ? value.filter(isNode) : []);

function moduleOf(file: string, text: string): Module {
  const body = nodesOf(parseSync(file, text).program.body).map((statement) =>
    isNode(statement.declaration) ? statement.declaration : statement,
  );
  const functions = new Map<string, Node>();
  const imports = new Map<string, { file: string; name: string }>();
  for (const statement of body) {
    if (isFunction(statement)) functions.set(nameOf(statement.id), statement);
    for (const { id, init } of nodesOf(statement.declarations)) {
      if (isNode(init) && isFunction(init)) functions.set(nameOf(id), init);
    }
    const from = statement.type === 'ImportDeclaration' ? String((statement.source as Node).value) : '';
    if (!from.startsWith('.')) continue;
    for (const { local, imported } of nodesOf(statement.specifiers)) {
      imports.set(nameOf(local), { file: path.join(path.dirname(file), from), name: nameOf(imported) });
    }
  }
  return { text, body, functions, imports };
}

/** Text of a literal, or of a template with its values as code. Else null. */
function textOf(node: Node | undefined, codeOf: (node: Node) => string): string | null {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  return node?.type === 'TemplateLiteral' ? codeOf(node).slice(1, -1).replaceAll('\\`', '`') : null;
}

/** The condition of a branch, else null. */
function conditionOf(node: Node): Node | null {
  const condition = node.type === 'LogicalExpression' ? node.left : BRANCHES.has(node.type) ? node.test : null;
  return isNode(condition) ? condition : null;
}

/** Members of a chain such as `it.skipIf(x).each(y)`, with their first arguments, if it begins with `it`, `test` or `describe`. */
function chainOf(callee: unknown): readonly { readonly name: string; readonly value: Node | undefined }[] | null {
  if (!isNode(callee)) return null;
  if (callee.type === 'Identifier') return DECLARES.has(nameOf(callee)) ? [] : null;
  if (callee.type === 'TaggedTemplateExpression') return chainOf(callee.tag);
  if (callee.type === 'CallExpression') {
    const inner = chainOf(callee.callee);
    const last = inner?.at(-1);
    return inner && last ? [...inner.slice(0, -1), { ...last, value: nodesOf(callee.arguments)[0] }] : null;
  }
  const inner = callee.type === 'MemberExpression' ? chainOf(callee.object) : null;
  return inner && [...inner, { name: nameOf(callee.property), value: undefined }];
}

const readFromRoot = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');

/** Tests that these suites declare, also by functions of other files of tests that they call. Files are named from the root. */
export function declaredTests(
  suites: readonly string[],
  read: (file: string) => string = readFromRoot,
): readonly DeclaredTest[] {
  const modules = new Map<string, Module>();
  const found: DeclaredTest[] = [];
  const withoutTests = new Set<Node>();
  const load = (file: string) => {
    const known = modules.get(file) ?? moduleOf(file, read(file));
    modules.set(file, known);
    return known;
  };

  function enter(file: string, name: string, conditions: readonly string[], callers: readonly Node[]): void {
    const { functions, imports } = load(file);
    const source = imports.get(name);
    const body = functions.get(name);
    if (source && HAS_TESTS.test(source.file)) enter(source.file, source.name, conditions, callers);
    else if (body && !callers.includes(body) && !withoutTests.has(body)) {
      const before = found.length;
      for (const part of childrenOf(body)) visit(part, file, conditions, [...callers, body]);
      if (found.length === before) withoutTests.add(body);
    }
  }

  /** Notes the tests at and below a node. A declared function counts where it is called. */
  function visit(node: Node, file: string, conditions: readonly string[], callers: readonly Node[]): void {
    if (node.type === 'FunctionDeclaration') return;
    if (node.type === 'VariableDeclarator' && isNode(node.init) && isFunction(node.init)) return;
    const codeOf = ({ start, end }: Node) => load(file).text.slice(start, end);
    const condition = conditionOf(node);
    let under = condition ? [...conditions, codeOf(condition)] : conditions;
    if (node.type === 'CallExpression') {
      const chain = chainOf(node.callee);
      const given = nodesOf(node.arguments);
      if (chain) {
        if (chain.some(({ name }) => NEVER.has(name)) || given.some(isNeverRun)) return;
        under = [...conditions, ...conditionsOf(chain, codeOf)];
        const title = textOf(given[0], codeOf);
        if (title !== null && given.length > 1) found.push({ file, title, conditions: under });
      } else enter(file, nameOf(node.callee), conditions, callers);
    }
    for (const part of childrenOf(node)) visit(part, file, under, callers);
  }

  for (const suite of suites) for (const statement of load(suite).body) visit(statement, suite, [], []);
  return found;
}

const isNeverRun = (options: Node): boolean =>
  options.type === 'ObjectExpression' && nodesOf(options.properties).some(({ key }) => NEVER.has(nameOf(key)));

function conditionsOf(
  chain: NonNullable<ReturnType<typeof chainOf>>,
  codeOf: (node: Node) => string,
): readonly string[] {
  return chain.flatMap(({ name, value }) => {
    if (!value || (name !== 'runIf' && name !== 'skipIf')) return [];
    return name === 'runIf' ? codeOf(value) : `!(${codeOf(value)})`;
  });
}
