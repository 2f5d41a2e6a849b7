// Prints accounts like a node, and applies account filters. Builds the text by hand: bytes go straight into the answer, and
// a JavaScript number cannot hold the u64 `rentEpoch`.

import { zstdCompressSync } from 'node:zlib';
import bs58 from 'bs58';
import type { AccountVersion } from '../ledger.ts';
import { invalidParams, invalidType } from './errors.ts';
import { type Config, integerOf, invalidRequest, unknownVariant } from './params.ts';

/** `binary` is the old form: base58 without a named encoding. */
export type Encoding = 'binary' | 'base58' | 'base64' | 'base64+zstd';

export interface Slice {
  readonly offset: number;
  readonly length: number;
}

export interface AccountFormat {
  readonly encoding: Encoding;
  readonly slice: Slice | null;
}

/** MAX_BASE58_BYTES of Solana. */
const BASE58_BYTES_MAX = 128;
/** MAX_GET_PROGRAM_ACCOUNT_FILTERS of Solana. */
const FILTERS_MAX = 4;
/** MAX_DATA_SIZE, MAX_DATA_BASE58_SIZE and MAX_DATA_BASE64_SIZE of Solana's memcmp filter. */
const MEMCMP_BYTES_MAX = 128;
const MEMCMP_BASE58_LENGTH_MAX = 175;
const MEMCMP_BASE64_LENGTH_MAX = 172;
/** u64::MAX, the value of every rent-exempt account. */
const RENT_EPOCH = '18446744073709551615';
const ENCODINGS = ['binary', 'base58', 'base64', 'jsonParsed', 'base64+zstd'];

export function formatOf(config: Config, otherwise: Encoding = 'binary'): AccountFormat {
  return { encoding: encodingOf(config.encoding, otherwise), slice: sliceOf(config.dataSlice) };
}

/** jsonParsed falls back to base64, like on a node that does not know the program. */
function encodingOf(value: unknown, otherwise: Encoding): Encoding {
  if (value === undefined || value === null) return otherwise;
  if (value === 'jsonParsed') return 'base64';
  if (value === 'binary' || value === 'base58' || value === 'base64' || value === 'base64+zstd') return value;
  if (typeof value !== 'string') throw invalidType(value, 'string or map');
  throw unknownVariant(value, ENCODINGS);
}

function sliceOf(value: unknown): Slice | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'object') throw invalidType(value, 'struct UiDataSliceConfig');
  const slice = value as Record<string, unknown>;
  return { offset: integerOf(slice.offset, 'usize'), length: integerOf(slice.length, 'usize') };
}

/** Rejects accounts that are too large for base58, with the node's text. */
export function checkFormat(account: AccountVersion, format: AccountFormat): void {
  if (format.encoding !== 'binary' && format.encoding !== 'base58') return;
  if (sliced(account.data, format.slice).length <= BASE58_BYTES_MAX) return;
  throw invalidRequest(
    `Encoded binary (base 58) data should be less than ${BASE58_BYTES_MAX} bytes, please use Base64 encoding.`,
  );
}

/** One account as JSON text. */
export function accountJson(account: AccountVersion, format: AccountFormat): string {
  // A closed account looks like an empty account of the system program.
  const owner = account.data.length === 0 ? '11111111111111111111111111111111' : account.owner;
  return (
    `{"data":${dataJson(account, format)},"executable":false,"lamports":${account.lamports},` +
    `"owner":"${owner}","rentEpoch":${RENT_EPOCH},"space":${account.data.length}}`
  );
}

function dataJson(account: AccountVersion, format: AccountFormat): string {
  const data = sliced(account.data, format.slice);
  switch (format.encoding) {
    case 'binary':
      return `"${base58(data)}"`;
    case 'base58':
      return `["${base58(data)}","base58"]`;
    case 'base64':
      return `["${data.toString('base64')}","base64"]`;
    case 'base64+zstd':
      return `["${format.slice === null ? compressed(account) : compress(data)}","base64+zstd"]`;
  }
}

function sliced(data: Buffer, slice: Slice | null): Buffer {
  return slice === null ? data : data.subarray(slice.offset, slice.offset + slice.length);
}

