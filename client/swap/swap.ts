// The swap operation: a quote, its route between begin and end, and one transaction for the wallet to sign.

import type { VersionedTransaction } from '@solana/web3.js';
import type { Decoder } from '../accounts/index.ts';
import { addressesOf, COMPUTE_BUDGET_PROGRAM } from './addresses.ts';
import { bracket, filterRoute, type SwapReduceOnly } from './bracket.ts';
import { type LoadAccounts, swapAccounts } from './margin-accounts.ts';
import { compile, lookupTables } from './transaction.ts';
import {
  type Aggregator,
  SLIPPAGE_BPS,
  type SwapAccountMeta,
  SwapError,
  type SwapInstruction,
  type SwapMode,
  SwapOptionError,
  type SwapQuote,
} from './types.ts';

/** The exchange and the way to its accounts. */
export interface Exchange {
  /** Decoder of the exchange's IDL. Its program id decides all addresses. */
  readonly decoder: Decoder<object>;
  readonly load: LoadAccounts;
  /** Lookup tables of the exchange, base58. */
  readonly lookupTables?: readonly string[];
}

export interface TxParams {
  readonly computeUnits?: number;
  /** Micro-lamports per compute unit. */
  readonly computeUnitsPrice?: number;
}

export interface SwapParams {
  /** The unified client. */
  readonly swapClient?: Aggregator;
  /** A raw client of the first aggregator. */
  readonly jupiterClient?: Aggregator;
  /** Wallet that owns the account and signs, base58. */
  readonly authority: string;
  /** Default 0. */
  readonly subAccountId?: number;
  readonly inMarketIndex: number;
  readonly outMarketIndex: number;
  /** Token units: of the input for ExactIn, of the output for ExactOut. */
  readonly amount: bigint;
  /** Default 50. */
  readonly slippageBps?: number;
  /** Default `ExactIn`. */
  readonly swapMode?: SwapMode;
  /** Default false. */
  readonly onlyDirectRoutes?: boolean;
  /** The swap may only reduce the balance of the input or of the output. */
  readonly reduceOnly?: SwapReduceOnly;
  /** A quote fetched before. */
  readonly quote?: SwapQuote;
  readonly txParams?: TxParams;
  /** More accounts for both instructions, such as those of transfer hooks. */
  readonly extraAccounts?: readonly SwapAccountMeta[];
}

export interface PreparedSwap {
  readonly quote: SwapQuote;
  /** Everything in order: compute budget, token accounts, begin, the route, end. */
  readonly instructions: readonly SwapInstruction[];
  /** Lookup tables of exchange and route, base58. */
  readonly lookupTables: readonly string[];
}

const NO_QUOTE = 'Could not fetch swap quote. Please try again.';
const SET_UNIT_LIMIT = 2;
const SET_UNIT_PRICE = 3;

/** The instructions of a swap. Throws SwapError when nobody routes it. */
export async function prepareSwap(exchange: Exchange, params: SwapParams): Promise<PreparedSwap> {
  const aggregator = params.swapClient ?? params.jupiterClient;
  if (!aggregator) throw new SwapError('Either swapClient or jupiterClient must be provided');
  const { decoder, load, lookupTables: own = [] } = exchange;
  const { authority, subAccountId = 0, inMarketIndex, outMarketIndex, reduceOnly = null, txParams = {} } = params;
  const addresses = addressesOf(decoder.programId);
  const user = addresses.user(authority, subAccountId);
  const accounts = await swapAccounts(decoder, addresses, load, user, inMarketIndex, outMarketIndex);
  const { inMarket, outMarket } = accounts;
  const quote = params.quote ?? (await fetchQuote(aggregator, params, inMarket.mint, outMarket.mint));
  if (quote.inputMint !== inMarket.mint || quote.outputMint !== outMarket.mint) {
    throw new SwapError('the quote is for other tokens');
  }
  const route = await aggregator.getRoute(quote, authority);
  const swap = {
    programId: decoder.programId,
    addresses,
    authority,
    user,
    inMarket,
    outMarket,
    amountIn: amountIn(params, quote),
    reduceOnly,
    remaining: [...accounts.remaining, ...(params.extraAccounts ?? [])],
  };
  const instructions = [
    ...budget(txParams),
    ...bracket(swap, filterRoute(route.instructions, inMarket.mint, outMarket.mint)),
  ];
  return { quote, instructions, lookupTables: [...new Set([...own, ...route.lookupTables])] };
}

/** One unsigned transaction of a swap. Throws SwapError when it exceeds the size of a transaction. */
export async function swapTransaction(
  exchange: Exchange,
  params: SwapParams,
  blockhash: string,
): Promise<{ readonly quote: SwapQuote; readonly transaction: VersionedTransaction }> {
  const { quote, instructions, lookupTables: tables } = await prepareSwap(exchange, params);
  const loaded = await lookupTables(tables, exchange.load);
  return { quote, transaction: compile(params.authority, blockhash, instructions, loaded) };
}

async function fetchQuote(
  aggregator: Aggregator,
  { amount, authority, slippageBps = SLIPPAGE_BPS, swapMode = 'ExactIn', onlyDirectRoutes = false }: SwapParams,
  inputMint: string,
  outputMint: string,
): Promise<SwapQuote> {
  const request = { inputMint, outputMint, amount, userPublicKey: authority, slippageBps, swapMode, onlyDirectRoutes };
  const quote = await aggregator.getQuote(request).catch((cause: unknown) => {
    if (cause instanceof SwapOptionError) throw cause;
    throw new SwapError(NO_QUOTE, { cause });
  });
  // Raw clients may answer with nothing.
  if (!(quote as SwapQuote | null)) throw new SwapError(NO_QUOTE);
  return quote;
}

/** Amount that the vault lends. For ExactOut with a margin of 10 bps, because the input is known only roughly. */
function amountIn({ amount, swapMode }: SwapParams, quote: SwapQuote): bigint {
  return (swapMode ?? quote.swapMode) === 'ExactOut' ? (quote.inAmount * 1001n) / 1000n : amount;
}

function budget({ computeUnits, computeUnitsPrice }: TxParams): SwapInstruction[] {
  const of = (bytes: readonly number[]): SwapInstruction => ({
    programId: COMPUTE_BUDGET_PROGRAM,
    accounts: [],
    data: Uint8Array.from(bytes),
  });
  const limit = computeUnits === undefined ? [] : [of([SET_UNIT_LIMIT, ...littleEndian(BigInt(computeUnits), 4)])];
  const price =
    computeUnitsPrice === undefined ? [] : [of([SET_UNIT_PRICE, ...littleEndian(BigInt(computeUnitsPrice), 8)])];
  return [...limit, ...price];
}

function littleEndian(value: bigint, length: number): number[] {
  return Array.from({ length }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn));
}
