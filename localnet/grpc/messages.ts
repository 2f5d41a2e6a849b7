// The updates of a Yellowstone gRPC server, made from the blocks of the simulated chain.

import bs58 from 'bs58';
import { type GeyserMessages, geyserMessages, SIGNATURE_BYTES, signatureBytes } from '../../schemas/index.ts';
import type { LookupTables } from '../ledger/lookup-tables.ts';
import type { AccountVersion, Commitment, StoredBlock, StoredTransaction } from '../ledger.ts';
import {
  BALANCE_LAMPORTS,
  BASE_FEE_LAMPORTS,
  computeUnits,
  headerOf,
  keyBytes,
  messageOf,
  staticKeys,
} from '../rpc/transaction-json.ts';

export type SlotState = Commitment | 'firstShred' | 'completed' | 'createdBank' | 'dead';

/** One update before it is encoded. */
export type FeedMessage =
  | { readonly kind: 'account'; readonly slot: number; readonly signature: string; readonly account: AccountVersion }
  | { readonly kind: 'transaction'; readonly slot: number; readonly transaction: StoredTransaction }
  | { readonly kind: 'blockMeta'; readonly slot: number; readonly block: StoredBlock }
  | { readonly kind: 'slot'; readonly slot: number; readonly parentSlot: number; readonly state: SlotState };

type Update = Parameters<GeyserMessages['SubscribeUpdate']['encode']>[0];
type Transaction = NonNullable<NonNullable<Update['transaction']>['transaction']>;

const RENT_EPOCH = '18446744073709551615';
/** Field number and wire type of `SubscribeUpdate.filters`. */
const FILTERS_TAG = 0x0a;

/** A real node reports writes and transactions from different threads, so their order says nothing. */
export function blockMessages(block: StoredBlock, inOrder: boolean): FeedMessage[] {
  const { slot, transactions } = block;
  const accounts = (one: StoredTransaction): FeedMessage[] =>
    one.writes.map((account) => ({ kind: 'account', slot, signature: one.signature, account }));
  const own = (transaction: StoredTransaction): FeedMessage => ({ kind: 'transaction', slot, transaction });
  const meta: FeedMessage = { kind: 'blockMeta', slot, block };
  if (inOrder) return [...transactions.flatMap((one) => [...accounts(one), own(one)]), meta];
  const isTransactionsFirst = (block.blockhash.codePointAt(0) ?? 0) % 2 === 0;
  const parts = [transactions.flatMap(accounts), transactions.map(own)];
  return [...(isTransactionsFirst ? parts.reverse() : parts).flat(), meta];
}

/** The message without the names of the filters that it passed. */
export function encodeBody(message: FeedMessage, tables: LookupTables): Buffer {
  const { SubscribeUpdate } = geyserMessages();
  return Buffer.from(
    SubscribeUpdate.encode({ filters: [], createdAt: new Date(), ...bodyOf(message, tables) }).finish(),
  );
}

