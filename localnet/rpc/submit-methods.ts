// JSON-RPC calls that take transactions: simulate, send, and the faucet.

import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import type { Cluster } from '../cluster.ts';
import { decodeWire, hasValidSignatures, signatureOfWire } from '../exchange/index.ts';
import type { Commitment, Ledger } from '../ledger.ts';
import type { SimulatedTransaction, Submission, Submissions } from '../ledger-types.ts';
import { accountJson, formatOf } from './account-json.ts';
import { withContext } from './account-methods.ts';
import type { Method } from './dispatch.ts';
import { invalidParams, invalidType, METHOD_NOT_FOUND, RpcError } from './errors.ts';
import {
  type Config,
  commitmentOf,
  configOf,
  contextSlot,
  integerOf,
  integerOr,
  keyOf,
  listOf,
  need,
  unknownVariant,
} from './params.ts';

/** Codes of a node: preflight failed, and a signature does not verify. */
const PREFLIGHT_FAILURE = -32002;
const SIGNATURE_FAILURE = -32003;
/** Transactions that wait for one block. A node drops further ones. */
const WAITING_MAX = 1_000;
/** MAX_BASE64_SIZE of Solana: a packet's 1,232 bytes in base64. */
const ENCODED_MAX = 1644;
const SIMULATED_ACCOUNTS_MAX = 64;

type Wire = ReturnType<typeof decodeWire>;

export function submitMethods(cluster: Cluster): [string, Method][] {
  const { ledger, exchange } = cluster;
  const submissions = (): Submissions => {
    if (exchange.submissions === undefined) throw new RpcError(METHOD_NOT_FOUND, 'Method not found');
    return exchange.submissions;
  };

  const sendTransaction: Method = (params) => {
    need(params, 1);
    const config = configOf(params[1]);
    const { bytes, transaction } = wireOf(params[0], config, 'base58');
    const signature = signatureOfWire(transaction);
    const { simulate } = submissions();
    if (!hasValidSignatures(transaction)) {
      throw new RpcError(SIGNATURE_FAILURE, 'Transaction signature verification failure');
    }
    if (config.skipPreflight !== true) {
      const commitment = preflightCommitment(config);
      contextSlot(ledger, config, commitment);
      const refused = refusalOf(ledger, transaction, commitment);
      throwFailed(refused ?? simulate(bytes));
    }
    if (refusalOf(ledger, transaction, 'processed') === null) submit(cluster, bytes, signature);
    return JSON.stringify(signature);
  };

  const simulateTransaction: Method = (params) => {
    need(params, 1);
    const config = configOf(params[1]);
    const { bytes, transaction } = wireOf(params[0], config, 'base58');
    const commitment = commitmentOf(config);
    const slot = contextSlot(ledger, config, commitment);
    const { simulate } = submissions();
    const replaces = config.replaceRecentBlockhash === true;
    if (config.sigVerify === true) {
      if (replaces) throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
      if (!hasValidSignatures(transaction))
        throw new RpcError(SIGNATURE_FAILURE, 'Transaction signature verification failure');
    }
    const refused = replaces ? null : refusalOf(ledger, transaction, commitment);
    const result = refused ?? simulate(bytes);
    const blockhash = ledger.blockhashAt(commitment);
    const replacement = { blockhash, lastValidBlockHeight: ledger.heightAt(commitment) + 150 };
    return withContext(slot, simulationJson(result, ledger, config, replaces ? replacement : null));
  };

  const requestAirdrop: Method = (params) => {
    need(params, 2);
    const wallet = keyOf(params[0]);
    const lamports = BigInt(integerOf(params[1]));
    submissions();
    return JSON.stringify(fundingSignature(cluster, { wallet, lamports, tokens: [], openAccount: false }));
  };

  const fund: Method = (params) => {
    const config = configOf(params[0]);
    const tokens =
      config.tokens === undefined ? [] : listOf(config.tokens).map((one) => tokensOf(configOf(one), submissions()));
    const wish = {
      wallet: keyOf(config.wallet),
      lamports: BigInt(integerOr(config.lamports, 0)),
      tokens,
      openAccount: config.openAccount === true,
    };
    return JSON.stringify({ signature: fundingSignature(cluster, wish) });
  };

  return [
    ['sendTransaction', sendTransaction],
    ['simulateTransaction', simulateTransaction],
    ['requestAirdrop', requestAirdrop],
    ['localnet_fund', fund],
    ['localnet_lookupTable', () => JSON.stringify(submissions().lookupTable)],
  ];
}

