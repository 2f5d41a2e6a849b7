// Converts gRPC updates to source updates. Throws for any other shape; the caller parks it as garbage.

import bs58 from 'bs58';
import type { GeyserUpdate } from '../../schemas/index.ts';
import type { AccountUpdate, TransactionLogs } from '../source.ts';
import type { BlockRef } from './cursor.ts';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** Bits of a write version. The number of the stream stands above them, because no version compares across streams. */
const VERSION_BITS = 64n;

/** `stream` is the number of the connection, counted from 0. */
export function accountUpdate(update: NonNullable<GeyserUpdate['account']>, stream: bigint): AccountUpdate {
  const { account } = update;
  if (!account) throw new TypeError('account update without account');
  const { txnSignature } = account;
  return {
    kind: 'account',
    slot: slotOf(update.slot),
    writeVersion: (stream << VERSION_BITS) | BigInt(account.writeVersion),
    pubkey: bytesOf(account.pubkey, KEY_BYTES),
    owner: bytesOf(account.owner, KEY_BYTES),
    data: account.data,
    ...(txnSignature && txnSignature.length === SIGNATURE_BYTES ? { signature: txnSignature } : {}),
  };
}

/** Null when the server does not record logs: the audit then fetches the transaction elsewhere. */
export function transactionLogs({
  slot,
  transaction,
}: NonNullable<GeyserUpdate['transaction']>): TransactionLogs | null {
  if (!transaction) throw new TypeError('transaction update without transaction');
  const { signature, meta, index } = transaction;
  const failed = meta?.err !== undefined;
  if (!meta || (meta.logMessagesNone && !failed)) return null;
  return {
    kind: 'transaction',
    slot: slotOf(slot),
    signature: bs58.encode(bytesOf(signature, SIGNATURE_BYTES)),
    signatureBytes: signature,
    failed,
    logs: meta.logMessages,
    blockIndex: slotOf(index),
    blockTime: null,
  };
}

/** A block of the stream. `ts` in Unix seconds; null when the server does not know it. */
export interface BlockMeta extends BlockRef {
  readonly parent: BlockRef;
  readonly ts: number | null;
}

export function blockMeta(update: NonNullable<GeyserUpdate['blockMeta']>): BlockMeta {
  const { slot, blockhash, parentSlot, parentBlockhash, blockTime } = update;
  if (blockhash === '') throw new TypeError('block without hash');
  const ts = Number(blockTime?.timestamp);
  return {
    slot: slotOf(slot),
    blockhash,
    parent: { slot: slotOf(parentSlot), blockhash: parentBlockhash },
    ts: Number.isSafeInteger(ts) && ts > 0 ? ts : null,
  };
}

export function slotOf(text: string): number {
  const slot = Number(text);
  if (!Number.isSafeInteger(slot) || slot < 0) throw new TypeError(`slot ${text}`);
  return slot;
}

function bytesOf(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length !== length) throw new TypeError(`${bytes.length} bytes instead of ${length}`);
  return bytes;
}
