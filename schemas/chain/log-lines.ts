// Extracts record payloads from a transaction's log lines (docs/internals/events.md, "Log lines"). Ingest and the client share
// it.

import { hexOf } from './compile.ts';
import { DISCRIMINATOR_BYTES } from './layout.ts';

const INVOKE = ' invoke [';
const DATA_PREFIX = 'Program data: ';
const LOG_PREFIX = 'Program log: ';
const PROGRAM_PREFIX = 'Program ';
const TRUNCATED_PREFIX = 'Log truncated';
/** Number of base64 characters that cover a discriminator. */
const DISCRIMINATOR_CHARACTERS = 11;
/** The runtime allows only a few call levels; a line with a higher depth is not from the runtime. */
const DEPTH_MAX = 64;
/** Base58 characters of 32 bytes. No other word that the runtime writes after `Program ` is as long. */
const ID_CHARACTERS_MIN = 32;
const ID_CHARACTERS_MAX = 44;
const SUCCESS = ' success';
const FAILED = ' failed: ';
const BASE64_HEAD = /^[A-Za-z0-9+/]{11}/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** One payload: eight bytes of discriminator and a borsh body. */
export interface LogPayload<B extends Uint8Array> {
  /** Program on top of the invoke stack at this line, base58. */
  readonly program: string;
  readonly bytes: B;
  /** The line is truncated base64; the bytes are its readable part. */
  readonly damaged: boolean;
}

export interface LogPayloads<B extends Uint8Array> {
  readonly payloads: readonly LogPayload<B>[];
  /** The runtime truncated the log or a record line, so records may be missing. */
  readonly incomplete: boolean;
}

/** Record discriminators (hex) per program. They distinguish records on `Program log: ` lines from plain text. */
export type KnownRecords = ReadonlyMap<string, { has(discriminator: string): boolean }>;

/** Whether the runtime truncated the log. */
export function isTruncated(lines: readonly string[]): boolean {
  return lines.some((line) => line.startsWith(TRUNCATED_PREFIX));
}

/** Bytes of base64 text. Stops at the first character that is none. */
export type DecodeBase64<B extends Uint8Array> = (text: string) => B;

/** Parses a transaction's lines. Only lines of the given programs count: the program must be on top of the stack. */
export function logPayloads<B extends Uint8Array>(
  lines: readonly string[],
  programs: KnownRecords,
  decode: DecodeBase64<B>,
): LogPayloads<B> {
  const stack: string[] = [];
  const payloads: LogPayload<B>[] = [];
  let incomplete = false;
  for (const line of lines) {
    if (line.startsWith(TRUNCATED_PREFIX)) {
      incomplete = true;
      break;
    }
    if (!line.startsWith(PROGRAM_PREFIX)) continue;
    if (!isText(line)) follow(line, stack);
    else {
      const payload = payloadOf(line, stack.at(-1), programs, decode);
      if (!payload) continue;
      payloads.push(payload);
      incomplete ||= payload.damaged;
    }
  }
  return { payloads, incomplete };
}

/** A program chose the text of the line. It says nothing about calls, whatever it looks like. */
function isText(line: string): boolean {
  return line.startsWith(DATA_PREFIX) || line.startsWith(LOG_PREFIX);
}

function payloadOf<B extends Uint8Array>(
  line: string,
  program: string | undefined,
  programs: KnownRecords,
  decode: DecodeBase64<B>,
): LogPayload<B> | null {
  const isData = line.startsWith(DATA_PREFIX);
  const records = program === undefined ? undefined : programs.get(program);
  if (program === undefined || !records) return null;
  const text = line.slice(isData ? DATA_PREFIX.length : LOG_PREFIX.length);
  if (!isData && !isRecord(text, records, decode)) return null;
  const damaged = text.length % 4 !== 0 || !BASE64.test(text);
  const bytes = decode(text);
  return { program, bytes, damaged: damaged || bytes.length < DISCRIMINATOR_BYTES };
}

/** A `Program log: ` line is a record when it starts with one of the program's discriminators. */
function isRecord(
  text: string,
  records: { has(discriminator: string): boolean },
  decode: DecodeBase64<Uint8Array>,
): boolean {
  if (!BASE64_HEAD.test(text) || text.includes(' ')) return false;
  return records.has(hexOf(decode(text.slice(0, DISCRIMINATOR_CHARACTERS)), DISCRIMINATOR_BYTES));
}

/** Updates the invoke stack with a line of the runtime. The printed depth corrects it when lines are missing. */
function follow(line: string, stack: string[]): void {
  const idEnd = line.indexOf(' ', PROGRAM_PREFIX.length);
  const characters = idEnd - PROGRAM_PREFIX.length;
  if (characters < ID_CHARACTERS_MIN || characters > ID_CHARACTERS_MAX) return;
  const program = line.slice(PROGRAM_PREFIX.length, idEnd);
  if (line.startsWith(INVOKE, idEnd)) {
    const depth = Number.parseInt(line.slice(idEnd + INVOKE.length), 10);
    if (Number.isInteger(depth) && depth >= 1 && depth <= DEPTH_MAX) {
      while (stack.length < depth - 1) stack.push('');
      stack.length = depth - 1;
    }
    stack.push(program);
  } else if (line.slice(idEnd) === SUCCESS || line.startsWith(FAILED, idEnd)) {
    const at = stack.lastIndexOf(program);
    if (at >= 0) stack.length = at;
  }
}
