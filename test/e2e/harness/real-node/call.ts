// One call that is made on several nodes, and the data on a node that it needs.

import bs58 from 'bs58';

/** Data that a node must have for the calls: the same accounts on both nodes, and transactions of each kind. */
export interface Subjects {
  readonly program: string;
  /** Ten accounts of the program, with the same bytes on every node. */
  readonly accounts: readonly string[];
  /** An account that writes; it pays or is written by the transactions. */
  readonly wallet: string;
  readonly signature: string;
  /** A transaction that loads keys from a lookup table. */
  readonly lookupSignature: string;
  readonly failedSignature: string;
  /** A key that the transaction takes from the table alone. */
  readonly lookedUp: string;
  /** A finalized slot with a block, which has `lookupSignature`. */
  readonly slot: number;
  /** A slot below the root without a block. */
  readonly skippedSlot: number;
  /** A confirmed slot. */
  readonly tip: number;
}

export interface NodeCall {
  readonly name: string;
  readonly method: string;
  readonly params: (subjects: Subjects) => unknown;
  /** The values agree as well, because both nodes have the same accounts. */
  readonly sameValues?: true;
  /** `tip` is the newest slot of all, asked just before. */
  readonly isAtTip?: true;
}

/** First bytes of half of the accounts of the scripted exchange, in base58. */
export const FAKE_KIND = bs58.encode(Buffer.alloc(8, 1));
export const MISSING_KEY = 'SysvarC1ock11111111111111111111111111111112';
export const MISSING_SIGNATURE = '1'.repeat(64);
export const FAR = 1_000_000;
export const CONFIRMED = { commitment: 'confirmed' };
export const FINALIZED = { commitment: 'finalized' };
export const V0 = { ...CONFIRMED, maxSupportedTransactionVersion: 0 };
/** As ingest asks: it reads transactions of version 1 too. */
export const V1 = { ...CONFIRMED, maxSupportedTransactionVersion: 1 };
