// The first aggregator, in both versions of its API: v1 quotes and then builds a transaction; v2 answers one request with the
// quote and its instructions. docs/internals/swaps.md has the rules.

import { amountOf, type HttpOptions, instructionOf, jsonOf, listOf, type Members, refuseErrors } from './http.ts';
import { decompile, type LoadTables } from './transaction.ts';
import {
  type Aggregator,
  MAX_ACCOUNTS,
  type QuoteRequest,
  SLIPPAGE_BPS,
  SwapError,
  type SwapMode,
  SwapOptionError,
  type SwapQuote,
  type SwapRoute,
} from './types.ts';

export type JupiterApiVersion = 'v1' | 'v2';

export interface JupiterOptions extends HttpOptions {
  /** Default https://api.jup.ag/swap. Only the known hosts get the version appended. */
  readonly url?: string;
  /** Default `v1`. */
  readonly apiVersion?: JupiterApiVersion;
  /** Sent as `x-api-key`. */
  readonly apiKey?: string;
  /** Loads the lookup tables of a v1 transaction, so that it can be taken apart. */
  readonly loadTables?: LoadTables;
}

const URL_DEFAULT = 'https://api.jup.ag/swap';
const VERSIONED_HOSTS: ReadonlySet<string> = new Set([URL_DEFAULT, 'https://lite-api.jup.ag/swap']);
const ROUTE_FIELDS = ['inputMint', 'outputMint', 'inAmount', 'outAmount', 'swapMode', 'slippageBps', 'routePlan'];
/** Fields of a v2 quote that its instructions depend on. */
const BOUND_FIELDS = ['inputMint', 'outputMint', 'inAmount', 'outAmount', 'swapMode', 'slippageBps'] as const;

export class JupiterClient implements Aggregator {
  readonly apiVersion: JupiterApiVersion;
  readonly #options: JupiterOptions;
  readonly #base: string;
  /** Wallet and bound values of each v2 quote. */
  readonly #bound = new WeakMap<object, { readonly wallet: string; readonly values: string }>();

  constructor(options: JupiterOptions = {}) {
    const { url = URL_DEFAULT, apiVersion = 'v1' } = options;
    const plain = url.replace(/\/+$/, '');
    this.apiVersion = apiVersion;
    this.#options = options;
    this.#base = VERSIONED_HOSTS.has(plain) ? `${plain}/${apiVersion}` : plain;
  }

  /** A quote. Throws SwapError for options that this version of the API would ignore, and for a refusal. */
  async getQuote(request: QuoteRequest): Promise<SwapQuote> {
    return this.apiVersion === 'v2' ? this.#build(request) : this.#quote(request);
  }

  async getRoute(quote: SwapQuote, userPublicKey: string): Promise<SwapRoute> {
    return this.apiVersion === 'v2' ? this.#builtRoute(quote, userPublicKey) : this.#swapRoute(quote, userPublicKey);
  }

  async #quote(request: QuoteRequest): Promise<SwapQuote> {
    const { inputMint, outputMint, amount, slippageBps = SLIPPAGE_BPS, swapMode = 'ExactIn' } = request;
    const { onlyDirectRoutes = false, maxAccounts = MAX_ACCOUNTS, excludeDexes = [], autoSlippage = false } = request;
    if (autoSlippage && (request.maxAutoSlippageBps === undefined || request.usdEstimate === undefined)) {
      throw new SwapOptionError('autoSlippage needs maxAutoSlippageBps and usdEstimate');
    }
    const query = new URLSearchParams({
      inputMint,
      outputMint,
      amount: String(amount),
      slippageBps: String(autoSlippage ? 0 : slippageBps),
      swapMode,
      onlyDirectRoutes: String(onlyDirectRoutes),
    });
    if (swapMode !== 'ExactOut') query.set('maxAccounts', String(maxAccounts));
    if (autoSlippage) {
      query.set('autoSlippage', 'true');
      query.set('maxAutoSlippageBps', String(request.maxAutoSlippageBps));
      query.set('autoSlippageCollisionUsdValue', String(request.usdEstimate));
    }
    if (excludeDexes.length > 0) query.set('excludeDexes', excludeDexes.join());
    return quoteOf(await this.#get(`/quote?${query}`, 'the quote'));
  }

