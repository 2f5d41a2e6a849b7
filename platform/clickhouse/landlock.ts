// Confines the managed child to its own folder and port with Landlock (Linux 5.13 and later). In the engine's local mode
// every SQL user can read any file with `file(path)`, and no grant covers that function; the kernel refuses it instead.
// Constants and layouts: linux/landlock.h (https://docs.kernel.org/userspace-api/landlock.html).

import { closeSync, existsSync, openSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';

const LIBRARY = 'c';
const LIBRARY_FILE = 'libc.so.6';
const CREATE_RULESET = 444;
const ADD_RULE = 445;
const RESTRICT_SELF = 446;
const ASK_VERSION = 1;
const RULE_PATH = 1;
const RULE_PORT = 2;
const SET_NO_NEW_PRIVILEGES = 38;
const O_PATH = 0o10000000;

const READ_FILE = 1n << 2n;
const READ_FOLDER = 1n << 3n;
/** Rights that a rule for a file may name: execute, write, read, truncate. */
const FILE_RIGHTS = 1n | (1n << 1n) | READ_FILE | (1n << 14n);
const EXECUTE = 1n;
const BIND = 1n;
const CONNECT = 2n;
/** File rights by Landlock version: version 2 added links between folders, version 3 truncation. */
const fileRights = (version: number) => (1n << (version >= 3 ? 15n : version === 2 ? 14n : 13n)) - 1n;
const NETWORK_SINCE = 4;

/** System files that the engine reads: processors, memory, its own limits. None about other processes. */
const SYSTEM = [
  '/proc/self',
  '/proc/cpuinfo',
  '/proc/meminfo',
  '/proc/stat',
  '/proc/sys/vm',
  '/sys/devices/system/cpu',
  '/sys/fs/cgroup',
  '/dev/urandom',
  '/usr/share/zoneinfo',
];
const WRITABLE_SYSTEM = ['/dev/null'];

export interface Confinement {
  /** The one folder with all rights except to run programs. */
  readonly folder: string;
  /** Readable files. */
  readonly files: readonly string[];
  /** The one port to listen on. Outgoing connections are forbidden. */
  readonly port: number;
}

type Ffi = typeof import('ffi-rs');
let ffi: Ffi | undefined;

function library(): Ffi {
  if (ffi) return ffi;
  ffi = createRequire(import.meta.url)('ffi-rs') as Ffi;
  ffi.open({ library: LIBRARY, path: LIBRARY_FILE });
  return ffi;
}

/** Landlock version of this kernel; 0 without Landlock. */
export function landlockVersion(): number {
  if (process.platform !== 'linux') return 0;
  try {
    return Math.max(0, call(CREATE_RULESET, [0, 0, ASK_VERSION]));
  } catch {
    return 0;
  }
}

/** Confines this thread and all threads it starts, for good. Throws when the kernel refuses. */
export function confine({ folder, files, port }: Confinement): void {
  const version = landlockVersion();
  if (version === 0) throw new Error('this kernel has no Landlock');
  const all = fileRights(version);
  const network = version >= NETWORK_SINCE;
  const attributes = words(all, ...(network ? [BIND | CONNECT] : []));
  const ruleset = must('landlock_create_ruleset', call(CREATE_RULESET, [attributes, attributes.length, 0]));
  allowPath(ruleset, folder, all & ~EXECUTE);
  for (const path of files) allowPath(ruleset, path, READ_FILE);
  for (const path of SYSTEM) allowPath(ruleset, path, READ_FILE | READ_FOLDER);
  for (const path of WRITABLE_SYSTEM) allowPath(ruleset, path, all & FILE_RIGHTS & ~EXECUTE);
  if (network) must('landlock_add_rule', call(ADD_RULE, [ruleset, RULE_PORT, words(BIND, BigInt(port)), 0]));
  must('prctl', noNewPrivileges());
  must('landlock_restrict_self', call(RESTRICT_SELF, [ruleset, 0]));
  closeSync(ruleset);
}

function allowPath(ruleset: number, path: string, rights: bigint): void {
  if (!existsSync(path)) return;
  const isFolder = statSync(path).isDirectory();
  const descriptor = openSync(path, O_PATH);
  const rule = Buffer.alloc(12);
  rule.writeBigUInt64LE(isFolder ? rights : rights & FILE_RIGHTS);
  rule.writeInt32LE(descriptor, 8);
  must(`landlock_add_rule ${path}`, call(ADD_RULE, [ruleset, RULE_PATH, rule, 0]));
  closeSync(descriptor);
}

function words(...values: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length);
  for (const [index, value] of values.entries()) bytes.writeBigUInt64LE(value, 8 * index);
  return bytes;
}

function must(what: string, result: number): number {
  if (result < 0) throw new Error(`${what} failed`);
  return result;
}

/** A system call with at most four arguments. */
function call(number: number, values: readonly (number | Buffer)[]): number {
  const { DataType, load } = library();
  const padded = [...values, 0, 0, 0, 0].slice(0, 4);
  const result = load({
    library: LIBRARY,
    funcName: 'syscall',
    retType: DataType.I64,
    paramsType: [DataType.I64, ...padded.map((value) => (typeof value === 'number' ? DataType.I64 : DataType.U8Array))],
    paramsValue: [number, ...padded],
  });
  return Number(result);
}

function noNewPrivileges(): number {
  const { DataType, load } = library();
  const result = load({
    library: LIBRARY,
    funcName: 'prctl',
    retType: DataType.I32,
    paramsType: [DataType.I32, DataType.I64, DataType.I64, DataType.I64, DataType.I64],
    paramsValue: [SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0],
  });
  return Number(result);
}
