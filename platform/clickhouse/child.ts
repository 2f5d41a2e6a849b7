// The managed ClickHouse process: loads the engine's shared library and runs `clickhouse local` until stdin ends.
// managed.ts starts it; never import it. Standard input belongs to the engine, and its end stops the engine.
// argv[2]: the engine's arguments as JSON. argv[3]: its confinement as JSON, optional.

import { createRequire } from 'node:module';

import { type Confinement, confine } from './landlock.ts';

const LIBRARY = 'chdb';
const require = createRequire(import.meta.url);
const { DataType, load, open } = require('ffi-rs') as typeof import('ffi-rs');
const { libchdbPath } = require('chdb/libchdb') as typeof import('chdb/libchdb');

const argv = JSON.parse(process.argv[2] ?? '[]') as string[];
open({ library: LIBRARY, path: libchdbPath() });
const confinement = process.argv[3];
// The engine's threads inherit the confinement of this thread.
if (confinement !== undefined) confine(JSON.parse(confinement) as Confinement);
const result = load({
  library: LIBRARY,
  funcName: 'chdb_query_cmdline',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [argv.length, argv],
});
const length = load({
  library: LIBRARY,
  funcName: 'chdb_result_length',
  retType: DataType.U64,
  paramsType: [DataType.External],
  paramsValue: [result],
});
// Only a clean run to the end of stdin prints the count of the last statement.
process.exit(Number(length) > 0 ? 0 : 1);
