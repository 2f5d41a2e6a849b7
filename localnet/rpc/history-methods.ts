// Calls that read blocks and transactions.

import type { Commitment, Ledger, StoredBlock, StoredTransaction } from '../ledger.ts';
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
  need,
  signatureOf,
  stringsOf,
  unknownVariant,
} from './params.ts';
import { metaJson, statusJson, type TransactionEncoding, transactionJson } from './transaction-json.ts';

/** MAX_GET_CONFIRMED_SIGNATURES_FOR_ADDRESS2_LIMIT of Solana. */
const SIGNATURES_MAX = 1000;
/** MAX_GET_SIGNATURE_STATUSES_QUERY_ITEMS of Solana. */
const STATUSES_MAX = 256;
/** MAX_GET_CONFIRMED_BLOCKS_RANGE of Solana. */
const BLOCKS_MAX = 500_000;
/** Every transaction of the localnet has this version, as most of mainnet have. */
const TRANSACTION_VERSION = 0;

export function historyMethods(ledger: Ledger): [string, Method][] {
  const reached = (transaction: StoredTransaction, commitment: Commitment): boolean =>
    transaction.block.slot <= ledger.slotAt(commitment);

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
    const transaction = ledger.history.transaction(signature);
    if (transaction === null || !reached(transaction, commitment)) return 'null';
    checkVersion(config);
    const { slot, blockTime } = transaction.block;
    return JSON.stringify({ blockTime, ...fullJson(transaction, encoding, config), slot });
  };

  const getSignaturesForAddress: Method = (params) => {
    need(params, 1);
    const address = keyOf(params[0]);
    const config = configOf(params[1]);
    const limit = integerOr(config.limit, SIGNATURES_MAX);
    if (limit === 0 || limit > SIGNATURES_MAX) throw invalidParams(`Invalid limit; max ${SIGNATURES_MAX}`);
    const highestSlot = contextSlot(ledger, config, historyCommitmentOf(config));
    const before = optionalSignature(config.before);
    const until = optionalSignature(config.until);
    const found = ledger.history.mentioning(address, { before, until, limit, highestSlot });
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
    const signatures = stringsOf(params[0]).map(signatureOf);
    if (signatures.length > STATUSES_MAX) throw invalidParams(`Too many inputs provided; max ${STATUSES_MAX}`);
    const tip = ledger.slotAt('processed');
    const statuses = signatures.map((signature) => {
      const transaction = ledger.history.transaction(signature);
      if (transaction === null || !reached(transaction, 'processed')) return null;
      const { slot, height } = transaction.block;
      const confirmationStatus = statusOf(transaction);
      const confirmations = confirmationStatus === 'finalized' ? null : ledger.heightAt('processed') - height;
      return { confirmationStatus, confirmations, err: transaction.err, slot, status: statusJson(transaction.err) };
    });
    return withContext(tip, JSON.stringify(statuses));
  };

  const getBlock: Method = (params) => {
    need(params, 1);
    const slot = integerOf(params[0]);
    const config = encodedConfig(params[1]);
    const encoding = encodingOf(config);
    const block = availableBlock(ledger, slot, historyCommitmentOf(config));
    return JSON.stringify({
      blockHeight: block.height,
      blockTime: block.blockTime,
      blockhash: block.blockhash,
      parentSlot: block.parentSlot,
      previousBlockhash: block.previousBlockhash,
      ...(config.rewards === false ? {} : { rewards: [] }),
      ...blockTransactions(block, encoding, config),
    });
  };

  const getBlockTime: Method = (params) => {
    need(params, 1);
    const slot = integerOf(params[0]);
    if (slot === ledger.genesisSlot) return String(ledger.genesisTime);
    return String(availableBlock(ledger, slot, 'processed').blockTime);
  };

  const getBlocks: Method = (params) => {
    need(params, 1);
    const from = integerOf(params[0]);
    const named = typeof params[1] === 'number';
    const commitment = historyCommitmentOf(configOf(named ? params[2] : (params[2] ?? params[1])));
    const top = ledger.slotAt(commitment);
    const to = named ? Math.min(integerOf(params[1]), top) : top;
    if (to - from > BLOCKS_MAX) throw invalidParams(`Slot range too large; max ${BLOCKS_MAX}`);
    return JSON.stringify([...ledger.history.range(from, to)].map((block) => block.slot));
  };

  const getBlocksWithLimit: Method = (params) => {
    need(params, 2);
    const from = integerOf(params[0]);
    const limit = integerOf(params[1]);
    if (limit > BLOCKS_MAX) throw invalidParams(`Limit too large; max ${BLOCKS_MAX}`);
    const top = ledger.slotAt(historyCommitmentOf(configOf(params[2])));
    return JSON.stringify([...ledger.history.range(from, top, limit)].map((block) => block.slot));
  };

  const oldestSlot: Method = () => String(ledger.history.oldest()?.slot ?? ledger.genesisSlot);

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

/** The old form of these calls gives the encoding alone. */
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

function fullJson(transaction: StoredTransaction, encoding: TransactionEncoding, config: Config): object {
  const version = typeof config.maxSupportedTransactionVersion === 'number' ? { version: TRANSACTION_VERSION } : {};
  return {
    meta: metaJson(transaction, encoding),
    transaction: transactionJson(transaction, encoding),
    ...version,
  };
}

function availableBlock(ledger: Ledger, slot: number, commitment: Commitment): StoredBlock {
  const block = ledger.history.block(slot);
  if (block !== null && slot <= ledger.slotAt(commitment)) return block;
  const oldest = ledger.history.oldest()?.slot ?? ledger.genesisSlot;
  if (slot > ledger.slotAt(commitment)) {
    throw new RpcError(BLOCK_NOT_AVAILABLE, `Block not available for slot ${slot}`);
  }
  if (slot < oldest) {
    throw new RpcError(
      BLOCK_CLEANED_UP,
      `Block ${slot} cleaned up, does not exist on node. First available block: ${oldest}`,
    );
  }
  throw new RpcError(SLOT_SKIPPED, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);
}

function blockTransactions(block: StoredBlock, encoding: TransactionEncoding, config: Config): object {
  const details = config.transactionDetails ?? 'full';
  if (details === 'none') return {};
  if (details === 'signatures') return { signatures: block.transactions.map(({ signature }) => signature) };
  if (details !== 'full') throw unknownVariant(String(details), ['full', 'signatures', 'none']);
  if (block.transactions.length > 0) checkVersion(config);
  return { transactions: block.transactions.map((transaction) => fullJson(transaction, encoding, config)) };
}
