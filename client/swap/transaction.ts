// Takes versioned transactions apart and puts them together, with lookup tables.

import {
  AddressLookupTableAccount,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { SwapError, type SwapInstruction, type SwapRoute } from './types.ts';

/** Data of lookup-table accounts by address, in the order asked; null for one that does not exist. */
export type LoadTables = (addresses: readonly string[]) => Promise<readonly (Uint8Array | null)[]>;

/** The longest transaction that the network takes. */
const TRANSACTION_BYTES_MAX = 1232;

/** Instructions of a transaction in base64. Throws SwapError when it needs a lookup table that cannot be loaded. */
export async function decompile(base64: string, loadTables?: LoadTables): Promise<SwapRoute> {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const { message } = VersionedTransaction.deserialize(bytes);
  const addresses = message.addressTableLookups.map(({ accountKey }) => accountKey.toBase58());
  const tables = await lookupTables(addresses, loadTables);
  const { instructions } = TransactionMessage.decompile(message, { addressLookupTableAccounts: tables });
  return { instructions: instructions.map(fromWeb3), lookupTables: addresses };
}

/** The tables of some addresses. */
export async function lookupTables(
  addresses: readonly string[],
  loadTables?: LoadTables,
): Promise<AddressLookupTableAccount[]> {
  if (addresses.length === 0) return [];
  if (!loadTables) throw new SwapError('the transaction uses lookup tables: pass loadTables');
  const loaded = await loadTables(addresses);
  return addresses.map((address, index) => {
    const data = loaded[index];
    if (!data) throw new SwapError(`lookup table ${address} does not exist`);
    return new AddressLookupTableAccount({
      key: new PublicKey(address),
      state: AddressLookupTableAccount.deserialize(data),
    });
  });
}

/** An unsigned transaction of version 0. Throws SwapError when it is longer than the network takes. */
export function compile(
  payer: string,
  blockhash: string,
  instructions: readonly SwapInstruction[],
  tables: AddressLookupTableAccount[],
): VersionedTransaction {
  const message = new TransactionMessage({
    payerKey: new PublicKey(payer),
    recentBlockhash: blockhash,
    instructions: instructions.map(toWeb3),
  }).compileToV0Message(tables);
  const transaction = new VersionedTransaction(message);
  const bytes = lengthOf(transaction);
  if (bytes > TRANSACTION_BYTES_MAX) {
    throw new SwapError(`the swap takes ${bytes} bytes, more than ${TRANSACTION_BYTES_MAX}: ask for fewer accounts`);
  }
  return transaction;
}

/** Bytes of a transaction; more than the limit when it cannot even be written. */
function lengthOf(transaction: VersionedTransaction): number {
  try {
    return transaction.serialize().length;
  } catch (error) {
    if (error instanceof RangeError) return TRANSACTION_BYTES_MAX + 1;
    throw error;
  }
}

function fromWeb3({ programId, keys, data }: TransactionInstruction): SwapInstruction {
  return {
    programId: programId.toBase58(),
    accounts: keys.map(({ pubkey, isSigner, isWritable }) => ({ pubkey: pubkey.toBase58(), isSigner, isWritable })),
    data: Uint8Array.from(data),
  };
}

function toWeb3({ programId, accounts, data }: SwapInstruction): TransactionInstruction {
  return new TransactionInstruction({
    programId: new PublicKey(programId),
    keys: accounts.map(({ pubkey, ...flags }) => ({ pubkey: new PublicKey(pubkey), ...flags })),
    // web3.js asks for a Buffer but reads it as bytes.
    data: data as unknown as TransactionInstruction['data'],
  });
}