/** Bytes of a transaction parameter, and the decoded transaction. */
function wireOf(value: unknown, config: Config, otherwise: string): { bytes: Uint8Array; transaction: Wire } {
  if (typeof value !== 'string') throw invalidType(value, 'a string');
  const encoding = config.encoding ?? otherwise;
  if (encoding !== 'base58' && encoding !== 'base64') throw unknownVariant(String(encoding), ['base58', 'base64']);
  if (value.length > ENCODED_MAX) {
    throw invalidParams(
      `${encoding} encoded transaction too large: ${value.length} bytes (max: encoded/raw 1644/1232)`,
    );
  }
  const bytes = encoding === 'base64' ? Buffer.from(value, 'base64') : bs58.decodeUnsafe(value);
  if (bytes === undefined) throw invalidParams('invalid base58 encoding');
  try {
    return { bytes, transaction: decodeWire(bytes) };
  } catch (error) {
    throw invalidParams(error instanceof Error ? error.message : String(error));
  }
}

/** Preflight reads at `finalized` by default. */
function preflightCommitment(config: Config): Commitment {
  return commitmentOf({ commitment: config.preflightCommitment });
}

/** Why the runtime would not take the transaction at all: an old blockhash, or a signature that it has already processed. */
function refusalOf(ledger: Ledger, transaction: Wire, commitment: Commitment): SimulatedTransaction | null {
  if (ledger.history.transaction(signatureOfWire(transaction)) !== null) {
    return refused('AlreadyProcessed', 'This transaction has already been processed');
  }
  const { recentBlockhash } = transaction.message;
  // A node knows newer blockhashes than the level it reads at.
  const isKnown =
    ledger.isBlockhashValid(recentBlockhash, commitment) || ledger.isBlockhashValid(recentBlockhash, 'processed');
  return isKnown ? null : refused('BlockhashNotFound', 'Blockhash not found');
}

function refused(err: string, text: string): SimulatedTransaction {
  return { err, text, logMessages: [], unitsConsumed: 0, writes: [] };
}

function throwFailed({ err, text, logMessages, unitsConsumed }: SimulatedTransaction): void {
  if (err === null) return;
  const data = { accounts: null, err, logs: logMessages, returnData: null, unitsConsumed };
  throw new RpcError(PREFLIGHT_FAILURE, `Transaction simulation failed: ${text}`, data);
}

function submit(cluster: Cluster, wire: Uint8Array, signature: string): void {
  const isWaiting = cluster.submitted.some(
    (one) => one.kind === 'transaction' && signatureOfWire(decodeWire(one.wire)) === signature,
  );
  if (!isWaiting && cluster.submitted.length < WAITING_MAX) cluster.submit({ kind: 'transaction', wire });
}

type Wish = Omit<Extract<Submission, { kind: 'fund' }>, 'kind' | 'signature'>;

function fundingSignature(cluster: Cluster, wish: Wish): string {
  const { ledger, submitted } = cluster;
  const seed = `${ledger.genesisHash}|fund|${ledger.tipSlot}|${submitted.length}|${wish.wallet}`;
  const signature = bs58.encode(createHash('sha512').update(seed).digest());
  cluster.submit({ kind: 'fund', signature, ...wish });
  return signature;
}

function tokensOf(config: Config, { spotMarkets }: Submissions) {
  const spotMarketIndex = integerOf(config.spotMarketIndex);
  if (spotMarketIndex >= spotMarkets) throw invalidParams(`Invalid spotMarketIndex; max ${spotMarkets - 1}`);
  const amount = typeof config.amount === 'string' && /^\d{1,20}$/.test(config.amount) ? BigInt(config.amount) : null;
  if (amount === null) throw invalidType(config.amount, 'a string of digits');
  return { spotMarketIndex, amount };
}

function simulationJson(
  result: SimulatedTransaction,
  ledger: Ledger,
  config: Config,
  replacement: { readonly blockhash: string; readonly lastValidBlockHeight: number } | null,
): string {
  const wanted = config.accounts === undefined || config.accounts === null ? null : configOf(config.accounts);
  const members = {
    err: result.err,
    logs: result.logMessages,
    unitsConsumed: result.unitsConsumed,
    innerInstructions: null,
    returnData: null,
    ...(replacement === null ? {} : { replacementBlockhash: replacement }),
  };
  const accounts = wanted === null ? 'null' : simulatedAccounts(result, ledger, wanted);
  return `${JSON.stringify(members).slice(0, -1)},"accounts":${accounts}}`;
}

/** States after the transaction; the current ones of accounts that it did not write. */
function simulatedAccounts(result: SimulatedTransaction, ledger: Ledger, wanted: Config): string {
  const addresses = listOf(wanted.addresses).map(keyOf);
  if (addresses.length > SIMULATED_ACCOUNTS_MAX) throw invalidParams('Too many accounts provided');
  const format = formatOf(wanted, 'base64');
  const printed = addresses.map((address) => {
    const written = result.writes.find(({ pubkey }) => pubkey === address);
    const version = ledger.account(address, 'processed');
    if (written === undefined) return version === null ? 'null' : accountJson(version, format);
    const state = { ...written, data: Buffer.from(written.data), slot: ledger.tipSlot, writeVersion: 0, zstd: null };
    return accountJson(state, format);
  });
  return `[${printed.join(',')}]`;
}
