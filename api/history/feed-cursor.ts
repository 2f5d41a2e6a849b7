// `meta.nextPage` of the notification feed: the id of the last row, bound to the wallet. Ids are ordered by time, so
// notifications that arrive later never shift a page.

import { createHash } from 'node:crypto';
import { timeOfNotification } from '../../schemas/index.ts';
import { HistoryError } from '../http/errors.ts';
import { parseTuple } from './cursor.ts';

const VERSION = 1;

const walletHash = (authority: string): string =>
  createHash('sha256').update(authority).digest('base64url').slice(0, 8);

export function encodeFeedCursor(authority: string, id: string): string {
  return Buffer.from(JSON.stringify([VERSION, walletHash(authority), id])).toString('base64url');
}

/** Inverse of `encodeFeedCursor`. Throws a validation HistoryError for a malformed token or one of another wallet. */
export function decodeFeedCursor(authority: string, token: string): string {
  const [version, hash, id] = parseTuple(token);
  if (version !== VERSION || typeof id !== 'string' || timeOfNotification(id) === null) {
    throw new HistoryError('validation', 'page is not a token of this service');
  }
  if (hash !== walletHash(authority)) throw new HistoryError('validation', 'page belongs to another wallet');
  return id;
}
