// The managed child's engine as a replica. `clickhouse local` has all of replication but one step of a server's start: nobody
// takes interserver_http_port and _host from the configuration, and without them every replicated table stays read-only.
// This process does that step: in its own memory the engine's question for the address gets the configured answer. It is
// for tests only, for the one build whose code is known below; any other is refused. Started by replica.ts.

import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const { DataType, load, open } = require('ffi-rs') as typeof import('ffi-rs');
const { libchdbPath } = require('chdb/libchdb') as typeof import('chdb/libchdb');

/** `Context::getInterserverIOAddress` of chdb 3.4.0 for Linux on x86-64: where it is in the library, and how it begins. */
const ADDRESS_AT = 0x1417c9c0;
const BEGINS = Buffer.from('4156534883ec484c8b36490fbe8e670100004885c9498b9658010000', 'hex');
/** It returns a pair: 24 bytes of a string, whose last byte is the length when it is a short one, then the port. */
const HOST = '127.0.0.1';
const STRING_BYTES = 24;
const READ_WRITE_EXECUTE = 7;
const PAGE_BYTES = 4096;

const [, , interserverPort = '', argv = '[]'] = process.argv;

/** Machine code that writes host and port to where the caller wants them, and returns that place as it must. */
function answer(port: number): Buffer {
  const text = Buffer.alloc(STRING_BYTES);
  text.write(HOST, 'latin1');
  text.writeUInt8(HOST.length, STRING_BYTES - 1);
  const code: number[] = [];
  for (let at = 0; at < STRING_BYTES; at += 8) {
    // mov rax, eight bytes; mov [rdi + at], rax
    code.push(0x48, 0xb8, ...text.subarray(at, at + 8), 0x48, 0x89, 0x47, at);
  }
  // mov word [rdi + 24], port; mov rax, rdi; ret
  code.push(0x66, 0xc7, 0x47, STRING_BYTES, port & 0xff, port >> 8, 0x48, 0x89, 0xf8, 0xc3);
  return Buffer.from(code);
}

function addressOfLibrary(): number {
  const maps = readFileSync('/proc/self/maps', 'utf8').split('\n');
  const first = maps.find((line) => line.includes('libchdb.so') && line.split(/\s+/)[2] === '00000000');
  return Number.parseInt(first ?? '', 16);
}

function read(address: number, length: number): Buffer {
  const memory = openSync('/proc/self/mem', 'r');
  const bytes = Buffer.alloc(length);
  readSync(memory, bytes, 0, length, address);
  closeSync(memory);
  return bytes;
}

open({ library: 'chdb', path: libchdbPath() });
open({ library: 'c', path: 'libc.so.6' });
const address = addressOfLibrary() + ADDRESS_AT;
if (!read(address, BEGINS.length).equals(BEGINS))
  throw new Error('this build of the engine is not the one that is known');
const code = answer(Number(interserverPort));
const page = address - (address % PAGE_BYTES);
load({
  library: 'c',
  funcName: 'mprotect',
  retType: DataType.I32,
  paramsType: [DataType.I64, DataType.I64, DataType.I32],
  paramsValue: [page, 2 * PAGE_BYTES, READ_WRITE_EXECUTE],
});
load({
  library: 'c',
  funcName: 'memcpy',
  retType: DataType.I64,
  paramsType: [DataType.I64, DataType.U8Array, DataType.I32],
  paramsValue: [address, code, code.length],
});
const options = JSON.parse(argv) as string[];
load({
  library: 'chdb',
  funcName: 'chdb_query_cmdline',
  retType: DataType.External,
  paramsType: [DataType.I32, DataType.StringArray],
  paramsValue: [options.length, options],
});
process.exit(0);
