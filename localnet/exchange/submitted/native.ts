// The native programs that a transaction of the exchange also calls: compute budget, system, token and associated token
// accounts. Only the parts that such transactions need.

import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  ROUTER_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../keys.ts';
import { COMPUTE_UNITS_LIMIT, close, enter, leave, ledgerAccount, type Transaction, touch } from '../transaction.ts';
import { insufficientFunds, ProgramFailure } from './errors.ts';
import { associatedTokenAddress, tokenAccountOf } from './guests.ts';
import type { SubmittedInstruction, SubmittedTransaction } from './message.ts';
import { router } from './swap.ts';
import { giveLamports, takeLamports } from './wallets.ts';

const INVALID_DATA = 'invalid instruction data';
const MISSING_ACCOUNT = 'NotEnoughAccountKeys';
const MISSING_SIGNATURE = 'MissingRequiredSignature';

export interface Budget {
  /** Compute units that the transaction may use. */
  readonly units: number;
  /** Micro-lamports for each of them. */
  readonly price: bigint;
}

const SET_UNIT_LIMIT = 2;
const SET_UNIT_PRICE = 3;
const UNITS_PER_INSTRUCTION = 200_000;
const MICRO = 1_000_000n;

/** The budget of the compute-budget instructions. Unreadable ones count as absent. */
export function budgetOf(instructions: readonly SubmittedInstruction[]): Budget {
  let units: number | null = null;
  let price = 0n;
  for (const { program, data } of instructions) {
    if (program !== COMPUTE_BUDGET_PROGRAM) continue;
    const bytes = Buffer.from(data);
    if (bytes[0] === SET_UNIT_LIMIT && bytes.length === 5) units = bytes.readUInt32LE(1);
    if (bytes[0] === SET_UNIT_PRICE && bytes.length === 9) price = bytes.readBigUInt64LE(1);
  }
  const others = instructions.filter(({ program }) => program !== COMPUTE_BUDGET_PROGRAM).length;
  return { units: Math.min(COMPUTE_UNITS_LIMIT, units ?? others * UNITS_PER_INSTRUCTION), price };
}

/** The priority fee, rounded up. */
export function priorityFee({ units, price }: Budget): bigint {
  return (BigInt(units) * price + MICRO - 1n) / MICRO;
}

type Native = (tx: Transaction, submitted: SubmittedTransaction, instruction: SubmittedInstruction) => void;

export const NATIVE_PROGRAMS: ReadonlyMap<string, Native> = new Map<string, Native>([
  [COMPUTE_BUDGET_PROGRAM, computeBudget],
  [SYSTEM_PROGRAM, system],
  [ASSOCIATED_TOKEN_PROGRAM, associatedToken],
  [TOKEN_PROGRAM, token],
  [ROUTER_PROGRAM, router],
]);

function computeBudget(tx: Transaction, _submitted: SubmittedTransaction, { data }: SubmittedInstruction): void {
  enter(tx, COMPUTE_BUDGET_PROGRAM);
  const kind = data[0] ?? 255;
  if (kind < 1 || kind > 4) throw new ProgramFailure('InvalidInstructionData');
  leave(tx);
}

const SYSTEM_TRANSFER = 2;

function system(tx: Transaction, submitted: SubmittedTransaction, { accounts, data }: SubmittedInstruction): void {
  enter(tx, SYSTEM_PROGRAM);
  const bytes = Buffer.from(data);
  if (bytes.length !== 12 || bytes.readUInt32LE(0) !== SYSTEM_TRANSFER)
    throw new ProgramFailure('InvalidInstructionData', [INVALID_DATA]);
  const [from, to] = accounts;
  if (from === undefined || to === undefined) throw new ProgramFailure(MISSING_ACCOUNT);
  if (!submitted.signers.has(from)) throw new ProgramFailure(MISSING_SIGNATURE);
  takeLamports(tx, from, bytes.readBigUInt64LE(4));
  giveLamports(tx, to, bytes.readBigUInt64LE(4));
  leave(tx);
}

/** Creates a wallet's token account. Data: empty or 0 fails when it exists, 1 does not. */
function associatedToken(tx: Transaction, submitted: SubmittedTransaction, instruction: SubmittedInstruction): void {
  const [payer, account, owner, mint] = instruction.accounts;
  const isIdempotent = instruction.data[0] === 1;
  enter(tx, ASSOCIATED_TOKEN_PROGRAM, isIdempotent ? 'CreateIdempotent' : 'Create');
  if (payer === undefined || account === undefined || owner === undefined || mint === undefined) {
    throw new ProgramFailure(MISSING_ACCOUNT);
  }
  if (!submitted.signers.has(payer)) throw new ProgramFailure(MISSING_SIGNATURE);
  const isListed = tx.world.spots.some(({ account: market }) => market.mint === mint);
  if (!isListed || associatedTokenAddress(owner, mint) !== account) throw new ProgramFailure('InvalidSeeds');
  const { guests } = tx.world;
  if (!guests.tokens.has(account)) {
    const stored = tokenAccountOf(guests, owner, mint);
    takeLamports(tx, payer, BigInt(ledgerAccount(stored).lamports));
    touch(tx, stored);
  } else if (!isIdempotent) throw new ProgramFailure('IllegalOwner');
  leave(tx);
}

const TOKEN_TRANSFER = 3;
const TOKEN_CLOSE = 9;
const TOKEN_HAS_BALANCE = 11;
const TOKEN_OWNER_MISMATCH = 4;
const TOKEN_UNKNOWN = 12;

function token(tx: Transaction, submitted: SubmittedTransaction, { accounts, data }: SubmittedInstruction): void {
  const kind = data[0];
  enter(tx, TOKEN_PROGRAM, kind === TOKEN_CLOSE ? 'CloseAccount' : 'Transfer');
  const [first, second, authority] = accounts;
  const source = tx.world.guests.tokens.get(first ?? '');
  if (!source || second === undefined || authority === undefined) throw new ProgramFailure('InvalidAccountData');
  if (!submitted.signers.has(authority)) throw new ProgramFailure(MISSING_SIGNATURE);
  if (source.account.owner !== authority) throw new ProgramFailure(TOKEN_OWNER_MISMATCH);
  if (kind === TOKEN_CLOSE) {
    if (source.account.amount > 0n) throw new ProgramFailure(TOKEN_HAS_BALANCE);
    giveLamports(tx, second, BigInt(ledgerAccount(source).lamports));
    tx.world.guests.tokens.delete(source.key);
    close(tx, source);
  } else if (kind === TOKEN_TRANSFER && data.length === 9) {
    const target = tx.world.guests.tokens.get(second);
    if (!target || target.account.mint !== source.account.mint) throw new ProgramFailure('InvalidAccountData');
    const amount = Buffer.from(data).readBigUInt64LE(1);
    if (source.account.amount < amount) throw insufficientFunds();
    source.account.amount -= amount;
    target.account.amount += amount;
    touch(tx, source, target);
  } else throw new ProgramFailure(TOKEN_UNKNOWN);
  leave(tx);
}
