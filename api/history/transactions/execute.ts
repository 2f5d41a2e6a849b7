// Takes a signed transaction of the caller: checks what it does, sends it, and follows it to the wanted commitment or its expiry.

import { createPublicKey, verify } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type AddressLookupTableAccount,
  ComputeBudgetProgram,
  PACKET_DATA_SIZE,
  PublicKey,
  SystemProgram,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { TxError } from '../../http/errors.ts';
import { NATIVE_MINT } from './calls.ts';
import { type Chain, SendRefused } from './chain.ts';
import { failureOf, landedFailureOf, type TransactionFailure } from './failures.ts';
import { ASSOCIATED_TOKEN_PROGRAM, associatedTokenAddress, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './program.ts';

/** DER prefix of an Ed25519 public key (RFC 8410). */
const ED25519_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** First bytes of token instructions that wrap and unwrap SOL. */
const CLOSE_ACCOUNT = 9;
const SYNC_NATIVE = 17;
const SYSTEM_TRANSFER = 2;
/** Blocks for which a blockhash is valid (MAX_PROCESSING_AGE of Solana). */
const BLOCKHASH_AGE_BLOCKS = 150;
const POLL_MS = 400;
/** A node forwards a transaction for about this long; then it needs it again. */
const RESEND_POLLS = 5;

export type WantedCommitment = 'processed' | 'confirmed' | 'finalized';
const DEPTH: Readonly<Record<WantedCommitment, number>> = { processed: 0, confirmed: 1, finalized: 2 };

export interface SignedTransaction {
  readonly wire: Uint8Array;
  readonly transaction: VersionedTransaction;
  /** base58 */
  readonly signature: string;
}

/** Reads the base64 text of a signed transaction. Throws TxError when it is malformed or not signed by exactly one wallet. */
export function readSigned(text: unknown): SignedTransaction {
  if (typeof text !== 'string' || text === '') throw new TxError('signedTxMissing');
  if (text.length % 4 !== 0 || !BASE64.test(text)) throw new TxError('notBase64');
  const wire = Buffer.from(text, 'base64');
  if (wire.length > PACKET_DATA_SIZE) throw new TxError('signedTxTooLarge');
  let transaction: VersionedTransaction;
  try {
    transaction = VersionedTransaction.deserialize(wire);
  } catch (cause) {
    throw new TxError('notATransaction', '', { cause });
  }
  const { header, staticAccountKeys } = transaction.message;
  const [signature, ...others] = transaction.signatures;
  const [signer] = staticAccountKeys;
  if (header.numRequiredSignatures !== 1 || others.length > 0 || !signature || !signer) throw new TxError('oneSigner');
  if (!isSigned(transaction, signer, signature)) throw new TxError('badSignature');
  return { wire, transaction, signature: bs58.encode(signature) };
}

function isSigned(transaction: VersionedTransaction, signer: PublicKey, signature: Uint8Array): boolean {
  try {
    const der = Buffer.concat([ED25519_PREFIX, signer.toBytes()]);
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    return verify(null, transaction.message.serialize(), key, signature);
  } catch {
    return false;
  }
}

/**
 * Throws TxError unless every instruction is one that this service builds: the exchange, the compute budget, and what wraps
 * tokens for it. Programs must be static keys, and a transfer of lamports may only fill the signer's own wrapped SOL.
 */
export function checkPrograms(
  transaction: VersionedTransaction,
  program: PublicKey,
  tables: readonly AddressLookupTableAccount[],
): void {
  const { message } = transaction;
  let keys: ReturnType<typeof message.getAccountKeys>;
  try {
    keys = message.getAccountKeys({ addressLookupTableAccounts: [...tables] });
  } catch (cause) {
    throw new TxError('unknownTable', '', { cause });
  }
  const signer = message.staticAccountKeys[0] ?? PublicKey.default;
  let callsExchange = false;
  for (const { programIdIndex, accountKeyIndexes, data } of message.compiledInstructions) {
    const called = message.staticAccountKeys[programIdIndex];
    if (!called) throw new TxError('unexpectedProgram', 'a looked-up key');
    if (called.equals(program)) callsExchange = true;
    else if (!isHelper(called, data, (index) => keys.get(accountKeyIndexes[index] ?? -1), signer)) {
      throw new TxError('unexpectedProgram', called.toBase58());
    }
  }
  if (!callsExchange) throw new TxError('notOurs');
}

function isHelper(
  called: PublicKey,
  data: Uint8Array,
  account: (index: number) => PublicKey | undefined,
  signer: PublicKey,
): boolean {
  if (called.equals(ComputeBudgetProgram.programId)) return true;
  if (called.equals(ASSOCIATED_TOKEN_PROGRAM)) return data.length <= 1 && (data[0] ?? 0) <= 1;
  const wrapped = associatedTokenAddress(signer, NATIVE_MINT, TOKEN_PROGRAM);
  if (called.equals(SystemProgram.programId)) {
    const isTransfer = data.length === 12 && Buffer.from(data).readUInt32LE(0) === SYSTEM_TRANSFER;
    return isTransfer && account(1)?.equals(wrapped) === true;
  }
  if (!called.equals(TOKEN_PROGRAM) && !called.equals(TOKEN_2022_PROGRAM)) return false;
  if (account(0)?.equals(wrapped) !== true) return false;
  if (data[0] === SYNC_NATIVE) return true;
  return data[0] === CLOSE_ACCOUNT && account(1)?.equals(signer) === true;
}

/**
 * Sends a checked transaction and follows it. Returns its signature once the chain has it at `commitment`, or its failure
 * in the simulation or there.
 * Throws TxError when its blockhash expires first.
 */
export async function submit(
  chain: Chain,
  signed: SignedTransaction,
  options: { readonly simulate: boolean; readonly commitment: WantedCommitment },
): Promise<string | TransactionFailure> {
  const { transaction, wire, signature } = signed;
  if (options.simulate) {
    const { err, logs } = await chain.simulate(transaction, false);
    if (err !== null) return failureOf(chain.program, err, logs ?? []);
  }
  const lastHeight = (await chain.blockHeight()) + BLOCKHASH_AGE_BLOCKS;
  await send(chain, wire);
  for (let poll = 1; ; poll++) {
    const status = await chain.status(signature);
    if (status !== null) {
      const reached = status.confirmationStatus ?? 'processed';
      if (DEPTH[reached] >= DEPTH[options.commitment]) {
        return status.err === null ? signature : landedFailureOf(chain.program, status.err, transaction, signature);
      }
    } else if ((await chain.blockHeight()) > lastHeight) throw new TxError('expired');
    if (status === null && poll % RESEND_POLLS === 0) await send(chain, wire);
    await delay(POLL_MS);
  }
}

async function send(chain: Chain, wire: Uint8Array): Promise<void> {
  try {
    await chain.send(wire);
  } catch (error) {
    if (error instanceof SendRefused) throw new TxError('refused', error.message.split('\n', 1)[0], { cause: error });
    throw error;
  }
}
