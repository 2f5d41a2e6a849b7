// Servers that answer as the public APIs of the two aggregators do, errors included.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encode } from '@msgpack/msgpack';
import {
  type AddressLookupTableAccount,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';

export const ROUTER = Keypair.fromSeed(new Uint8Array(32).fill(3)).publicKey;
const TOKEN = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const ASSOCIATED = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const BLOCKHASH = new PublicKey(new Uint8Array(32).fill(1)).toBase58();

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown> | null;
}

/** The instructions that a router sends: its own, and those that the exchange does not allow inside the bracket. */
function routerInstructions(taker: PublicKey, mints: readonly PublicKey[], accounts: number): TransactionInstruction[] {
  const other = (index: number) => Keypair.fromSeed(new Uint8Array(32).fill(100 + index)).publicKey;
  const creation = (mint: PublicKey) =>
    new TransactionInstruction({
      programId: ASSOCIATED,
      keys: [taker, other(40), taker, mint].map((pubkey) => ({
        pubkey,
        isSigner: pubkey === taker,
        isWritable: false,
      })),
      data: Buffer.of(1),
    });
  return [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 }),
    ...mints.map(creation),
    SystemProgram.transfer({ fromPubkey: taker, toPubkey: other(41), lamports: 5 }),
    new TransactionInstruction({ programId: TOKEN, keys: [], data: Buffer.of(17) }),
    new TransactionInstruction({
      programId: ROUTER,
      keys: [
        { pubkey: taker, isSigner: true, isWritable: false },
        ...Array.from({ length: accounts }, (_, index) => ({
          pubkey: other(index),
          isSigner: false,
          isWritable: true,
        })),
      ],
      data: Buffer.from([9, 8, 7]),
    }),
  ];
}

