// The history REST for the Python client, from its OpenAPI document: types of rows and answers, exact columns, and a method for
// each operation.

import { docstring, literal, PythonTypes } from './python-types.ts';
import { answerOf, type Entry, entriesOf, type Operation, type Paths } from './rest-operations.ts';
import type { Schema } from './schema-text.ts';
import { pascal } from './type-declarations.ts';

const HEAD = 'Written by `npm run docs`. Do not edit.';
/** Digits after the point of a raw integer, by the last word of its unit (`quote 1e6`). */
const SCALE = / 1e(\d+)$/;
/** A socket is no request; the document itself has no types. */
const LEFT_OUT: ReadonlySet<string> = new Set(['GET /ws', 'GET /openapi.json']);
const KEYWORDS: ReadonlySet<string> = new Set(['from', 'type', 'format', 'id']);

const snake = (name: string): string => name.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
/** `from` is a keyword, and others would hide a builtin function. */
const argument = (name: string): string => (KEYWORDS.has(name) ? `${name}_` : snake(name));

const literalSegments = (path: string): string[] =>
  path.split('/').filter((part) => part !== '' && !part.startsWith('{'));
const placeholders = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
const baseName = ({ key, path }: Entry): string => {
  const method = key.split(' ')[0] ?? '';
  return `${method === 'GET' ? '' : pascal(method.toLowerCase())}${literalSegments(path).map(pascal).join('')}`;
};

/** Method names by operation. Two of the same words differ by the parameters in their paths. */
function methodNames(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  // The shortest path of the same words has the plain name.
  const sorted = [...entries].sort((a, b) => placeholders(a.path).length - placeholders(b.path).length);
  for (const entry of sorted) {
    const base = snake(baseName(entry));
    const held = placeholders(entry.path);
    const period = held.includes('day') ? '_of_day' : held.includes('month') ? '_of_month' : '';
    const last = held.at(-1);
    const wanted = [base + period, ...(last === undefined ? [] : [`${base}_by_${snake(last)}`])];
    const name = wanted.find((one) => !taken.has(one));
    if (name === undefined) throw new Error(`no free name for ${entry.key}`);
    taken.add(name);
    names.set(entry.key, name);
  }
  return names;
}

function columnOf(schema: Schema & { readonly 'x-unit'?: string }): string {
  const unit = schema['x-unit'];
  if (unit === 'identifier') return 'Column.raw(0)';
  if (unit !== undefined) return `Column.raw(${SCALE.exec(unit)?.[1] ?? 'None'})`;
  const types = [schema.type ?? []].flat();
  if (types.includes('integer')) return 'Column.WHOLE';
  if (types.includes('number')) return 'Column.DECIMAL';
  if (types.includes('boolean')) return 'Column.FLAG';
  return types.includes('array') || types.includes('object') ? 'Column.OTHER' : 'Column.TEXT';
}

/** Rows of an answer: the objects of its list `records`. */
function rowsOf(answer: Schema | undefined): Schema | null {
  const records = answer?.properties?.records;
  const items = records && !Array.isArray(records.items) ? (records.items as Schema | undefined) : undefined;
  return items?.properties ? items : null;
}

const isPaged = (answer: Schema | undefined): boolean => {
  const next = answer?.properties?.meta?.properties?.nextPage;
  return rowsOf(answer) !== null && [next?.type ?? []].flat().includes('string');
};

const formatsOf = ({ parameters = [] }: Operation): readonly unknown[] =>
  parameters.find(({ name }) => name === 'format')?.schema.enum ?? [];

interface Shape {
  readonly answer: string;
  readonly row: string | null;
  /** The Python class of what the method returns, with its types. */
  readonly returns: string;
}

class Module {
  readonly types = new PythonTypes();
  readonly columns = new Map<string, string>();
  readonly #shapes = new Map<string, Shape>();
  readonly #names: ReadonlyMap<string, string>;

  /** `names`: of methods by operation. */
  constructor(names: ReadonlyMap<string, string>) {
    this.#names = names;
  }

  nameOf({ key }: Entry): string {
    return this.#names.get(key) ?? '';
  }

  shapeOf({ key }: Entry): Shape {
    const shape = this.#shapes.get(key);
    if (!shape) throw new Error(`${key} has no shape`);
    return shape;
  }

  add(entry: Entry): void {
    const { key, operation } = entry;
    const base = pascal(this.nameOf(entry));
    const schema = answerOf(operation);
    const rows = rowsOf(schema);
    const row = rows === null ? null : this.types.declare(`${base}Record`, rows);
    if (row !== null && rows !== null) this.#addColumns(row, rows);
    // A file is no JSON.
    const answer = schema && schema.type !== 'string' ? this.types.typeOf(schema, `${base}Answer`) : 'bytes';
    const formats = formatsOf(operation);
    const pair = `[${answer}, ${row}]`;
    let returns = `Reply[${answer}]`;
    if (row !== null && formats.includes('parquet')) returns = `Table${pair}`;
    else if (row !== null && isPaged(schema)) returns = `${formats.includes('csv') ? 'CsvPages' : 'Pages'}${pair}`;
    else if (row !== null) returns = `Rows${pair}`;
    this.#shapes.set(key, { answer, row, returns });
  }

