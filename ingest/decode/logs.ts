// Finds the record payloads in a transaction's log lines: invoke stack, both prefixes, truncation (protocol 3.1).

import { DISCRIMINATOR_BYTES } from '../../schemas/index.ts';

const INVOKE = ' invoke [';
const DATA_PREFIX = 'Program data: ';
const LOG_PREFIX = 'Program log: ';
const PROGRAM_PREFIX = 'Program ';
const TRUNCATED_PREFIX = 'Log truncated';
/** Base64 characters that hold a discriminator. */
const DISCRIMINATOR_CHARACTERS = 11;
/** The runtime allows a few levels; a line that claims more is not one of its own. */
const DEPTH_MAX = 64;
const BASE64_HEAD = /^[A-Za-z0-9+/]{11}/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** One payload: eight bytes of discriminator and a borsh body. */
export interface Payload {
  /** Program on top of the invoke stack when the line was printed, base58. */
  readonly program: string;
  readonly bytes: Buffer;
  /** The line is not whole base64: it was cut, and the bytes are what of it could be read. */
  readonly damaged: boolean;
}

export interface ParsedLogs {
  readonly payloads: readonly Payload[];
  /** The runtime stopped printing, or a record line was cut: records may be missing. */
  readonly incomplete: boolean;
}

/** Which discriminators (hex) a program's records have: tells records on `Program log: ` lines from ordinary text. */
export type KnownRecords = ReadonlyMap<string, { has(discriminator: string): boolean }>;

/** Whether the runtime stopped printing before the end. */
export function isTruncated(lines: readonly string[]): boolean {
  return lines.some((line) => line.startsWith(TRUNCATED_PREFIX));
}

/** Reads the lines of a transaction. Only lines printed while a wanted program is on top of the stack count. */
export function parseLogs(lines: readonly string[], wanted: KnownRecords): ParsedLogs {
  const stack: string[] = [];
  const payloads: Payload[] = [];
  let incomplete = false;
  for (const line of lines) {
    if (line.startsWith(TRUNCATED_PREFIX)) {
      incomplete = true;
      break;
    }
    if (!line.startsWith(PROGRAM_PREFIX)) continue;
    const payload = payloadOf(line, stack.at(-1), wanted);
    if (payload) {
      payloads.push(payload);
      incomplete ||= payload.damaged;
    } else follow(line, stack);
  }
  return { payloads, incomplete };
}

function payloadOf(line: string, program: string | undefined, wanted: KnownRecords): Payload | null {
  const isData = line.startsWith(DATA_PREFIX);
  if (!isData && !line.startsWith(LOG_PREFIX)) return null;
  const records = program === undefined ? undefined : wanted.get(program);
  if (program === undefined || !records) return null;
  const text = line.slice(isData ? DATA_PREFIX.length : LOG_PREFIX.length);
  if (!isData && !isRecord(text, records)) return null;
  const damaged = text.length % 4 !== 0 || !BASE64.test(text);
  const bytes = Buffer.from(text, 'base64');
  return { program, bytes, damaged: damaged || bytes.length < DISCRIMINATOR_BYTES };
}

/** A `Program log: ` line is a record when it begins with a discriminator that the program has; else it is text. */
function isRecord(text: string, records: { has(discriminator: string): boolean }): boolean {
  if (!BASE64_HEAD.test(text) || text.includes(' ')) return false;
  const head = Buffer.from(text.slice(0, DISCRIMINATOR_CHARACTERS), 'base64');
  return records.has(head.toString('hex', 0, DISCRIMINATOR_BYTES));
}

/** Keeps the stack in step: the printed depth corrects it when lines were lost. */
function follow(line: string, stack: string[]): void {
  const idEnd = line.indexOf(' ', PROGRAM_PREFIX.length);
  if (idEnd < 0) return;
  const program = line.slice(PROGRAM_PREFIX.length, idEnd);
  if (line.startsWith(INVOKE, idEnd)) {
    const depth = Number.parseInt(line.slice(idEnd + INVOKE.length), 10);
    if (Number.isInteger(depth) && depth >= 1 && depth <= DEPTH_MAX) {
      while (stack.length < depth - 1) stack.push('');
      stack.length = depth - 1;
    }
    stack.push(program);
  } else if (line.startsWith(' success', idEnd) || line.startsWith(' failed', idEnd)) {
    const at = stack.lastIndexOf(program);
    if (at >= 0) stack.length = at;
  }
}
