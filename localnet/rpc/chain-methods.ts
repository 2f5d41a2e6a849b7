// JSON-RPC calls about the chain: slots, heights, blockhashes, epochs, the node's identity and fees.

import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import type { ChainView } from '../ledger/view.ts';
import { BLOCKHASH_AGE_BLOCKS } from '../ledger.ts';
import { withContext } from './account-methods.ts';
import type { Method } from './dispatch.ts';
import { invalidParams, invalidType } from './errors.ts';
import { type Config, commitmentOf, configOf, contextSlot, integerOf, keyOf, listOf, need } from './params.ts';
import { FEATURE_SET, SOLANA_CORE } from './version.ts';

/** Slots of an epoch on mainnet. */
const EPOCH_SLOTS = 432_000;
/** Rent of Solana: 3,480 lamports a byte-year, exempt at two years, 128 bytes of overhead. */
const LAMPORTS_PER_BYTE_YEAR = 3480;
const EXEMPT_YEARS = 2;
const ACCOUNT_OVERHEAD_BYTES = 128;
/** MAX_TX_ACCOUNT_LOCKS of Solana. */
const FEE_ADDRESSES_MAX = 128;
/** Slots for which a fee estimate stays constant. */
const FEE_STEP_SLOTS = 16;

export function chainMethods(view: ChainView): [string, Method][] {
  const identity = bs58.encode(createHash('sha256').update(`node of ${view.genesisHash}`).digest());
  const at = (value: unknown): { config: Config; slot: number; commitment: ReturnType<typeof commitmentOf> } => {
    const config = configOf(value);
    const commitment = commitmentOf(config);
    return { config, commitment, slot: contextSlot(view, config, commitment) };
  };

  const getLatestBlockhash: Method = (params) => {
    const { slot, commitment } = at(params[0]);
    const blockhash = view.blockhashAt(commitment);
    const lastValidBlockHeight = view.heightAt(commitment) + BLOCKHASH_AGE_BLOCKS;
    return withContext(slot, JSON.stringify({ blockhash, lastValidBlockHeight }));
  };

  const isBlockhashValid: Method = (params) => {
    need(params, 1);
    if (typeof params[0] !== 'string') throw invalidType(params[0], 'a string');
    const { slot, commitment } = at(params[1]);
    return withContext(slot, String(view.isBlockhashValid(params[0], commitment)));
  };

  const getEpochInfo: Method = (params) => {
    const { slot, commitment } = at(params[0]);
    return JSON.stringify({
      absoluteSlot: slot,
      blockHeight: view.heightAt(commitment),
      epoch: Math.floor(slot / EPOCH_SLOTS),
      slotIndex: slot % EPOCH_SLOTS,
      slotsInEpoch: EPOCH_SLOTS,
      transactionCount: view.transactionCount,
    });
  };

  const getRecentPrioritizationFees: Method = (params) => {
    const addresses = params[0] === undefined || params[0] === null ? [] : listOf(params[0]).map(keyOf);
    if (addresses.length > FEE_ADDRESSES_MAX) {
      throw invalidParams(`Too many inputs provided; max ${FEE_ADDRESSES_MAX}`);
    }
    const tip = view.slotAt('processed');
    const slots = [...view.history.range(tip - BLOCKHASH_AGE_BLOCKS + 1, tip)].map((block) => block.slot);
    return JSON.stringify(slots.map((slot) => ({ prioritizationFee: feeLevels(addresses, slot).low, slot })));
  };

  const getMinimumBalanceForRentExemption: Method = (params) => {
    need(params, 1);
    const bytes = ACCOUNT_OVERHEAD_BYTES + integerOf(params[0], 'usize');
    return String(bytes * LAMPORTS_PER_BYTE_YEAR * EXEMPT_YEARS);
  };

  return [
    ['getSlot', (params) => String(at(params[0]).slot)],
    ['getBlockHeight', (params) => String(view.heightAt(at(params[0]).commitment))],
    ['getLatestBlockhash', getLatestBlockhash],
    ['isBlockhashValid', isBlockhashValid],
    ['getGenesisHash', () => JSON.stringify(view.genesisHash)],
    ['getVersion', () => JSON.stringify({ 'feature-set': FEATURE_SET, 'solana-core': SOLANA_CORE })],
    ['getHealth', () => '"ok"'],
    ['getIdentity', () => JSON.stringify({ identity })],
    ['getSlotLeader', () => JSON.stringify(identity)],
    ['getEpochInfo', getEpochInfo],
    ['getEpochSchedule', () => JSON.stringify(EPOCH_SCHEDULE)],
    ['getTransactionCount', () => String(view.transactionCount)],
    ['getMinimumBalanceForRentExemption', getMinimumBalanceForRentExemption],
    ['getRecentPrioritizationFees', getRecentPrioritizationFees],
    ['getPriorityFeeEstimate', (params) => priorityFeeEstimate(view, params)],
  ];
}

const EPOCH_SCHEDULE = {
  firstNormalEpoch: 0,
  firstNormalSlot: 0,
  leaderScheduleSlotOffset: EPOCH_SLOTS,
  slotsPerEpoch: EPOCH_SLOTS,
  warmup: false,
};

export interface FeeLevels {
  readonly min: number;
  readonly low: number;
  readonly medium: number;
  readonly high: number;
  readonly veryHigh: number;
  readonly unsafeMax: number;
}

/** Invented fee levels in micro-lamports per compute unit: deterministic by keys and slot, and slowly changing. */
function feeLevels(accountKeys: readonly string[], slot: number): FeeLevels {
  const step = Math.floor(slot / FEE_STEP_SLOTS);
  const digest = createHash('sha256')
    .update([...accountKeys].sort().join())
    .update(`|${step}`)
    .digest();
  const low = 1 + (digest.readUInt16LE(0) % 2_000);
  const medium = low + 1_000 + (digest.readUInt16LE(2) % 20_000);
  const high = medium + 10_000 + (digest.readUInt32LE(4) % 200_000);
  const veryHigh = high + 100_000 + (digest.readUInt32LE(8) % 2_000_000);
  const unsafeMax = veryHigh + 1_000_000 + (digest.readUInt32LE(12) % 100_000_000);
  return { min: 0, low, medium, high, veryHigh, unsafeMax };
}

/** The provider call of Helius: all levels, or the requested one. */
function priorityFeeEstimate(view: ChainView, params: readonly unknown[]): string {
  need(params, 1);
  const request = configOf(params[0]);
  const options = configOf(request.options);
  let keys: readonly string[];
  if (request.accountKeys !== undefined) keys = listOf(request.accountKeys).map(keyOf);
  else if (typeof request.transaction === 'string') keys = [request.transaction];
  else throw invalidParams('Invalid request: either transaction or accountKeys must be provided');
  const levels = feeLevels(keys, view.slotAt('processed'));
  if (options.includeAllPriorityFeeLevels === true) return JSON.stringify({ priorityFeeLevels: levels });
  const wanted = typeof options.priorityLevel === 'string' ? options.priorityLevel.toLowerCase() : 'medium';
  const found = Object.entries(levels).find(([name]) => name.toLowerCase() === wanted);
  if (found === undefined) throw invalidParams(`Invalid request: unknown priority level ${wanted}`);
  return JSON.stringify({ priorityFeeEstimate: found[1] });
}