  body(entry: Entry): string | null {
    const schema = entry.operation.requestBody?.content?.['application/json']?.schema;
    return schema ? this.types.typeOf(schema, `${pascal(this.nameOf(entry))}Body`) : null;
  }

  #addColumns(name: string, { properties = {} }: Schema): void {
    const members = Object.entries(properties).map(
      ([member, schema]) => `    ${literal(member)}: ${columnOf(schema)},\n`,
    );
    this.columns.set(name, `    ${literal(name)}: {\n${members.map((line) => `    ${line}`).join('')}    },\n`);
  }
}

function methodText(entry: Entry, module: Module): string {
  const { operation, path, key } = entry;
  const { returns, row } = module.shapeOf(entry);
  const parameters = (operation.parameters ?? []).filter(
    ({ in: place, name: own }) => (place === 'path' || place === 'query') && own !== 'format',
  );
  const inPath = new Set(placeholders(path));
  const sorted = [...parameters].sort((a, b) => Number(inPath.has(b.name)) - Number(inPath.has(a.name)));
  const body = module.body(entry);
  const always = sorted.filter(({ required }) => required === true);
  const maybe = sorted.filter(({ required }) => required !== true);
  const typeOf = (schema: Schema): string => module.types.typeOf(schema, 'Params');
  const lines = [
    ...always.map(({ name: own, schema }) => `${argument(own)}: ${typeOf(schema)},`),
    ...(body === null ? [] : [`body: ${body},`]),
    ...(maybe.length === 0 ? [] : ['*,']),
    ...maybe.map(({ name: own, schema }) => `${argument(own)}: ${typeOf(schema)} | None = None,`),
  ];
  const notes = sorted.flatMap(({ name: own, description }) =>
    description === undefined ? [] : [`\n        ${argument(own)}: ${description}`],
  );
  const doc = docstring(
    `${operation.summary ?? key}.${notes.length > 0 ? `\n${notes.join('')}\n        ` : ''}`,
    '        ',
  );
  const params = sorted.map(({ name: own }) => `${literal(own)}: ${argument(own)}`).join(', ');
  const operationText = `Operation(${key
    .split(' ')
    .map(literal)
    .join(', ')}, signed=${entry.isSigned ? 'True' : 'False'})`;
  const call = [
    `self._sender, ${operationText}, {${params}}`,
    ...(body === null ? [] : ['body=body']),
    ...(row === null ? [] : [`columns=COLUMNS[${literal(row)}]`]),
  ].join(', ');
  const head = `    def ${module.nameOf(entry)}(\n${['self,', ...lines].map((line) => `        ${line}\n`).join('')}    ) -> ${returns}:\n`;
  return `${head}${doc}        return ${returns.split('[')[0]}(${call})\n`;
}

/** `contract.py` and `operations.py` of the Python client. */
export function pythonHistory(document: Paths): { readonly contract: string; readonly operations: string } {
  const entries = entriesOf(document).filter(({ key }) => !LEFT_OUT.has(key));
  const module = new Module(methodNames(entries));
  for (const entry of entries) module.add(entry);
  const methods = entries.map((entry) => methodText(entry, module)).join('\n');
  const used = [...new Set([...methods.matchAll(/\b[A-Z]\w+\b/g)].map(([word]) => word))];
  const declared = new Set(
    [...module.types.text.matchAll(/^(?:class )?(\w+)(?:\(| = TypedDict)/gm)].map(([, name = '']) => name),
  );
  const imported = used.filter((name) => declared.has(name)).sort();
  const contract = [
    `"""Rows and answers of the history REST, and the exact types of columns, from /openapi.json.\n\n${HEAD}\n"""\n`,
    'from __future__ import annotations\n',
    'from decimal import Decimal\nfrom typing import Any, Literal, TypedDict\n',
    'from .columns import Column\n\n',
    module.types.text,
    `\n#: Columns of rows, by the name of their type.\nCOLUMNS: dict[str, dict[str, Column]] = {\n${[...module.columns.values()].join('')}}\n`,
  ].join('\n');
  const operations = [
    `"""A method for each operation of the history REST, from /openapi.json.\n\n${HEAD}\n"""\n`,
    'from __future__ import annotations\n',
    `from typing import ${['Any', 'Literal'].filter((name) => used.includes(name)).join(', ')}\n`,
    `from .contract import (\n    COLUMNS,\n${imported.map((name) => `    ${name},\n`).join('')})`,
    'from .requests import CsvPages, Operation, Pages, Reply, Rows, Sender, Table\n\n',
    'class HistoryOperations:',
    '    """Operations by name. Nothing is sent before the result is awaited or iterated."""\n',
    '    _sender: Sender\n',
    methods,
  ].join('\n');
  return { contract, operations };
}
