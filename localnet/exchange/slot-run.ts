// Collects the transactions of one slot and selects the acting traders.

import type { LedgerTransaction } from '../ledger-types.ts';
import { signatureOf } from './keys.ts';
import { chance, pick } from './random.ts';
import { beginTransaction, finish, type Transaction } from './transaction.ts';
import { recordTruth } from './truth.ts';
import type { Role, Settings, Trader, World } from './world.ts';

/** Runs transactions of one slot and collects them. */
export class SlotRun {
  readonly world: World;
  readonly settings: Settings;
  readonly transactions: LedgerTransaction[] = [];
  readonly #byRole = new Map<Role, Trader[]>();

  constructor(world: World, settings: Settings) {
    this.world = world;
    this.settings = settings;
    for (const trader of world.traders) {
      if (!trader.alive) continue;
      const list = this.#byRole.get(trader.role);
      if (list) list.push(trader);
      else this.#byRole.set(trader.role, [trader]);
    }
  }

  /** Runs one transaction. A body without effect leaves none. */
  transact(body: (tx: Transaction) => void): void {
    const tx = beginTransaction(this.world);
    body(tx);
    if (tx.logs.length === 0) return;
    const signature = signatureOf(this.settings.seed, tx.slot, this.transactions.length);
    const transaction = finish(tx, signature);
    if (tx.err === null) recordTruth(this.world, tx, signature, this.settings.keepEvents);
    this.transactions.push(transaction);
  }

  /** Number of occurrences in this slot of an event with the average `rate`, scaled by activity. */
  times(rate: number): number {
    const mean = rate * this.settings.activity;
    return Math.floor(mean) + (chance(this.world.rng, mean - Math.floor(mean)) ? 1 : 0);
  }

  /** An open account with one of the roles; undefined without one. */
  someone(...roles: readonly Role[]): Trader | undefined {
    const chosen = pick(
      this.world.rng,
      roles.flatMap((role) => this.#byRole.get(role) ?? []),
    );
    // The account may have been closed earlier in this slot.
    return chosen?.alive ? chosen : undefined;
  }

  /** Open accounts with these roles. */
  count(...roles: readonly Role[]): number {
    return roles.reduce((sum, role) => sum + (this.#byRole.get(role)?.length ?? 0), 0);
  }
}
