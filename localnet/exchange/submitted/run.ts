// Runs a submitted transaction on a copy of the world: the copy takes the world's place when every instruction succeeds.

import type { LedgerTransaction, SimulatedTransaction, Submission } from '../../ledger-types.ts';
import { EXCHANGE_PROGRAM } from '../keys.ts';
import { paddedName } from '../markets.ts';
import { addStats } from '../population.ts';
import {
  beginTransaction,
  enterExchange,
  fail,
  finish,
  leave,
  ledgerAccount,
  mention,
  note,
  type Transaction,
  touch,
} from '../transaction.ts';
import { recordTruth } from '../truth.ts';
import { type Settings, spotAt, type World } from '../world.ts';
import { changeApprovedBuilder, initializeRevenueShare, initializeRevenueShareEscrow } from './builders.ts';
import { decodeCall, type Handler } from './context.ts';
import { exchangeError, ProgramFailure, RefusedTransaction } from './errors.ts';
import { tokenAccountOf, walletOf } from './guests.ts';
import { lookupTableKey, tableAddresses } from './lookup-table.ts';
import { changePositionMarginRatio } from './margin.ts';
import { decodeWire, resolve, type SubmittedInstruction, type SubmittedTransaction } from './message.ts';
import { deposit, withdraw } from './money.ts';
import { type Budget, budgetOf, NATIVE_PROGRAMS, priorityFee } from './native.ts';
import { cancelOneOrder, cancelOrders, cancelOrdersByIds, placeAndTakePerpOrder, placePerpOrder } from './orders.ts';
import { settleMultiplePnls, settlePnl } from './settle.ts';
import { beginSwap, endSwap } from './swap.ts';
import { initializeUser, initializeUserStats, openGuest } from './users.ts';
import { giveLamports, SIGNATURE_FEE_LAMPORTS, takeLamports } from './wallets.ts';

const HANDLERS: ReadonlyMap<string, Handler> = new Map([
  ['initialize_user_stats', initializeUserStats],
  ['initialize_user', initializeUser],
  ['deposit', deposit],
  ['withdraw', withdraw],
  ['begin_swap', beginSwap],
  ['end_swap', endSwap],
  ['place_perp_order', placePerpOrder],
  ['place_and_take_perp_order', placeAndTakePerpOrder],
  ['update_user_perp_position_custom_margin_ratio', changePositionMarginRatio],
  ['cancel_order', cancelOneOrder],
  ['cancel_orders', cancelOrders],
  ['cancel_orders_by_ids', cancelOrdersByIds],
  ['settle_pnl', settlePnl],
  ['settle_multiple_pnls', settleMultiplePnls],
  ['initialize_revenue_share', initializeRevenueShare],
  ['initialize_revenue_share_escrow', initializeRevenueShareEscrow],
  ['change_approved_builder', changeApprovedBuilder],
  [
    'transfer_isolated_perp_position_deposit',
    () => {
      throw exchangeError('IsolatedPositionDisabled');
    },
  ],
]);

export interface Ran {
  /** The world after it. */
  readonly world: World;
  readonly transaction: LedgerTransaction;
}

/** Runs a submission in the world's slot. Null when the runtime refuses it, which leaves no trace. */
export function runSubmission(world: World, settings: Settings, submission: Submission): Ran | null {
  if (submission.kind === 'fund') return fund(world, settings, submission);
  try {
    const submitted = resolve(decodeWire(submission.wire), tables(world, settings));
    const { tx, budget } = execute(world, submitted);
    const transaction = { ...finish(tx, submitted.signature), isSubmitted: true };
    if (tx.err === null) {
      recordTruth(tx.world, tx, submitted.signature, settings.keepEvents);
      return { world: tx.world, transaction };
    }
    // A failed transaction pays its fee and changes nothing else.
    const payer = walletOf(world.guests, submitted.payer);
    payer.account.lamports -= feeOf(submitted, budget);
    return { world, transaction: { ...transaction, writes: [ledgerAccount(payer)] } };
  } catch (error) {
    if (error instanceof RefusedTransaction) return null;
    throw error;
  }
}

/** Runs the transaction on the current state and forgets it. The world stays as it is. Throws an Error for bytes that are no transaction. */
export function simulate(world: World, settings: Settings, wire: Uint8Array): SimulatedTransaction {
  try {
    const submitted = resolve(decodeWire(wire), tables(world, settings));
    const { tx, units } = execute(world, submitted);
    const { writes, logMessages, err } = finish(tx, submitted.signature);
    return { err, logMessages, unitsConsumed: units, writes, text: textOf(err) };
  } catch (error) {
    if (!(error instanceof RefusedTransaction)) throw error;
    return { err: error.error, logMessages: [], unitsConsumed: 0, writes: [], text: error.message };
  }
}

/** A node's text for an instruction's error. */
function textOf(err: unknown): string | null {
  if (err === null) return null;
  const [index, reason] = (err as { InstructionError: [number, unknown] }).InstructionError;
  const code = typeof reason === 'object' && reason !== null ? (reason as { Custom: number }).Custom : null;
  const cause = code === null ? String(reason) : `custom program error: 0x${code.toString(16)}`;
  return `Error processing Instruction ${index}: ${cause}`;
}

