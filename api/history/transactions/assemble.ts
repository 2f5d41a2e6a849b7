// Makes an unsigned versioned transaction of instructions: compute budget from a simulation, price from our fee levels, lookup
// tables, and a recent blockhash.

import {
  type AddressLookupTableAccount,
  ComputeBudgetProgram,
  type PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { TxError } from '../../http/errors.ts';
import type { Chain } from './chain.ts';
import { failureOf, type TransactionFailure } from './failures.ts';

/** The runtime's limit (MAX_COMPUTE_UNIT_LIMIT of Solana). */
const UNITS_MAX = 1_400_000;
/** Limit without a simulation: more than any of these transactions used on mainnet. */
const UNITS_UNSIMULATED = 600_000;
/** A transaction may take more units than its simulation: state moves on until it is processed. */
const UNITS_MARGIN = 1.3;
const UNITS_LEAST = 50_000;

export interface Plan {
  readonly payer: PublicKey;
  readonly instructions: readonly TransactionInstruction[];
  /** Micro-lamports for each compute unit. */
  readonly unitPrice: number;
  readonly simulate: boolean;
}

/** The transaction, or why its simulation failed. Throws TxError when it does not fit into a packet. */
export async function assemble(chain: Chain, plan: Plan): Promise<VersionedTransaction | TransactionFailure> {
  const [tables, { blockhash }] = await Promise.all([chain.lookupTables(), chain.blockhash()]);
  let units = UNITS_UNSIMULATED;
  if (plan.simulate) {
    // The price is left out: at the highest limit it would need more lamports than the transaction will.
    const tried = compile(plan, tables, blockhash, UNITS_MAX, 0);
    const { err, logs, unitsConsumed } = await chain.simulate(tried, true);
    if (err !== null) return failureOf(chain.program, err, logs ?? []);
    units = Math.min(UNITS_MAX, Math.max(UNITS_LEAST, Math.ceil((unitsConsumed ?? UNITS_MAX) * UNITS_MARGIN)));
  }
  return compile(plan, tables, blockhash, units, plan.unitPrice);
}

function compile(
  { payer, instructions }: Plan,
  tables: readonly AddressLookupTableAccount[],
  recentBlockhash: string,
  units: number,
  microLamports: number,
): VersionedTransaction {
  const budget = [
    ComputeBudgetProgram.setComputeUnitLimit({ units }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
  ];
  const message = new TransactionMessage({
    payerKey: payer,
    recentBlockhash,
    instructions: [...budget, ...instructions],
  });
  try {
    const transaction = new VersionedTransaction(message.compileToV0Message([...tables]));
    transaction.serialize();
    return transaction;
  } catch (cause) {
    throw new TxError('tooLarge', '', { cause });
  }
}

/** Base64 of the wire format, with empty signatures. */
export function encoded(transaction: VersionedTransaction): string {
  return Buffer.from(transaction.serialize()).toString('base64');
}
