// `meta.nextPage`: names the last row of a page, so rows that arrive later never shift a page.

import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { SIGNATURE_BYTES } from '../../schemas/index.ts';
import { HistoryError } from '../http/errors.ts';

/** Versions of the row order: with the place in the block, and without. A token of another version is refused. */
const VERSION = 3;
const VERSION_WITHOUT_PLACE = 2;

/** Place of a row in the order of its list: newest first, compared member by member. */
export interface RowPlace {
  /** Unix seconds. */
  readonly ts: number;
  readonly slot: number;
  /** Index of the transaction in its block; null where unknown. Absent in a place of the order without it. */
  readonly txIndex?: number | null;
  /** The list's own counter (fill record id, record id) as unsigned 64-bit decimal. */
  readonly sequence: string;
  /** Transaction signature, base58. */
  readonly txSig: string;
  readonly txSigIndex: number;
}

export interface PageToken {
  readonly lastRow: RowPlace;
  /** Number of the page this token leads to; counts from 1. */
  readonly page: number;
}

/** Short hash of a path, so that a token of another path is refused. */
export function pathHash(path: string): string {
  return createHash('sha256').update(path).digest('base64url').slice(0, 8);
}

/** URL-safe token for the rows of `path` after `lastRow`. */
export function encodeCursor(path: string, { lastRow, page }: PageToken): string {
  const { ts, slot, txIndex, sequence, txSig, txSigIndex } = lastRow;
  const place = [pathHash(path), ts, slot, sequence, txSig, txSigIndex, page];
  const tuple = txIndex === undefined ? [VERSION_WITHOUT_PLACE, ...place] : [VERSION, ...place, txIndex];
  return Buffer.from(JSON.stringify(tuple)).toString('base64url');
}

const DECIMAL_TEXT = /^\d{1,20}$/;
const UINT64_END = 2n ** 64n;
const UINT32_MAX = 2 ** 32 - 1;
/** Bytes of a transaction signature, and the longest base58 text of so many. */
const SIGNATURE_TEXT_MAX = 88;

/** The members of a token as the store takes them: a value outside its type would fail there. */
const isWhole = (value: unknown, from: number, to = Number.MAX_SAFE_INTEGER): boolean =>
  Number.isSafeInteger(value) && Number(value) >= from && Number(value) <= to;
const isSequence = (value: unknown): value is string =>
  typeof value === 'string' && DECIMAL_TEXT.test(value) && BigInt(value) < UINT64_END;
const isSignature = (value: unknown): value is string =>
  typeof value === 'string' &&
  value.length <= SIGNATURE_TEXT_MAX &&
  bs58.decodeUnsafe(value)?.length === SIGNATURE_BYTES;

/** Inverse of `encodeCursor`. Throws a validation HistoryError for a malformed token or one of another path. */
export function decodeCursor(path: string, token: string): PageToken {
  const tuple = parseTuple(token);
  const [, hash, ts, slot, sequence, txSig, txSigIndex, page] = tuple;
  const isPlaced = isWhole(ts, 0) && isWhole(slot, 0) && isWhole(txSigIndex, 0, UINT32_MAX);
  const placed = blockPlaceOf(tuple);
  if (placed === null || !isPlaced || !isWhole(page, 1, UINT32_MAX) || !isSequence(sequence) || !isSignature(txSig)) {
    throw new HistoryError('validation', 'page is not a token of this service');
  }
  if (hash !== pathHash(path)) throw new HistoryError('validation', 'page belongs to another path');
  return {
    lastRow: { ts: Number(ts), slot: Number(slot), ...placed, sequence, txSig, txSigIndex: Number(txSigIndex) },
    page: Number(page),
  };
}

/** Far beyond the transactions of a block; its place in the order fits 64 bits. */
const TX_INDEX_MAX = UINT32_MAX - 1;

/** The member that its version adds to a place; null for another version or a bad index. */
function blockPlaceOf([version, ...members]: readonly unknown[]): Pick<RowPlace, 'txIndex'> | null {
  if (version === VERSION_WITHOUT_PLACE) return {};
  const txIndex = members[7];
  if (version !== VERSION || (txIndex !== null && !isWhole(txIndex, 0, TX_INDEX_MAX))) return null;
  return { txIndex: txIndex === null ? null : Number(txIndex) };
}

/** The list in a token; empty when it holds none. */
export function parseTuple(token: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