/** Text that a node puts in place of the data in a notification, which cannot fail. */
function base58(data: Buffer): string {
  return data.length > BASE58_BYTES_MAX ? 'error: data too large for bs58 encoding' : bs58.encode(data);
}

function compressed(account: AccountVersion): string {
  account.zstd ??= compress(account.data);
  return account.zstd;
}

function compress(data: Buffer): string {
  return zstdCompressSync(data).toString('base64');
}

export type Filter =
  | { readonly kind: 'size'; readonly size: number }
  | { readonly kind: 'bytes'; readonly offset: number; readonly bytes: Buffer };

/** @throws RpcError with the node's text when a filter is malformed or there are more than four */
export function filtersOf(value: unknown): readonly Filter[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalidType(value, 'a sequence');
  if (value.length > FILTERS_MAX) throw invalidParams(`Too many filters provided; max ${FILTERS_MAX}`);
  return value.map(filterOf);
}

function filterOf(value: unknown): Filter {
  if (typeof value !== 'object' || value === null) throw invalidType(value, 'enum RpcFilterType');
  const filter = value as Record<string, unknown>;
  if (filter.dataSize !== undefined) return { kind: 'size', size: integerOf(filter.dataSize) };
  if (typeof filter.memcmp !== 'object' || filter.memcmp === null) {
    throw unknownVariant(Object.keys(filter)[0] ?? '', ['dataSize', 'memcmp', 'tokenAccountState']);
  }
  const { offset, bytes, encoding } = filter.memcmp as Record<string, unknown>;
  return { kind: 'bytes', offset: integerOf(offset, 'usize'), bytes: memcmpBytes(bytes, encoding) };
}

function memcmpBytes(value: unknown, encoding: unknown): Buffer {
  const bytes = decodeMemcmp(value, encoding);
  if (bytes.length > MEMCMP_BYTES_MAX) throw tooLarge();
  return bytes;
}

const tooLarge = () => invalidParams('Invalid param: DataTooLarge');

function decodeMemcmp(value: unknown, encoding: unknown): Buffer {
  if (Array.isArray(value)) return Buffer.from(value.map((byte) => integerOf(byte, 'u8') & 0xff));
  if (typeof value !== 'string') throw invalidType(value, 'a string');
  if (encoding === 'base64') {
    if (value.length > MEMCMP_BASE64_LENGTH_MAX) throw tooLarge();
    const bytes = Buffer.from(value, 'base64');
    const wrong = value.search(/[^A-Za-z0-9+/=]/);
    if (wrong >= 0) {
      throw invalidParams(`Invalid param: Base64DecodeError(InvalidByte(${wrong}, ${value.charCodeAt(wrong)}))`);
    }
    if (bytes.toString('base64').replace(/=+$/, '') !== value.replace(/=+$/, '')) {
      throw invalidParams('Invalid param: Base64DecodeError(InvalidPadding)');
    }
    return bytes;
  }
  if (encoding !== undefined && encoding !== null && encoding !== 'base58' && encoding !== 'binary') {
    throw unknownVariant(String(encoding), ['base58', 'base64', 'bytes']);
  }
  if (value.length > MEMCMP_BASE58_LENGTH_MAX) throw tooLarge();
  const bytes = bs58.decodeUnsafe(value);
  if (bytes === undefined) {
    const wrong = value.search(/[^1-9A-HJ-NP-Za-km-z]/);
    const found = `character: '${value[wrong]}', index: ${wrong}`;
    throw invalidParams(`Invalid param: Base58DecodeError(InvalidCharacter { ${found} })`);
  }
  return Buffer.from(bytes);
}

export function passes(data: Buffer, filters: readonly Filter[]): boolean {
  for (const filter of filters) {
    if (filter.kind === 'size') {
      if (data.length !== filter.size) return false;
    } else if (!holds(data, filter.offset, filter.bytes)) return false;
  }
  return true;
}

function holds(data: Buffer, offset: number, bytes: Buffer): boolean {
  if (offset + bytes.length > data.length) return false;
  for (let i = 0; i < bytes.length; i++) if (data[offset + i] !== bytes[i]) return false;
  return true;
}