/** Puts the names of filters in front of a body: fields of a message may come in any order. */
export function withFilters(names: readonly string[], body: Buffer): Buffer {
  const parts = names.map((name) => {
    const text = Buffer.from(name);
    return Buffer.concat([Buffer.from([FILTERS_TAG, ...varint(text.length)]), text]);
  });
  return Buffer.concat([...parts, body]);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

function bodyOf(message: FeedMessage, tables: LookupTables): Partial<Update> {
  const slot = String(message.slot);
  switch (message.kind) {
    case 'account':
      return { account: { slot, isStartup: false, account: accountInfo(message.account, message.signature) } };
    case 'transaction':
      return { transaction: { slot, transaction: transactionInfo(message.transaction, tables) } };
    case 'blockMeta':
      return { blockMeta: blockMeta(message.block) };
    case 'slot':
      return { slot: slotState(message) };
  }
}

function accountInfo({ pubkey, owner, lamports, data, writeVersion }: AccountVersion, signature: string) {
  return {
    pubkey: keyBytes(pubkey),
    lamports: String(lamports),
    owner: keyBytes(owner),
    executable: false,
    rentEpoch: RENT_EPOCH,
    data,
    writeVersion: String(writeVersion),
    txnSignature: wireSignature(signature),
  };
}

function transactionInfo(transaction: StoredTransaction, tables: LookupTables): Transaction {
  const message = messageOf(transaction, tables);
  const signature = wireSignature(transaction.signature);
  return {
    signature,
    isVote: false,
    index: String(transaction.index),
    transaction: {
      signatures: [signature],
      message: {
        header: headerOf(message),
        accountKeys: staticKeys(message).map(keyBytes),
        recentBlockhash: keyBytes(message.recentBlockhash),
        instructions: message.instructions.map(({ programIdIndex, accounts }) => ({
          programIdIndex,
          accounts: Buffer.from(accounts),
          data: new Uint8Array(0),
        })),
        versioned: true,
        addressTableLookups: message.lookups.map(({ accountKey, writableIndexes, readonlyIndexes }) => ({
          accountKey: keyBytes(accountKey),
          writableIndexes: Buffer.from(writableIndexes),
          readonlyIndexes: Buffer.from(readonlyIndexes),
        })),
      },
    },
    meta: metaOf(transaction, message),
  };
}

function metaOf({ err, logMessages }: StoredTransaction, message: ReturnType<typeof messageOf>): Transaction['meta'] {
  const balances = message.accountKeys.map(() => String(BALANCE_LAMPORTS));
  return {
    // A server sends the bincode form of the error. Readers only ask whether there is one.
    err: err === null ? undefined : { err: Buffer.from(JSON.stringify(err)) },
    fee: String(BASE_FEE_LAMPORTS),
    preBalances: balances,
    postBalances: balances,
    innerInstructions: message.innerInstructions.map(({ index, instructions }) => ({
      index,
      instructions: instructions.map(({ programIdIndex, accounts, stackHeight }) => ({
        programIdIndex,
        accounts: Buffer.from(accounts),
        data: new Uint8Array(0),
        ...(stackHeight === null ? {} : { stackHeight }),
      })),
    })),
    innerInstructionsNone: false,
    logMessages: [...logMessages],
    logMessagesNone: false,
    preTokenBalances: [],
    postTokenBalances: [],
    rewards: [],
    loadedWritableAddresses: message.writable.map(keyBytes),
    loadedReadonlyAddresses: message.readonly.map(keyBytes),
    returnData: undefined,
    returnDataNone: true,
    computeUnitsConsumed: String(computeUnits(logMessages)),
  };
}

function blockMeta(block: StoredBlock): NonNullable<Update['blockMeta']> {
  return {
    slot: String(block.slot),
    blockhash: block.blockhash,
    rewards: undefined,
    blockTime: { timestamp: String(block.blockTime) },
    blockHeight: { blockHeight: String(block.height) },
    parentSlot: String(block.parentSlot),
    parentBlockhash: block.previousBlockhash,
    executedTransactionCount: String(block.transactions.length),
    entriesCount: '1',
  };
}

function slotState({ slot, parentSlot, state }: Extract<FeedMessage, { kind: 'slot' }>): NonNullable<Update['slot']> {
  const { SlotStatus } = geyserMessages();
  const status = {
    processed: SlotStatus.SLOT_PROCESSED,
    confirmed: SlotStatus.SLOT_CONFIRMED,
    finalized: SlotStatus.SLOT_FINALIZED,
    firstShred: SlotStatus.SLOT_FIRST_SHRED_RECEIVED,
    completed: SlotStatus.SLOT_COMPLETED,
    createdBank: SlotStatus.SLOT_CREATED_BANK,
    dead: SlotStatus.SLOT_DEAD,
  }[state];
  const deadError = state === 'dead' ? { deadError: 'invalid block: TransactionError(AccountInUse)' } : {};
  return { slot: String(slot), parent: String(parentSlot), status, ...deadError };
}

/** Always 64 bytes, even for an invalid signature of an injected transaction. */
function wireSignature(signature: string): Uint8Array {
  const known = signatureBytes(signature);
  if (known) return known;
  const bytes = new Uint8Array(SIGNATURE_BYTES);
  bytes.set((bs58.decodeUnsafe(signature) ?? new Uint8Array()).subarray(0, SIGNATURE_BYTES));
  return bytes;
}
