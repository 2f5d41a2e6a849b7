// Conformance vectors of account and event decoding: bytes and log lines in, values out. The values are those of the TypeScript
// decoder, which other tests compare with Anchor's.

import { createDecoder } from '../../client/index.ts';
import type { EventDefinition, WireType } from '../../schemas/index.ts';
import { loadDefinition } from '../../schemas/index.ts';
import { randomAccount } from '../support/ingest/bytes.ts';
import { seededRandom } from '../support/platform/chance.ts';

const SEED = 5;
const TEXT = 'Zürich ';
const LIST_MAX = 3;
const OTHER_PROGRAM = 'ComputeBudget111111111111111111111111111111';
const WIDTHS: Readonly<Record<string, number>> = {
  u8: 1,
  i8: 1,
  u16: 2,
  i16: 2,
  u32: 4,
  i32: 4,
  u64: 8,
  i64: 8,
  u128: 16,
  i128: 16,
  pubkey: 32,
};

/** JSON in which integers of any length are numbers and bytes are hex text. */
function exactJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return `"0x${Buffer.from(value).toString('hex')}"`;
  if (Array.isArray(value)) return `[${value.map(exactJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${exactJson(member)}`)
    .join(',')}}`;
}

const [program] = loadDefinition('velocity').programs;
if (!program) throw new Error('the definition has no program');
const decoder = createDecoder<object>(program.idl);
const { programId } = decoder;

function outcome(decode: () => unknown): object {
  try {
    return { value: decode() };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

function accountLine(account: string, bytes: Uint8Array): object {
  return { account, data: Buffer.from(bytes).toString('base64'), ...outcome(() => decoder.decode(account, bytes)) };
}

function* accountLines(next: () => number): Generator<object, void, undefined> {
  for (const definition of program?.accounts.values() ?? []) {
    const whole = randomAccount(definition, Math.floor(next() * 2 ** 31));
    const cut = 8 + Math.floor(next() * (whole.length - 8));
    yield accountLine(definition.name, whole.subarray(0, cut));
    yield accountLine(definition.name, Buffer.concat([whole, Buffer.from([7, 0, 0, 0, 1, 2])]));
    const wrong = Buffer.from(whole);
    wrong[0] = (wrong[0] ?? 0) ^ 1;
    yield accountLine(definition.name, wrong);
  }
  for (const name of ['user', 'USER', '']) yield accountLine(name, Buffer.alloc(8));
}

/** Random bytes of a value, with valid enums, flags and counts. */
function encoded(type: WireType, next: () => number): Buffer {
  const any = (count: number): number => Math.floor(next() * count);
  const bytes = (length: number): Buffer => Buffer.from(Array.from({ length }, () => any(256)));
  const counted = (count: number, content: Buffer): Buffer => {
    const head = Buffer.alloc(4);
    head.writeUInt32LE(count);
    return Buffer.concat([head, content]);
  };
  const many = (count: number, element: WireType): Buffer =>
    Buffer.concat(Array.from({ length: count }, () => encoded(element, next)));
  switch (type.kind) {
    case 'bool':
      return Buffer.of(any(2));
    case 'bytes':
      return bytes(type.length);
    case 'enum':
      // One more than the definition knows.
      return Buffer.of(any(type.variants.length + 1));
    case 'struct':
      return Buffer.concat(type.layout.fields.map((field) => encoded(field.type, next)));
    case 'option':
      return any(2) === 0 ? Buffer.of(0) : Buffer.concat([Buffer.of(1), encoded(type.element, next)]);
    case 'array':
      return many(type.length, type.element);
    case 'vec': {
      const count = any(LIST_MAX);
      return counted(count, many(count, type.element));
    }
    case 'string': {
      const text = Buffer.from(TEXT.repeat(any(LIST_MAX)));
      return counted(text.length, text);
    }
    default:
      return bytes(WIDTHS[type.kind] ?? 0);
  }
}

function recordOf({ discriminator, fields }: EventDefinition, next: () => number): Buffer {
  return Buffer.concat([discriminator, ...fields.map(({ type }) => encoded(type, next))]);
}

function* eventLines(next: () => number): Generator<object, void, undefined> {
  for (const definition of program?.events.values() ?? []) {
    const record = recordOf(definition, next);
    const text = record.toString('base64');
    const cut = record.subarray(0, 8 + Math.floor(next() * (record.length - 8))).toString('base64');
    const logs = [
      `Program ${programId} invoke [1]`,
      'Program log: Instruction: FillPerpOrder',
      `Program data: ${text}`,
      `Program ${OTHER_PROGRAM} invoke [2]`,
      `Program data: ${text}`,
      `Program ${OTHER_PROGRAM} success`,
      `Program log: ${text}`,
      `Program data: ${cut}`,
      `Program data: ${text.slice(0, -1)}`,
      ...(next() < 0.2 ? ['Log truncated'] : []),
      `Program ${programId} success`,
      `Program data: ${text}`,
    ];
    yield { logs, ...decoder.events(logs) };
  }
}

function* filterLines(): Generator<object, void, undefined> {
  const key = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi';
  const cases: readonly (readonly [string, Readonly<Record<string, number | boolean | string>>])[] = [
    ['User', {}],
    ['User', { idle: false, authority: key, 'orders.3.status': 'open', subAccountId: 7 }],
    ['User', { 'perpPositions.2.baseAssetAmount': -5 }],
    ['User', { idel: true }],
    ['PerpMarket', { marketIndex: 3 }],
    ['user', {}],
  ];
  for (const [account, fields] of cases) {
    yield { filters: account, fields, ...outcome(() => decoder.filters(account, fields)) };
  }
}

/** Every line of the file, as text. */
export function* accountVectors(): Generator<string, void, undefined> {
  const next = seededRandom(SEED);
  for (const lines of [accountLines(next), eventLines(next), filterLines()]) {
    for (const line of lines) yield `${exactJson(line)}\n`;
  }
}
