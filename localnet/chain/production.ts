// Makes the block of each slot. Asks the exchange for it, executes it, and puts it where it belongs in the fork tree.

import type { Ledger, StoredBlock } from '../ledger.ts';
import type { Exchange, LedgerBlock, LedgerTransaction, Submission, TruthEvent } from '../ledger-types.ts';
import { Execution } from './execution.ts';
import type { Profile } from './profile.ts';
import { Schedule } from './schedule.ts';

/** Events of forks that lost, in memory; older ones are dropped. */
const ABANDONED_EVENTS_MAX = 100_000;
const BRANCH_EVENTS_MAX = 100_000;

export type Happened =
  | { readonly kind: 'skipped'; readonly slot: number; readonly parentSlot: number }
  | { readonly kind: 'dead'; readonly slot: number; readonly parentSlot: number }
  /** `reverted` has the accounts that an abandoned fork had written. */
  | { readonly kind: 'block'; readonly block: StoredBlock; readonly reverted: ReadonlySet<string> | null }
  | { readonly kind: 'hidden' | 'branch'; readonly block: StoredBlock };

/** Submissions for the block of a slot. Only the winning chain asks for them. */
export type SubmissionsOf = (slot: number) => readonly Submission[];

const NO_SUBMISSIONS: SubmissionsOf = () => [];

export interface ProductionParts {
  readonly exchange: Exchange;
  readonly ledger: Ledger;
  readonly profile: Profile;
  readonly seed: number;
}

export class Production {
  readonly #exchange: Exchange;
  readonly #ledger: Ledger;
  readonly #schedule: Schedule;
  readonly #execution: Execution;
  #slot: number;
  #activeSlot: number;
  /** The exchange on the fork that loses. */
  #other: Exchange | null = null;
  #abandonedEvents: TruthEvent[] = [];
  /** Slots from now on that the cluster confirms and drops. */
  #toDrop = 0;

  constructor({ exchange, ledger, profile, seed }: ProductionParts) {
    this.#exchange = exchange;
    this.#ledger = ledger;
    this.#schedule = new Schedule(seed, profile);
    this.#execution = new Execution(seed, profile);
    this.#slot = ledger.tipSlot;
    this.#activeSlot = ledger.tipSlot;
  }

  /** Slot of the exchange's newest block on the winning chain. */
  get activeSlot(): number {
    return this.#activeSlot;
  }

  /** Events of the forks that lost, oldest first. Empty when the exchange keeps none. */
  get abandonedEvents(): readonly TruthEvent[] {
    return this.#abandonedEvents;
  }

  /** Computes the winning chain again up to `slot`, after a restart. */
  replay(slot: number, submissionsOf: SubmissionsOf = NO_SUBMISSIONS): void {
    while (this.#slot < slot) {
      this.#slot += 1;
      const kind = this.#schedule.at(this.#slot);
      if (kind !== 'block' && kind !== 'hidden') continue;
      this.#ledger.append(this.#nextBlock(this.#exchange, [], submissionsOf(this.#slot)));
      this.#activeSlot = this.#slot;
    }
  }

  /** Makes the next slot. `injected` lands in its block, if there is one. */
  next(injected: readonly LedgerTransaction[], submissionsOf: SubmissionsOf = NO_SUBMISSIONS): Happened {
    this.#slot += 1;
    if (this.#toDrop > 0) {
      this.#toDrop -= 1;
      const dropped = this.#branchBlock(injected, true);
      if (dropped) return dropped;
    }
    const kind = this.#schedule.at(this.#slot);
    switch (kind) {
      case 'skipped':
      case 'dead':
        return { kind, slot: this.#slot, parentSlot: this.#ledger.tipSlot };
      case 'branch':
        return this.#branchBlock(injected) ?? this.#winningBlock(injected, submissionsOf, false);
      case 'hidden':
        return this.#winningBlock(injected, submissionsOf, this.#other !== null);
      case 'block':
        return this.#winningBlock(injected, submissionsOf, false);
    }
  }

  /** The cluster confirms the next slots and then drops them. A restart from a state file does not repeat that. */
  dropConfirmed(slots: number): void {
    this.#toDrop = slots;
  }

  /** Makes a block without transactions of the exchange, so that the tips of all levels come closer to its state. */
  empty(): Happened {
    this.#slot += 1;
    const parent = this.#ledger.history.fromTip(0);
    const blockTime = parent?.blockTime ?? this.#ledger.genesisTime;
    return this.#append({ slot: this.#slot, blockTime, transactions: [] }, false);
  }

  #winningBlock(injected: readonly LedgerTransaction[], submissionsOf: SubmissionsOf, hidden: boolean): Happened {
    this.#activeSlot = this.#slot;
    return this.#append(this.#nextBlock(this.#exchange, injected, submissionsOf(this.#slot)), hidden);
  }

  #append(block: LedgerBlock, hidden: boolean): Happened {
    if (hidden) return { kind: 'hidden', block: this.#ledger.append(block, true) };
    const reverted = this.#ledger.branchWrites();
    this.#endFork();
    return { kind: 'block', block: this.#ledger.append(block), reverted };
  }

  /** A block of a fork that will lose; null when the exchange cannot play one. */
  #branchBlock(injected: readonly LedgerTransaction[], isConfirmed = false): Happened | null {
    const winner = this.#schedule.winnerFrom(isConfirmed ? this.#slot + this.#toDrop + 1 : this.#slot);
    this.#other ??= this.#exchange.branch?.(winner) ?? null;
    if (this.#other === null) return null;
    const block = this.#ledger.appendToBranch(this.#nextBlock(this.#other, injected), isConfirmed);
    return { kind: 'branch', block };
  }

  #endFork(): void {
    if (this.#other === null) return;
    this.#abandonedEvents.push(...this.#other.events(0, BRANCH_EVENTS_MAX));
    this.#abandonedEvents = this.#abandonedEvents.slice(-ABANDONED_EVENTS_MAX);
    this.#other = null;
  }

  #nextBlock(
    exchange: Exchange,
    injected: readonly LedgerTransaction[],
    submissions: readonly Submission[] = [],
  ): LedgerBlock {
    const block = exchange.nextBlock(this.#slot, submissions);
    return this.#execution.block(
      injected.length === 0 ? block : { ...block, transactions: [...block.transactions, ...injected] },
    );
  }
}
