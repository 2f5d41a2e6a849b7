// `meta.nextPage` of a wallet's exports: the place of the last job of a page, so later jobs never shift a page.

import { HistoryError } from '../../http/errors.ts';
import { parseTuple, pathHash } from '../cursor.ts';

const KIND = 'exports-1';
const OFFSET = /^\d{1,19}$/;

export function encodePageToken(path: string, offset: bigint): string {
  return Buffer.from(JSON.stringify([KIND, pathHash(path), String(offset)])).toString('base64url');
}

/** Inverse of `encodePageToken`. Throws a validation HistoryError for a malformed token or one of another path. */
export function decodePageToken(path: string, token: string): bigint {
  const [kind, hash, offset] = parseTuple(token);
  if (kind !== KIND || typeof offset !== 'string' || !OFFSET.test(offset)) {
    throw new HistoryError('validation', 'page is not a token of this service');
  }
  if (hash !== pathHash(path)) throw new HistoryError('validation', 'page belongs to another path');
  return BigInt(offset);
}
