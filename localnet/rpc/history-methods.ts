// JSON-RPC calls that read blocks and transactions.

import type { ChainView } from '../ledger/view.ts';
import type { Commitment, StoredBlock, StoredTransaction } from '../ledger.ts';
import { withContext } from './account-methods.ts';
import type { Method } from './dispatch.ts';
import {
  BLOCK_CLEANED_UP,
  BLOCK_NOT_AVAILABLE,
  invalidParams,
  invalidType,
  RpcError,
  SLOT_SKIPPED,
  UNSUPPORTED_TRANSACTION_VERSION,
} from './errors.ts';
import {
  type Config,
  configOf,
  contextSlot,
  historyCommitmentOf,
  integerOf,
  integerOr,
  keyOf,
  listOf,
  need,
  signatureOf,
  unknownVariant,
} from './params.ts';
import { metaJson, statusJson, type TransactionEncoding, transactionJson } from './transaction-json.ts';

/** MAX_GET_CONFIRMED_SIGNATURES_FOR_ADDRESS2_LIMIT of Solana. */
const SIGNATURES_MAX = 1000;
/** MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS of Solana. */
const STATUSES_MAX = 256;
/** MAX_GET_CONFIRMED_BLOCKS_RANGE of Solana. */
const BLOCKS_MAX = 500_000;
/** Version of every transaction, like most on mainnet. */
const TRANSACTION_VERSION = 0;

export function historyMethods(view: ChainView): [string, Method][] {
  const reached = (transaction: StoredTransaction, commitment: Commitment): boolean =>
    view.reached(transaction.block, commitment);

  const statusOf = (transaction: StoredTransaction): Commitment => {
    if (reached(transaction, 'finalized')) return 'finalized';
    return reached(transaction, 'confirmed') ? 'confirmed' : 'processed';
  };

  const getTransaction: Method = (params) => {
    need(params, 1);
    const signature = signatureOf(params[0]);
    const config = encodedConfig(params[1]);
    const encoding = encodingOf(config);
    const commitment = historyCommitmentOf(config);
    const transaction = view.history.transaction(signature);
    if (transaction === null || !reached(transaction, commitment)) return 'null';
    checkVersion(config);
    const { slot, blockTime } = transaction.block;
    return JSON.stringify({ blockTime, ...fullJson(view, transaction, encoding, config), slot });
  };

  const getSignaturesForAddress: Method = (params) => {
    need(params, 1);
    const address = keyOf(params[0]);
    const config = configOf(params[1]);
    const limit = integerOr(config.limit, SIGNATURES_MAX);
    if (limit === 0 || limit > SIGNATURES_MAX) throw invalidParams(`Invalid limit; max ${SIGNATURES_MAX}`);
    const highestSlot = contextSlot(view, config, historyCommitmentOf(config));
    const before = optionalSignature(config.before);
    const until = optionalSignature(config.until);
    const found = view.history.mentioning(address, { before, until, limit, highestSlot });
    return JSON.stringify(
      found.map((transaction) => ({
        blockTime: transaction.block.blockTime,
        confirmationStatus: statusOf(transaction),
        err: transaction.err,
        memo: null,
        signature: transaction.signature,
        slot: transaction.block.slot,
      })),
    );
  };

  const getSignatureStatuses: Method = (params) => {
    need(params, 1);
    const signatures = listOf(params[0]).map(signatureOf);
    if (signatures.length > STATUSES_MAX) throw invalidParams(`Too many inputs provided; max ${STATUSES_MAX}`);
    const tip = view.slotAt('processed');
    const statuses = signatures.map((signature) => {
      const transaction = view.transaction(signature);
      if (transaction === null || !reached(transaction, 'processed')) return null;
      const { slot, height } = transaction.block;
      const confirmationStatus = statusOf(transaction);
      const confirmations = confirmationStatus === 'finalized' ? null : view.heightAt('processed') - height;
      return { confirmationStatus, confirmations, err: transaction.err, slot, status: statusJson(transaction.err) };
    });
    return withContext(tip, JSON.stringify(statuses));
  };

  const getBlock: Method = (params) => {
    need(params, 1);
    const slot = integerOf(params[0]);
    const config = encodedConfig(params[1]);
    const encoding = encodingOf(config);
    const block = availableBlock(view, slot, historyCommitmentOf(config));
    return JSON.stringify({
      blockHeight: block.height,
      blockTime: block.blockTime,
      blockhash: block.blockhash,
      parentSlot: block.parentSlot,
      previousBlockhash: block.previousBlockhash,
      ...(config.rewards === false ? {} : { rewards: [] }),
      ...blockTransactions(view, block, encoding, config),
    });
  };

  const getBlockTime: Method = (params) => {
    need(params, 1);
    const slot = integerOf(params[0]);
    if (slot === view.genesisSlot) return String(view.genesisTime);
    const bank = slot > view.slotAt('finalized') ? view.bankAt(slot) : availableBlock(view, slot, 'finalized');
    if (bank === null) throw blockNotAvailable(slot);
    return String(bank.blockTime);
  };

  const getBlocks: Method = (params) => {
    need(params, 1);
    const from = integerOf(params[0]);
    const named = typeof params[1] === 'number';
    const commitment = historyCommitmentOf(configOf(named ? params[2] : (params[2] ?? params[1])));
    const top = view.slotAt(commitment);
    const to = named ? Math.min(integerOf(params[1]), top) : top;
    if (to - from > BLOCKS_MAX) throw invalidParams(`Slot range too large; max ${BLOCKS_MAX}`);
    return JSON.stringify([...view.history.range(from, to)].map((block) => block.slot));
  };

  const getBlocksWithLimit: Method = (params) => {
    need(params, 2);
    const from = integerOf(params[0]);
    const limit = integerOf(params[1]);
    if (limit > BLOCKS_MAX) throw invalidParams(`Limit too large; max ${BLOCKS_MAX}`);
    const top = view.slotAt(historyCommitmentOf(configOf(params[2])));
    return JSON.stringify([...view.history.range(from, top, limit)].map((block) => block.slot));
  };

  const oldestSlot: Method = () => String(view.history.oldest()?.slot ?? view.genesisSlot);

  return [
    ['getTransaction', getTransaction],
    ['getSignaturesForAddress', getSignaturesForAddress],
    ['getSignatureStatuses', getSignatureStatuses],
    ['getBlock', getBlock],
    ['getBlocks', getBlocks],
    ['getBlocksWithLimit', getBlocksWithLimit],
    ['getBlockTime', getBlockTime],
    ['getFirstAvailableBlock', oldestSlot],
    ['minimumLedgerSlot', oldestSlot],
  ];
}

