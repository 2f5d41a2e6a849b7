// The managed ClickHouse process: loads the engine's shared library and runs `clickhouse local` until stdin ends.
// Started by managed.ts, never imported. Standard input belongs to the engine: its end is the order to stop.

import { createRequire } from 'node:module';

const LIBRARY = 'chdb';
const require = createRequire(import.meta.url);
const { DataType, load, open } = require('ffi-rs') as typeof import('ffi-rs');
const { libchdbPath } = require('chdb/libchdb') as typeof import('chdb/libchdb');

const argv = JSON.parse(process.argv[2] ?? '[]') as string[];
open({ library: LIBRARY, path: libchdbPath() });
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
// The count that the last statement prints is there only after a clean run to the end of stdin.
process.exit(Number(length) > 0 ? 0 : 1);
