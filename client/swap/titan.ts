// The second aggregator: one request, answered in MessagePack (or in JSON by a proxy), with instructions by provider.

import { decode } from '@msgpack/msgpack';
import bs58 from 'bs58';
import { amountOf, type HttpOptions, jsonOf, listOf, type Members } from './http.ts';
import {
  type Aggregator,
  MAX_ACCOUNTS,
  type QuoteRequest,
  SLIPPAGE_BPS,
  SwapError,
  type SwapInstruction,
  type SwapMode,
  SwapOptionError,
  type SwapQuote,
  type SwapRoute,
} from './types.ts';

export interface TitanOptions extends HttpOptions {
  /** Default https://api.titan.exchange. */
  readonly url?: string;
  readonly authToken?: string;
  /** A proxy that takes the query as a JSON body by POST and answers in JSON. */
  readonly proxyUrl?: string;
  /** Bytes that the route may take. Default 857: a transaction less the bytes of begin and end. */
  readonly sizeConstraint?: number;
}

const URL_DEFAULT = 'https://api.titan.exchange';
const TRANSACTION_BYTES = 1232;
const BRACKET_BYTES = 375;

export class TitanClient implements Aggregator {
  readonly #options: TitanOptions;

  constructor(options: TitanOptions = {}) {
    this.#options = options;
  }

  /** The first quote of the answer. Throws SwapError without a wallet, and when there is no route. */
  async getQuote(request: QuoteRequest): Promise<SwapQuote> {
    const { inputMint, outputMint, amount, userPublicKey, slippageBps = SLIPPAGE_BPS, swapMode = 'ExactIn' } = request;
    if (!userPublicKey) throw new SwapOptionError('userPublicKey is required for Titan quotes');
    const { sizeConstraint = TRANSACTION_BYTES - BRACKET_BYTES } = this.#options;
    const query: Record<string, string> = {
      inputMint,
      outputMint,
      amount: String(amount),
      userPublicKey,
      slippageBps: String(slippageBps),
      swapMode,
      accountsLimitTotal: String(request.maxAccounts ?? MAX_ACCOUNTS),
      onlyDirectRoutes: String(request.onlyDirectRoutes ?? false),
      sizeConstraint: String(sizeConstraint),
    };
    if (request.excludeDexes?.length) query.excludeDexes = request.excludeDexes.join();
    const body = await this.#ask(query);
    const [first] = Object.values((body.quotes ?? {}) as Record<string, Members>);
    if (!first) throw new SwapError('No routes available');
    return {
      inputMint,
      outputMint,
      inAmount: amountOf(first.inAmount, 'inAmount'),
      outAmount: amountOf(first.outAmount, 'outAmount'),
      swapMode: swapMode satisfies SwapMode,
      slippageBps: Number(first.slippageBps ?? slippageBps),
      route: { wallet: userPublicKey, quote: first },
    };
  }

  /** The instructions that came with the quote. They are for the wallet that asked. */
  async getRoute({ route }: SwapQuote, userPublicKey: string): Promise<SwapRoute> {
    const { wallet, quote } = route as { readonly wallet: string; readonly quote: Members };
    if (wallet !== userPublicKey) throw new SwapError('the quote is bound to another wallet');
    const instructions = listOf(quote.instructions, 'instructions').map(instructionOf);
    if (instructions.length === 0) throw new SwapError('No routes available');
    const tables = Array.isArray(quote.addressLookupTables) ? quote.addressLookupTables : [];
    return { instructions, lookupTables: tables.map(keyOf) };
  }

  async #ask(query: Record<string, string>): Promise<Members> {
    const { fetch: send = globalThis.fetch, url = URL_DEFAULT, proxyUrl, authToken } = this.#options;
    if (proxyUrl !== undefined) {
      const headers = { 'content-type': 'application/json', accept: 'application/json' };
      return jsonOf(await send(proxyUrl, { method: 'POST', headers, body: JSON.stringify(query) }), 'the quote');
    }
    const headers: Record<string, string> = { accept: 'application/vnd.msgpack' };
    if (authToken !== undefined) headers.authorization = `Bearer ${authToken}`;
    const address = `${url.replace(/\/+$/, '')}/api/v1/quote/swap?${new URLSearchParams(query)}`;
    const response = await send(address, { headers });
    if (!response.ok)
      throw new SwapError(`the quote answered ${response.status}: ${(await response.text()).slice(0, 200)}`);
    const body = decode(new Uint8Array(await response.arrayBuffer()), { useBigInt64: true });
    if (typeof body !== 'object' || body === null) throw new SwapError('the answer is no MessagePack map');
    return body as Members;
  }
}

function instructionOf(value: unknown): SwapInstruction {
  const { p, a, d } = (value ?? {}) as Members;
  const accounts = listOf(a, 'accounts') as readonly Members[];
  return {
    programId: keyOf(p),
    accounts: accounts.map((account) => ({
      pubkey: keyOf(account.p),
      isSigner: account.s === true,
      isWritable: account.w === true,
    })),
    data: bytesOf(d),
  };
}

/** A key is bytes in MessagePack, and base58 or a list of numbers in JSON. */
function keyOf(value: unknown): string {
  return typeof value === 'string' ? value : bs58.encode(bytesOf(value));
}

function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return Uint8Array.from(value as number[]);
  if (typeof value === 'string') return Uint8Array.from(atob(value), (character) => character.charCodeAt(0));
  throw new SwapError('the answer has bytes of another shape');
}
