// Real transactions with built-in programs: transfers, failures, memos that log too much, and keys from a lookup table.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AddressLookupTableAccount,
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  SystemProgram,
  Transaction,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
  VoteProgram,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { eventually } from '../../../support/platform/eventually.ts';
import type { Validator } from './validator.ts';

const MEMO_PROGRAM = new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr');
/** A vote account begins with the version of its layout. */
const VOTE_VERSION_BYTES = 4;
const COMPUTE_UNITS = 1_400_000;
/** 150 slots of a validator whose slots last 50 ms. */
const BLOCKHASH_MS = 7_500;
const POLL_MS = 50;
const POLLS_PER_SEND = 20;
/** A request that a busy node lost is not waited for longer. */
const ANSWER_WITHIN_MS = 20_000;

export class Traffic {
  readonly connection: Connection;
  readonly payer = Keypair.generate();

  constructor({ rpcUrl, wsUrl }: Validator) {
    this.connection = new Connection(rpcUrl, {
      commitment: 'confirmed',
      wsEndpoint: wsUrl,
      fetch: (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(ANSWER_WITHIN_MS) }),
    });
  }

  get wallet(): string {
    return this.payer.publicKey.toBase58();
  }

  async fund(): Promise<void> {
    const ask = () => this.connection.requestAirdrop(this.payer.publicKey, 100 * LAMPORTS_PER_SOL);
    await eventually(async () => this.#confirmed(await ask(), ask));
  }

  transfer(lamports = LAMPORTS_PER_SOL / 100): Promise<string> {
    return this.#send([
      SystemProgram.transfer({ fromPubkey: this.payer.publicKey, toPubkey: Keypair.generate().publicKey, lamports }),
    ]);
  }

  /** Writes an account of a program and names the program, whose code it does not run. */
  touch(account: string, program: string): Promise<string> {
    const toPubkey = new PublicKey(account);
    const transfer = SystemProgram.transfer({ fromPubkey: this.payer.publicKey, toPubkey, lamports: 1 });
    transfer.keys.push({ pubkey: new PublicKey(program), isSigner: false, isWritable: false });
    return this.#send([transfer]);
  }

  /** More than the payer has, in a transaction of version 0. */
  async failing(): Promise<string> {
    const { publicKey } = this.payer;
    const transfer = { fromPubkey: publicKey, toPubkey: Keypair.generate().publicKey };
    return this.#sendVersion0([SystemProgram.transfer({ ...transfer, lamports: 1_000_000 * LAMPORTS_PER_SOL })], []);
  }

  /** One memo per text. */
  memos(texts: readonly string[]): Promise<string> {
    const memos = texts.map(
      (text) => new TransactionInstruction({ keys: [], programId: MEMO_PROGRAM, data: Buffer.from(text) }),
    );
    return this.#send([ComputeBudgetProgram.setComputeUnitLimit({ units: COMPUTE_UNITS }), ...memos]);
  }

  /** A transfer to a key that only a lookup table names, in a slot that is final by then. */
  async lookup(): Promise<{ readonly signature: string; readonly lookedUp: string; readonly slot: number }> {
    const { publicKey } = this.payer;
    const recentSlot = await this.connection.getSlot('finalized');
    const [create, table] = AddressLookupTableProgram.createLookupTable({
      authority: publicKey,
      payer: publicKey,
      recentSlot,
    });
    const toPubkey = Keypair.generate().publicKey;
    const addresses = [toPubkey, SystemProgram.programId, MEMO_PROGRAM];
    const extend = AddressLookupTableProgram.extendLookupTable({
      payer: publicKey,
      authority: publicKey,
      lookupTable: table,
      addresses,
    });
    await this.#send([create, extend]);
    // The addresses count from the slot after the one that added them.
    const from = await this.connection.getSlot('confirmed');
    await eventually(async () => {
      if ((await this.connection.getSlot('confirmed')) <= from + 1) throw new Error('the table is too new');
    });
    const known = await this.connection.getAddressLookupTable(table);
    if (known.value === null) throw new Error('the lookup table is missing');
    const transfer = SystemProgram.transfer({ fromPubkey: publicKey, toPubkey, lamports: LAMPORTS_PER_SOL });
    const signature = await this.#sendVersion0([transfer], [known.value]);
    const slot = await eventually(async () => {
      const { value } = await this.connection.getSignatureStatus(signature);
      if (value?.confirmationStatus !== 'finalized') throw new Error(`${signature} is not final`);
      return value.slot;
    });
    return { signature, lookedUp: toPubkey.toBase58(), slot };
  }

  /** The chain's own vote account changes with every block. */
  async votes(): Promise<{ readonly program: string; readonly bytes: string }> {
    const [vote] = await this.connection.getProgramAccounts(VoteProgram.programId);
    if (vote === undefined) throw new Error('the chain has no vote account');
    const version = vote.account.data.subarray(0, VOTE_VERSION_BYTES);
    return { program: VoteProgram.programId.toBase58(), bytes: bs58.encode(version) };
  }

  #sendVersion0(instructions: TransactionInstruction[], tables: AddressLookupTableAccount[]): Promise<string> {
    return this.#landed((recentBlockhash) => {
      const message = new TransactionMessage({ payerKey: this.payer.publicKey, recentBlockhash, instructions });
      const transaction = new VersionedTransaction(message.compileToV0Message(tables));
      transaction.sign([this.payer]);
      return transaction.serialize();
    });
  }

  #send(instructions: readonly TransactionInstruction[]): Promise<string> {
    return this.#landed((recentBlockhash) => {
      const transaction = new Transaction({ recentBlockhash, feePayer: this.payer.publicKey }).add(...instructions);
      transaction.sign(this.payer);
      return transaction.serialize();
    });
  }

  /** A busy node loses transactions: each is sent again, and made anew when its blockhash is too old. */
  #landed(make: (blockhash: string) => Uint8Array): Promise<string> {
    return eventually(async () => {
      const { blockhash } = await this.connection.getLatestBlockhash('confirmed');
      const bytes = make(blockhash);
      const send = () => this.connection.sendRawTransaction(bytes, { skipPreflight: true, maxRetries: 0 });
      return this.#confirmed(await send(), send);
    });
  }

  /** Rejects when it is not confirmed while its blockhash is good. */
  async #confirmed(signature: string, again: () => Promise<unknown>): Promise<string> {
    const deadlineMs = Date.now() + BLOCKHASH_MS;
    for (let polls = 1; Date.now() < deadlineMs; polls++) {
      const { value } = await this.connection.getSignatureStatus(signature);
      if (value?.confirmationStatus === 'confirmed' || value?.confirmationStatus === 'finalized') return signature;
      await sleep(POLL_MS);
      if (polls % POLLS_PER_SEND === 0) await again();
    }
    throw new Error(`${signature} is not confirmed`);
  }
}
