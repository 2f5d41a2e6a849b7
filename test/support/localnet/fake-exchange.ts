// A small exchange by script, for tests of the ledger and the RPC server. It has a few accounts of one program, two
// transactions a slot and one closed account, all computed from the slot number and the seed.

import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import type { ExchangeOptions } from '../../../localnet/exchange/index.ts';
import type {
  Exchange,
  LedgerAccount,
  LedgerBlock,
  LedgerTransaction,
  TruthEvent,
} from '../../../localnet/ledger-types.ts';

export const PROGRAM = key('program');
export const OTHER_PROGRAM = key('other program');
export const FIRST_SLOT = 1_000_001;
export const ACCOUNT_BYTES = 1000;
/** Accounts of kind 1 and kind 2 in turn: the first eight bytes name the kind. */
export const ACCOUNT_COUNT = 10;

export function key(name: string): string {
  return bs58.encode(createHash('sha256').update(name).digest());
}

export function signature(seed: number, slot: number, index: number): string {
  return bs58.encode(createHash('sha512').update(`${seed}|${slot}|${index}`).digest());
}

const accountKeys = Array.from({ length: ACCOUNT_COUNT }, (_, index) => key(`account ${index}`));

export function accountKey(index: number): string {
  return accountKeys[index] ?? key(`account ${index}`);
}

/** Kind at 0, index at 8, slot of the last write at 16, the rest zero but the last byte. */
export function accountData(index: number, slot: number): Buffer {
  const data = Buffer.alloc(ACCOUNT_BYTES);
  data.fill((index % 2) + 1, 0, 8);
  data.writeBigUInt64LE(BigInt(index), 8);
  data.writeBigUInt64LE(BigInt(slot), 16);
  data[ACCOUNT_BYTES - 1] = 7;
  return data;
}

/** Written once in the first block and closed in the third. */
export const SHORT_LIVED = key('short-lived');

export function createFakeExchange(options: ExchangeOptions, restored?: unknown): Exchange {
  const { seed, genesisTime } = options;
  let slot = typeof restored === 'number' ? restored : FIRST_SLOT - 1;
  const account = (index: number, at: number): LedgerAccount => ({
    pubkey: accountKey(index),
    owner: PROGRAM,
    lamports: 1_000_000 + index,
    data: accountData(index, at),
  });
  const transactions = (): LedgerTransaction[] => {
    const index = slot % ACCOUNT_COUNT;
    const first = [
      `Program ${PROGRAM} invoke [1]`,
      'Program log: Instruction: Write',
      `Program data: ${eventData(slot)}`,
    ];
    const last = [`Program ${PROGRAM} consumed 1000 of 200000 compute units`, `Program ${PROGRAM} success`];
    const shortLived = { pubkey: SHORT_LIVED, owner: PROGRAM, lamports: 1, data: accountData(99, slot) };
    const extra =
      slot === FIRST_SLOT ? [shortLived] : slot === FIRST_SLOT + 2 ? [{ ...shortLived, data: Buffer.alloc(0) }] : [];
    return [
      {
        signature: signature(seed, slot, 0),
        err: null,
        logMessages: [...first, ...last],
        accountKeys: [key('payer'), accountKey(index), PROGRAM],
        writes: [account(index, slot), ...extra],
      },
      {
        signature: signature(seed, slot, 1),
        err: { InstructionError: [0, { Custom: 6000 }] },
        logMessages: [
          `Program ${OTHER_PROGRAM} invoke [1]`,
          `Program ${PROGRAM} invoke [2]`,
          `Program ${PROGRAM} success`,
          `Program ${OTHER_PROGRAM} failed: custom program error: 0x1770`,
        ],
        accountKeys: [key('payer'), OTHER_PROGRAM, PROGRAM],
        writes: [],
      },
    ];
  };
  const truth = (at: number): TruthEvent => ({
    signature: signature(seed, at, 0),
    index: 0,
    slot: at,
    name: 'WriteRecord',
    data: { slot: at },
  });
  return {
    genesis: () => Array.from({ length: ACCOUNT_COUNT }, (_, index) => account(index, FIRST_SLOT - 1)),
    branch: () => createFakeExchange({ ...options, seed: seed + 1_000 }, slot),
    nextBlock: (at = slot + 1): LedgerBlock => {
      slot = at;
      const blockTime = genesisTime + Math.floor(((slot - FIRST_SLOT) * 2) / 5);
      return { slot, blockTime, transactions: transactions() };
    },
    restingOrders: () => [],
    markets: () => [],
    vaults: () => [],
    events: (from, limit) => {
      const last = Math.min(slot, FIRST_SLOT + from + limit - 1);
      return Array.from({ length: Math.max(0, last - FIRST_SLOT - from + 1) }, (_, i) => truth(FIRST_SLOT + from + i));
    },
    eventCounts: () => ({ WriteRecord: slot - FIRST_SLOT + 1 }),
    snapshot: () => slot,
  };
}

function eventData(slot: number): string {
  const data = Buffer.alloc(16, 9);
  data.writeBigUInt64LE(BigInt(slot), 8);
  return data.toString('base64');
}
