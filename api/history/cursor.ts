// `meta.nextPage`: names the last row of a page, so rows that arrive later never shift a page.

import { createHash } from 'node:crypto';
import { HistoryError } from '../http/errors.ts';

/** Version of the row order. A token of another version is refused. */
const VERSION = 2;

/** Place of a row in the order of its list: newest first, compared member by member. */
export interface RowPlace {
  /** Unix seconds. */
  readonly ts: number;
  readonly slot: number;
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
  const { ts, slot, sequence, txSig, txSigIndex } = lastRow;
  const tuple = [VERSION, pathHash(path), ts, slot, sequence, txSig, txSigIndex, page];
  return Buffer.from(JSON.stringify(tuple)).toString('base64url');
}

const U64_TEXT = /^\d{1,20}$/;
const BASE58_TEXT = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;

/** Inverse of `encodeCursor`. Throws a validation HistoryError for a malformed token or one of another path. */
export function decodeCursor(path: string, token: string): PageToken {
  const tuple = parseTuple(token);
  const [version, hash, ts, slot, sequence, txSig, txSigIndex, page] = tuple;
  const whole = [ts, slot, txSigIndex, page].every((value) => Number.isSafeInteger(value));
  const texts = typeof sequence === 'string' && typeof txSig === 'string';
  if (version !== VERSION || !whole || !texts || !U64_TEXT.test(sequence) || !BASE58_TEXT.test(txSig)) {
    throw new HistoryError('validation', 'page is not a token of this service');
  }
  if (hash !== pathHash(path)) throw new HistoryError('validation', 'page belongs to another path');
  return {
    lastRow: { ts: Number(ts), slot: Number(slot), sequence, txSig, txSigIndex: Number(txSigIndex) },
    page: Number(page),
  };
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
