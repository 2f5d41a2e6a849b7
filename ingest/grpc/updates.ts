// Converts gRPC updates to source updates. Throws for any other shape; the caller parks it as garbage.

import { PUBKEY_BYTES, SIGNATURE_BYTES, signatureText } from '../../schemas/index.ts';
import type { AccountUpdate, TransactionLogs } from '../source.ts';
import type { BlockRef } from './cursor.ts';
import type { WireAccount, WireBlock, WireTransaction } from './wire.ts';

/** Bits of a write version. The number of the stream stands above them, because no version compares across streams. */
const VERSION_BITS = 64n;

/** `stream` is the number of the connection, counted from 0. */
export function accountUpdate(account: WireAccount, stream: bigint): AccountUpdate {
  const { txnSignature, data } = account;
  const slot = slotOf(account.slot);
  const writeVersion = stream === 0n ? account.writeVersion : (stream << VERSION_BITS) | account.writeVersion;
  const pubkey = bytesOf(account.pubkey, PUBKEY_BYTES);
  const owner = bytesOf(account.owner, PUBKEY_BYTES);
  if (txnSignature.length !== SIGNATURE_BYTES) return { kind: 'account', slot, writeVersion, pubkey, owner, data };
  return { kind: 'account', slot, writeVersion, pubkey, owner, data, signature: txnSignature };
}

/** Null when the server does not record logs: the audit then fetches the transaction elsewhere. */
export function transactionLogs({ slot, signature, index, failed, logs }: WireTransaction): TransactionLogs | null {
  if (logs === null && !failed) return null;
  return {
    kind: 'transaction',
    slot: slotOf(slot),
    signature: signatureText(bytesOf(signature, SIGNATURE_BYTES)),
    signatureBytes: signature,
    failed,
    logs: logs ?? [],
    blockIndex: slotOf(index),
    blockTime: null,
  };
}

/** A block of the stream. `ts` in Unix seconds; null when the server does not know it. */
export interface BlockMeta extends BlockRef {
  readonly parent: BlockRef;
  readonly ts: number | null;
}

export function blockMeta({ slot, blockhash, parentSlot, parentBlockhash, ts }: WireBlock): BlockMeta {
  if (blockhash === '') throw new TypeError('block without hash');
  return {
    slot: slotOf(slot),
    blockhash,
    parent: { slot: slotOf(parentSlot), blockhash: parentBlockhash },
    ts: Number.isSafeInteger(ts) && ts > 0 ? ts : null,
  };
}

export function slotOf(slot: number): number {
  if (!Number.isSafeInteger(slot)) throw new TypeError(`slot ${slot}`);
  return slot;
}

function bytesOf(bytes: Uint8Array, length: number): Uint8Array {
  if (bytes.length !== length) throw new TypeError(`${bytes.length} bytes instead of ${length}`);
  return bytes;
}