export class Aggregators {
  readonly asked: Asked[] = [];
  /** Replaces an answer: status and JSON body. */
  answer: { readonly status: number; readonly body: object } | null = null;
  routeAccounts = 4;
  /** Replaces the router's own instruction: wallet, mints of input and output, amounts of both. */
  exchange:
    | ((taker: PublicKey, mints: readonly PublicKey[], amounts: readonly bigint[]) => TransactionInstruction)
    | null = null;
  tables: AddressLookupTableAccount[] = [];
  url = '';
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => void this.#respond(request, response));
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this.url;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '', 'http://x');
    const text = Buffer.concat(chunks).toString();
    const body = text === '' ? null : (JSON.parse(text) as Record<string, unknown>);
    const query = Object.fromEntries(url.searchParams);
    this.asked.push({ method: request.method ?? '', path: url.pathname, query, headers: request.headers, body });
    const json = (status: number, value: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (this.answer) json(this.answer.status, this.answer.body);
    else if (url.pathname === '/quote') this.#quote(query, json);
    else if (url.pathname === '/swap') json(200, { swapTransaction: this.#swap(body ?? {}) });
    else if (url.pathname === '/build') this.#build(query, json);
    else if (url.pathname === '/api/v1/quote/swap') {
      response.writeHead(200, { 'content-type': 'application/vnd.msgpack' });
      response.end(
        encode(
          this.#titan(
            query,
            (key) => key.toBytes(),
            (data) => data,
          ),
        ),
      );
    } else if (url.pathname === '/proxy') {
      json(
        200,
        this.#titan(
          body as Record<string, string>,
          (key) => key.toBase58(),
          (data) => [...data],
        ),
      );
    } else json(404, { error: 'not found' });
  }

  #instructions(taker: PublicKey, mints: readonly PublicKey[], amounts: readonly bigint[]): TransactionInstruction[] {
    const all = routerInstructions(taker, mints, this.routeAccounts);
    return this.exchange ? [...all.slice(0, -1), this.exchange(taker, mints, amounts)] : all;
  }

  #quote(query: Readonly<Record<string, string>>, json: (status: number, value: object) => void): void {
    const { inputMint = '', outputMint = '', amount = '', slippageBps, swapMode } = query;
    if (inputMint === outputMint) {
      json(400, {
        error: 'Input and output mints are not allowed to be equal',
        errorCode: 'CIRCULAR_ARBITRAGE_IS_DISABLED',
      });
    } else json(200, route(inputMint, outputMint, amount, Number(slippageBps), swapMode ?? 'ExactIn'));
  }

  #swap({ quoteResponse, userPublicKey }: Record<string, unknown>): string {
    const { inputMint, outputMint, inAmount, outAmount } = quoteResponse as Record<string, string>;
    const taker = new PublicKey(String(userPublicKey));
    const mints = [new PublicKey(inputMint ?? ''), new PublicKey(outputMint ?? '')];
    const message = new TransactionMessage({
      payerKey: taker,
      recentBlockhash: BLOCKHASH,
      instructions: this.#instructions(taker, mints, [BigInt(inAmount ?? 0), BigInt(outAmount ?? 0)]),
    }).compileToV0Message(this.tables);
    return Buffer.from(new VersionedTransaction(message).serialize()).toString('base64');
  }

  #build(query: Readonly<Record<string, string>>, json: (status: number, value: object) => void): void {
    const { inputMint = '', outputMint = '', amount = '', slippageBps, taker } = query;
    if (taker === undefined) {
      json(400, { code: 400, message: 'taker is required' });
      return;
    }
    const key = new PublicKey(taker);
    const mints = [new PublicKey(inputMint), new PublicKey(outputMint)];
    const amounts = [BigInt(amount), BigInt(amount) * 2n];
    const all = this.#instructions(key, mints, amounts).map(({ programId, keys, data }) => ({
      programId: programId.toBase58(),
      accounts: keys.map(({ pubkey, ...flags }) => ({ pubkey: pubkey.toBase58(), ...flags })),
      data: data.toString('base64'),
    }));
    json(200, {
      ...route(inputMint, outputMint, amount, Number(slippageBps), 'ExactIn'),
      computeBudgetInstructions: all.slice(0, 1),
      setupInstructions: all.slice(1, -1),
      swapInstruction: all.at(-1),
      cleanupInstruction: null,
      otherInstructions: [{ programId: ROUTER.toBase58(), accounts: [], data: 'AA==' }],
      tipInstruction: { programId: ROUTER.toBase58(), accounts: [], data: 'AQ==' },
      addressesByLookupTableAddress: Object.fromEntries(
        this.tables.map(({ key: table, state }) => [table.toBase58(), state.addresses.map(String)]),
      ),
    });
  }

  #titan(
    query: Readonly<Record<string, string>>,
    keyForm: (key: PublicKey) => unknown,
    dataForm: (data: Uint8Array) => unknown,
  ): object {
    const { inputMint = '', outputMint = '', amount = '', userPublicKey = '', slippageBps } = query;
    const taker = new PublicKey(userPublicKey);
    const mints = [new PublicKey(inputMint), new PublicKey(outputMint)];
    const amounts = [BigInt(amount), BigInt(amount) * 2n];
    const instructions = this.#instructions(taker, mints, amounts).map(({ programId, keys, data }) => ({
      p: keyForm(programId),
      a: keys.map(({ pubkey, isSigner, isWritable }) => ({ p: keyForm(pubkey), s: isSigner, w: isWritable })),
      d: dataForm(data),
    }));
    const quote = {
      inAmount: Number(amount),
      outAmount: Number(amount) * 2,
      slippageBps: Number(slippageBps),
      steps: [],
      instructions,
      addressLookupTables: this.tables.map(({ key }) => keyForm(key)),
    };
    return { id: 'q1', inputMint, outputMint, amount: Number(amount), quotes: { first: quote } };
  }
}

function route(inputMint: string, outputMint: string, amount: string, slippageBps: number, swapMode: string): object {
  const isIn = swapMode === 'ExactIn';
  return {
    inputMint,
    outputMint,
    inAmount: isIn ? amount : String(BigInt(amount) / 2n),
    outAmount: isIn ? String(BigInt(amount) * 2n) : amount,
    otherAmountThreshold: amount,
    swapMode,
    slippageBps,
    priceImpactPct: '0',
    routePlan: [{ percent: 100, swapInfo: { label: 'Pool', inputMint, outputMint } }],
    contextSlot: 5,
  };
}
