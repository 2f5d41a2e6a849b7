// The tables of the history as the migrations leave them: name, columns, order, and the source of their rows.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Column } from './tables.ts';

const DIRECTORY = fileURLToPath(new URL('./migrations/', import.meta.url));

export interface StoredTable {
  readonly name: string;
  /** The comment before the statement; empty when there is none. */
  readonly comment: string;
  readonly columns: readonly Column[];
  /** ClickHouse computes them on request; `*` leaves them out. */
  readonly aliases: readonly Column[];
  /** Sorting key: a fast query narrows it first, and rows with equal keys are the same row. */
  readonly orderBy: string;
  /** The table whose inserts fill this one through a materialized view; null when the sink writes it. */
  readonly filledFrom: string | null;
}

/** Tables by name after all migrations. Throws an Error for a statement that this parser does not know. */
export function storedTables(directory: string = DIRECTORY): ReadonlyMap<string, StoredTable> {
  const tables = new Map<string, StoredTable>();
  const files = readdirSync(directory).filter((file) => file.endsWith('.sql'));
  for (const file of files.sort()) {
    for (const statement of statements(readFileSync(path.join(directory, file), 'utf8'))) follow(tables, statement);
  }
  return tables;
}

interface Statement {
  readonly comment: string;
  readonly sql: string;
}

/** A comment belongs to a statement when no blank line separates them. */
function statements(text: string): readonly Statement[] {
  return text.split(/;\s*$/m).flatMap((part) => {
    const lines = part.split('\n');
    const start = lines.findIndex((line) => line.trim() !== '' && !line.startsWith('--'));
    if (start < 0) return [];
    const above = lines.slice(0, start);
    const comment = above.slice(above.findLastIndex((line) => line.trim() === '') + 1);
    const sql = lines.slice(start).filter((line) => !line.trim().startsWith('--'));
    return [{ comment: comment.map((line) => line.replace(/^--\s*/, '')).join(' '), sql: sql.join('\n') }];
  });
}

const NAME = '(?:IF (?:NOT )?EXISTS )?\\{\\{database\\}\\}\\.`?(\\w+)`?';
const CREATE = new RegExp(`^CREATE TABLE ${NAME}`);
const VIEW = new RegExp(
  `^CREATE MATERIALIZED VIEW ${NAME}.*? TO \\{\\{database\\}\\}\\.\`?(\\w+)\`? AS[\\s\\S]*?FROM \\{\\{database\\}\\}\\.\`?(\\w+)`,
);
const ALTER = new RegExp(`^ALTER TABLE ${NAME}\\s+(?:\\{\\{onCluster\\}\\}\\s+)?([\\s\\S]*)$`);
const DROP = new RegExp(`^DROP TABLE ${NAME}`);
const EXCHANGE = new RegExp(`^EXCHANGE TABLES ${NAME} AND ${NAME}`);
const COPY_OF = /\bAS \{\{database\}\}\.`?(\w+)`?\s+ENGINE/;

function follow(tables: Map<string, StoredTable>, { comment, sql }: Statement): void {
  const created = CREATE.exec(sql)?.[1];
  if (created !== undefined) {
    if (!tables.has(created)) tables.set(created, createdTable(tables, created, comment, sql));
    return;
  }
  const [, , target, source] = VIEW.exec(sql) ?? [];
  if (target !== undefined && source !== undefined) {
    const table = tables.get(target);
    if (!table) throw new Error(`a view fills ${target}, which no migration creates`);
    tables.set(target, { ...table, filledFrom: source });
    return;
  }
  const [, altered, change = ''] = ALTER.exec(sql) ?? [];
  if (altered !== undefined) alter(tables, altered, change);
  const [, one, other] = EXCHANGE.exec(sql) ?? [];
  if (one !== undefined && other !== undefined) exchange(tables, one, other);
  const dropped = DROP.exec(sql)?.[1];
  if (dropped !== undefined) tables.delete(dropped);
}

/** Comment and filling view stay with the name. */
function exchange(tables: Map<string, StoredTable>, one: string, other: string): void {
  const [first, second] = [tables.get(one), tables.get(other)];
  if (!first || !second) throw new Error(`${one} or ${other} is exchanged, but no migration creates it`);
  const { name, comment, filledFrom } = first;
  tables.set(one, { ...second, name, comment, filledFrom });
  tables.set(other, { ...first, name: other, comment: second.comment, filledFrom: second.filledFrom });
}

function createdTable(
  tables: ReadonlyMap<string, StoredTable>,
  name: string,
  comment: string,
  sql: string,
): StoredTable {
  const orderBy = /\bORDER BY (\([^)]*\)|\w+)/.exec(sql)?.[1]?.replace(/^\(|\)$/g, '') ?? '';
  const copyOf = COPY_OF.exec(sql)?.[1];
  if (copyOf !== undefined) {
    const original = tables.get(copyOf);
    if (!original) throw new Error(`${name} is a copy of ${copyOf}, which no migration creates`);
    return { ...original, name, comment, orderBy, filledFrom: null };
  }
  const body = sql.slice(sql.indexOf('(') + 1, sql.lastIndexOf('\n)'));
  const lines = body.split('\n').map((line) => line.trim().replace(/,$/, ''));
  const defined = lines.filter((line) => line !== '' && !/^(INDEX|PROJECTION|CONSTRAINT) /.test(line)).map(columnOf);
  return {
    name,
    comment,
    columns: defined.filter(({ isAlias }) => !isAlias).map(({ column }) => column),
    aliases: defined.filter(({ isAlias }) => isAlias).map(({ column }) => column),
    orderBy,
    filledFrom: null,
  };
}

function columnOf(line: string): { readonly column: Column; readonly isAlias: boolean } {
  const [, name = '', rest = ''] = /^`?(\w+)`? (.*)$/.exec(line) ?? [];
  const type = rest.replace(/ (CODEC\(|DEFAULT |ALIAS |MATERIALIZED |TTL |COMMENT |AFTER ).*$/, '');
  return { column: { name, type }, isAlias: / ALIAS /.test(rest) };
}

const IGNORED =
  /^(ADD INDEX|DROP INDEX|MATERIALIZE|ATTACH PARTITION|MODIFY SETTING|ADD PROJECTION|DROP PROJECTION|MODIFY TTL)/;

const RENAMED = /RENAME COLUMN (?:IF EXISTS )?`?(\w+)`? TO `?(\w+)`?/g;

function alter(tables: Map<string, StoredTable>, name: string, change: string): void {
  if (change.startsWith('MODIFY QUERY')) return; // of a view, which has no columns of its own
  const table = tables.get(name);
  if (!table) throw new Error(`${name} is altered, which no migration creates`);
  if (IGNORED.test(change)) return;
  if (change.startsWith('RENAME COLUMN ')) {
    const names = new Map([...change.matchAll(RENAMED)].map(([, from = '', to = '']) => [from, to]));
    const columns = table.columns.map((column) => ({ ...column, name: names.get(column.name) ?? column.name }));
    tables.set(name, { ...table, columns });
    return;
  }
  const [, added] = /^ADD COLUMN (?:IF NOT EXISTS )?([^,]*(?:\([^)]*\)[^,]*)*)$/.exec(change) ?? [];
  if (added === undefined) throw new Error(`the table catalogue does not know: ALTER TABLE ${name} ${change}`);
  const { column, isAlias } = columnOf(added.trim());
  const list = isAlias ? 'aliases' : 'columns';
  tables.set(name, { ...table, [list]: [...table[list], column] });
}