/** The old form of these calls has only the encoding. */
function encodedConfig(value: unknown): Config {
  return typeof value === 'string' ? { encoding: value } : configOf(value);
}

function encodingOf(config: Config): TransactionEncoding {
  const value = config.encoding ?? 'json';
  if (value === 'json' || value === 'jsonParsed' || value === 'base58' || value === 'base64') return value;
  if (value === 'binary') return 'base58';
  throw unknownVariant(String(value), ['binary', 'base64', 'base58', 'json', 'jsonParsed']);
}

function optionalSignature(value: unknown): string | null {
  return value === undefined || value === null ? null : signatureOf(value);
}

function checkVersion(config: Config): void {
  const known = config.maxSupportedTransactionVersion;
  if (known !== undefined && known !== null) {
    if (typeof known !== 'number') throw invalidType(known, 'u8');
    return;
  }
  throw new RpcError(
    UNSUPPORTED_TRANSACTION_VERSION,
    `Transaction version (${TRANSACTION_VERSION}) is not supported by the requesting client. Please try the request ` +
      `again with the following configuration parameter: "maxSupportedTransactionVersion": ${TRANSACTION_VERSION}`,
  );
}

function fullJson(
  { lookups }: ChainView,
  transaction: StoredTransaction,
  encoding: TransactionEncoding,
  config: Config,
): { readonly meta: object; readonly transaction: unknown } {
  const version = typeof config.maxSupportedTransactionVersion === 'number' ? { version: TRANSACTION_VERSION } : {};
  return {
    meta: metaJson(transaction, encoding, lookups),
    transaction: transactionJson(transaction, encoding, lookups),
    ...version,
  };
}

/** Above the root a node cannot distinguish a skipped slot from one that it has not seen. */
function availableBlock(view: ChainView, slot: number, commitment: Commitment): StoredBlock {
  const block = view.history.block(slot);
  if (block !== null && slot <= view.slotAt(commitment)) return block;
  if (slot > view.slotAt('finalized')) throw blockNotAvailable(slot);
  const oldest = view.history.oldest()?.slot ?? view.genesisSlot;
  if (slot < oldest) {
    throw new RpcError(
      BLOCK_CLEANED_UP,
      `Block ${slot} cleaned up, does not exist on node. First available block: ${oldest}`,
    );
  }
  throw new RpcError(SLOT_SKIPPED, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);
}

function blockNotAvailable(slot: number): RpcError {
  return new RpcError(BLOCK_NOT_AVAILABLE, `Block not available for slot ${slot}`);
}

function blockTransactions(view: ChainView, block: StoredBlock, encoding: TransactionEncoding, config: Config): object {
  const details = config.transactionDetails ?? 'full';
  if (details === 'none') return {};
  if (details === 'signatures') return { signatures: block.transactions.map(({ signature }) => signature) };
  if (details !== 'full') throw unknownVariant(String(details), ['full', 'signatures', 'none']);
  if (block.transactions.length > 0) checkVersion(config);
  const print = (transaction: StoredTransaction): object => {
    const full = fullJson(view, transaction, encoding, config);
    return config.rewards === false ? { ...full, meta: { ...full.meta, rewards: null } } : full;
  };
  return { transactions: block.transactions.map(print) };
}
