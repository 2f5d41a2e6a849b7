// Lamports of wallets: fees, rent of new accounts, and transfers.

import type { Stored } from '../model.ts';
import { ledgerAccount, type Transaction, touch } from '../transaction.ts';
import type { Call } from './context.ts';
import { ProgramFailure } from './errors.ts';
import { walletOf } from './guests.ts';

/** Lamports for each signature. */
export const SIGNATURE_FEE_LAMPORTS = 5_000n;
/** Custom error of the system program: the account has fewer lamports. */
const RESULT_WITH_NEGATIVE_LAMPORTS = 1;

/** Takes the rent of a new account from the instruction's payer. */
export function payRent({ tx, accounts }: Call, created: Stored): void {
  takeLamports(tx, accounts.payer ?? '', BigInt(ledgerAccount(created).lamports));
}

export function takeLamports(tx: Transaction, wallet: string, lamports: bigint): void {
  const { account } = touchedWallet(tx, wallet);
  if (account.lamports < lamports) {
    throw new ProgramFailure(RESULT_WITH_NEGATIVE_LAMPORTS, [
      `Transfer: insufficient lamports ${account.lamports}, need ${lamports}`,
    ]);
  }
  account.lamports -= lamports;
}

export function giveLamports(tx: Transaction, wallet: string, lamports: bigint): void {
  touchedWallet(tx, wallet).account.lamports += lamports;
}

function touchedWallet(tx: Transaction, wallet: string) {
  const stored = walletOf(tx.world.guests, wallet);
  touch(tx, stored);
  return stored;
}