  async #swapRoute(quote: SwapQuote, userPublicKey: string): Promise<SwapRoute> {
    const { slippageBps, route: quoteResponse } = quote;
    const response = await this.#fetch('/swap', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ quoteResponse, userPublicKey, slippageBps }),
    });
    const body = await jsonOf(response, 'the swap');
    refuseErrors(body, 'the swap');
    if (typeof body.swapTransaction !== 'string') throw new SwapError('the answer has no swapTransaction');
    return decompile(body.swapTransaction, this.#options.loadTables);
  }

  async #build(request: QuoteRequest): Promise<SwapQuote> {
    const { inputMint, outputMint, amount, userPublicKey, slippageBps = SLIPPAGE_BPS } = request;
    const { swapMode = 'ExactIn', maxAccounts = MAX_ACCOUNTS, excludeDexes = [] } = request;
    // The build request ignores these silently, so the swap would be another one than asked for.
    if (request.autoSlippage) throw new SwapOptionError('autoSlippage is not supported by v2 of the API');
    if (request.onlyDirectRoutes) throw new SwapOptionError('onlyDirectRoutes is not supported by v2 of the API');
    if (swapMode !== 'ExactIn')
      throw new SwapOptionError(`swapMode ${swapMode} is not supported by v2 of the API: use ExactIn`);
    if (!userPublicKey) throw new SwapOptionError('userPublicKey is required by v2 of the API');
    const query = new URLSearchParams({
      inputMint,
      outputMint,
      amount: String(amount),
      slippageBps: String(slippageBps),
      taker: userPublicKey,
      maxAccounts: String(maxAccounts),
    });
    if (excludeDexes.length > 0) query.set('excludeDexes', excludeDexes.join());
    const body = await this.#get(`/build?${query}`, 'the build');
    if (body.swapInstruction === undefined || body.swapInstruction === null || !Array.isArray(body.setupInstructions)) {
      throw new SwapError('the answer has no build instructions');
    }
    const quote = quoteOf(body);
    this.#bound.set(body, { wallet: userPublicKey, values: boundValues(quote) });
    return quote;
  }

  #builtRoute(quote: SwapQuote, userPublicKey: string): SwapRoute {
    const body = quote.route as Members;
    const bound = this.#bound.get(body);
    if (!bound) throw new SwapError('the quote is not one of this client');
    if (bound.wallet !== userPublicKey) throw new SwapError('the quote is bound to another wallet');
    if (bound.values !== boundValues(quote)) throw new SwapError('the quote was changed: fetch a new one');
    const cleanup = body.cleanupInstruction ? [body.cleanupInstruction] : [];
    const values = [
      ...listOf(body.computeBudgetInstructions ?? [], 'computeBudgetInstructions'),
      ...listOf(body.setupInstructions, 'setupInstructions'),
      body.swapInstruction,
      ...cleanup,
    ];
    const tables = (body.addressesByLookupTableAddress ?? {}) as Members;
    return { instructions: values.map(instructionOf), lookupTables: Object.keys(tables) };
  }

  async #get(path: string, what: string): Promise<Members> {
    const body = await jsonOf(await this.#fetch(path, {}), what);
    refuseErrors(body, what);
    for (const name of ROUTE_FIELDS) {
      if (body[name] === undefined || body[name] === null) throw new SwapError(`the answer has no ${name}`);
    }
    return body;
  }

  #fetch(path: string, init: RequestInit): Promise<Response> {
    const { fetch: send = globalThis.fetch, apiKey } = this.#options;
    const key = apiKey === undefined ? {} : { 'x-api-key': apiKey };
    return send(this.#base + path, { ...init, headers: { ...(init.headers as Record<string, string>), ...key } });
  }
}

function quoteOf(body: Members): SwapQuote {
  return {
    inputMint: String(body.inputMint),
    outputMint: String(body.outputMint),
    inAmount: amountOf(body.inAmount, 'inAmount'),
    outAmount: amountOf(body.outAmount, 'outAmount'),
    swapMode: body.swapMode as SwapMode,
    slippageBps: Number(body.slippageBps),
    route: body,
  };
}

/** Inputs of the instructions of a v2 quote: the quote as given, and its answer. */
function boundValues(quote: SwapQuote): string {
  const body = quote.route as Members;
  return JSON.stringify(BOUND_FIELDS.map((name) => [String(quote[name]), String(body[name])]));
}
