// Reads a submitted transaction: wire bytes to signatures, resolved account keys and instructions.

import { createPublicKey, verify } from 'node:crypto';
import { PACKET_DATA_SIZE, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import { RefusedTransaction } from './errors.ts';

/** DER prefix of an Ed25519 public key (RFC 8410). */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

export interface SubmittedInstruction {
  readonly program: string;
  readonly accounts: readonly string[];
  readonly data: Uint8Array;
}

export interface SubmittedTransaction {
  readonly signature: string;
  readonly blockhash: string;
  readonly payer: string;
  readonly keys: readonly string[];
  readonly signers: ReadonlySet<string>;
  readonly writable: ReadonlySet<string>;
  readonly instructions: readonly SubmittedInstruction[];
}

/** Addresses of a lookup table, or null for a table that does not exist. */
export type FindTable = (key: string) => readonly string[] | null;

/** Decodes the wire format. Throws an Error with the reason. */
export function decodeWire(bytes: Uint8Array): VersionedTransaction {
  if (bytes.length > PACKET_DATA_SIZE) {
    throw new Error(
      `base64 encoded solana_transaction::versioned::VersionedTransaction too large: ${bytes.length} bytes`,
    );
  }
  let transaction: VersionedTransaction;
  try {
    transaction = VersionedTransaction.deserialize(bytes);
  } catch {
    throw new Error('failed to deserialize solana_transaction::versioned::VersionedTransaction');
  }
  const { header, staticAccountKeys } = transaction.message;
  const needed = header.numRequiredSignatures;
  if (needed === 0 || needed > staticAccountKeys.length || transaction.signatures.length !== needed) {
    throw new Error('invalid transaction: Transaction failed to sanitize accounts offsets correctly');
  }
  return transaction;
}

export function signatureOfWire(transaction: VersionedTransaction): string {
  return bs58.encode(transaction.signatures[0] ?? new Uint8Array(64));
}

/** Whether every required signature is valid over the message. */
export function hasValidSignatures(transaction: VersionedTransaction): boolean {
  const message = transaction.message.serialize();
  return transaction.signatures.every((signature, index) => {
    const key = transaction.message.staticAccountKeys[index];
    if (key === undefined) return false;
    const der = Buffer.concat([ED25519_PREFIX, key.toBytes()]);
    return verify(null, message, createPublicKey({ key: der, format: 'der', type: 'spki' }), signature);
  });
}

/** The transaction with its lookups resolved. Throws RefusedTransaction for an unknown table or a wrong index. */
export function resolve(transaction: VersionedTransaction, findTable: FindTable): SubmittedTransaction {
  const { message } = transaction;
  const staticKeys = message.staticAccountKeys.map((key) => key.toBase58());
  const looked = { writable: [] as string[], readonly: [] as string[] };
  for (const lookup of message.addressTableLookups) {
    const addresses = findTable(lookup.accountKey.toBase58());
    if (addresses === null) {
      throw new RefusedTransaction(
        'AddressLookupTableNotFound',
        "Transaction loads an address table account that doesn't exist",
      );
    }
    looked.writable.push(...lookup.writableIndexes.map((index) => lookedUp(addresses, index)));
    looked.readonly.push(...lookup.readonlyIndexes.map((index) => lookedUp(addresses, index)));
  }
  const keys = [...staticKeys, ...looked.writable, ...looked.readonly];
  const { header } = message;
  const lastWritable = staticKeys.length - header.numReadonlyUnsignedAccounts;
  const writable = staticKeys.filter((_, index) =>
    index < header.numRequiredSignatures
      ? index < header.numRequiredSignatures - header.numReadonlySignedAccounts
      : index < lastWritable,
  );
  const at = (index: number): string => {
    const key = keys[index];
    if (key === undefined)
      throw new RefusedTransaction('SanitizeFailure', 'Transaction failed to sanitize accounts offsets correctly');
    return key;
  };
  return {
    signature: signatureOfWire(transaction),
    blockhash: message.recentBlockhash,
    payer: at(0),
    keys,
    signers: new Set(staticKeys.slice(0, header.numRequiredSignatures)),
    writable: new Set([...writable, ...looked.writable]),
    instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
      program: at(programIdIndex),
      accounts: accountKeyIndexes.map(at),
      data,
    })),
  };
}

function lookedUp(addresses: readonly string[], index: number): string {
  const key = addresses[index];
  if (key === undefined) {
    throw new RefusedTransaction(
      'InvalidAddressLookupTableIndex',
      'Transaction address table lookup uses an invalid index',
    );
  }
  return key;
}