function tables(world: World, settings: Settings) {
  return (key: string): readonly string[] | null =>
    key === lookupTableKey(settings.seed) ? tableAddresses(world) : null;
}

interface Executed {
  readonly tx: Transaction;
  readonly units: number;
  readonly budget: Budget;
}

function execute(world: World, submitted: SubmittedTransaction): Executed {
  const budget = budgetOf(submitted.instructions);
  const fee = feeOf(submitted, budget);
  const lamports = world.guests.wallets.get(submitted.payer)?.account.lamports;
  if (lamports === undefined) {
    throw new RefusedTransaction(
      'AccountNotFound',
      'Attempt to debit an account but found no record of a prior credit.',
    );
  }
  if (lamports < fee) throw new RefusedTransaction('InsufficientFundsForFee', 'Insufficient funds for fee');
  const tx = beginTransaction(copyOf(world));
  tx.unitsLimit = budget.units;
  mention(tx, ...submitted.keys);
  takeLamports(tx, submitted.payer, fee);
  let units = 0;
  for (const [index, instruction] of submitted.instructions.entries()) {
    const firstLine = tx.logs.length;
    runInstruction(tx, submitted, instruction, index);
    units += unitsOf(tx.logs.slice(firstLine));
    if (tx.err !== null) break;
    if (units > budget.units) {
      tx.logs.push(`Program ${instruction.program} failed: exceeded CUs meter at BPF instruction`);
      tx.err = { InstructionError: [index, 'ProgramFailedToComplete'] };
      break;
    }
  }
  return { tx, units, budget };
}

function feeOf(submitted: SubmittedTransaction, budget: Budget): bigint {
  return SIGNATURE_FEE_LAMPORTS * BigInt(submitted.signers.size) + priorityFee(budget);
}

/** Events are not copied: they are the longest part and nothing here reads them. */
function copyOf(world: World): World {
  const copy = structuredClone({ ...world, events: [] });
  return { ...copy, events: world.events };
}

function runInstruction(
  tx: Transaction,
  submitted: SubmittedTransaction,
  instruction: SubmittedInstruction,
  index: number,
): void {
  const firstLine = tx.logs.length;
  let name = 'Unknown';
  try {
    const native = NATIVE_PROGRAMS.get(instruction.program);
    if (native) {
      native(tx, submitted, instruction);
      return;
    }
    if (instruction.program !== EXCHANGE_PROGRAM) throw new ProgramFailure('ProgramAccountNotFound');
    const decoded = decodeCall(tx, submitted, instruction);
    name = decoded.name;
    const handler = HANDLERS.get(name);
    if (!handler) throw new ProgramFailure('InvalidInstructionData');
    handler(decoded.call);
  } catch (error) {
    if (!(error instanceof ProgramFailure)) throw error;
    reopen(tx, instruction.program, name, firstLine);
    for (const line of error.lines) note(tx, line);
    fail(tx, error.code, index);
  }
}

/** Puts the failing instruction on the invoke stack again, as if it had not ended. */
function reopen(tx: Transaction, program: string, name: string, firstLine: number): void {
  if (tx.frames.length > 0) return;
  if (tx.logs.length === firstLine) {
    if (program === EXCHANGE_PROGRAM) enterExchange(tx, pascal(name));
    else tx.frames.push({ program, firstLine });
    return;
  }
  tx.logs.splice(-2);
  tx.frames.push({ program, firstLine });
}

function pascal(name: string): string {
  return name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const UNITS_OF_BUDGET_CALL = 150;
const CONSUMED = /^Program \w+ consumed (\d+) of/;

/** Compute units of one top-level instruction: its own line comes last. */
function unitsOf(lines: readonly string[]): number {
  const last = lines.findLast((line) => CONSUMED.test(line));
  return last === undefined ? UNITS_OF_BUDGET_CALL : Number(CONSUMED.exec(last)?.[1]);
}

/** Gives a wallet lamports and tokens, and opens its first account on request: a faucet for tests and examples. */
function fund(world: World, settings: Settings, wish: Extract<Submission, { kind: 'fund' }>): Ran {
  const tx = beginTransaction(world);
  giveLamports(tx, wish.wallet, wish.lamports);
  for (const { spotMarketIndex, amount } of wish.tokens) {
    const account = tokenAccountOf(world.guests, wish.wallet, spotAt(world, spotMarketIndex).account.mint);
    account.account.amount += amount;
    touch(tx, account);
  }
  if (wish.openAccount && !world.stats.has(wish.wallet)) {
    enterExchange(tx, 'InitializeUserStats');
    touch(tx, addStats(world, wish.wallet, false));
    leave(tx);
    openGuest(tx, wish.wallet, 0, paddedName('Main Account'));
  }
  recordTruth(world, tx, wish.signature, settings.keepEvents);
  return { world, transaction: finish(tx, wish.signature) };
}
