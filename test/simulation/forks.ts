// The forks that nodes of a run follow at `processed`: forks that lose, and blocks that die, beside the winning chain.

import type { Happened } from '../../localnet/chain/production.ts';
import type { Branch, Lost } from './processed-checks.ts';
import type { TapeBlock, TapeExchange } from './tape.ts';
import type { Truth } from './truth.ts';

type States = TapeBlock['states'];

const NONE: States = new Map();

export class Forks {
  readonly #truth: Truth;
  readonly #exchange: TapeExchange;
  readonly #lost: (lost: Lost) => void;
  #open: { readonly fromSlot: number; readonly base: States; readonly states: States[]; toSlot: number } | null = null;
  /** Newest slot of any fork. */
  slot = 0;

  /** `lost` receives blocks that lost. */
  constructor(truth: Truth, exchange: TapeExchange, lost: (lost: Lost) => void) {
    this.#truth = truth;
    this.#exchange = exchange;
    this.#lost = lost;
  }

  /** Blocks of a fork that will lose, which the nodes still follow. */
  get open(): Branch | null {
    return this.#open;
  }

  /** The truth has the slot already. */
  take(happened: Happened): void {
    this.slot = 'block' in happened ? happened.block.slot : happened.slot;
    if (happened.kind === 'branch') this.#branch(this.slot);
    else if (happened.kind === 'block') this.follow(this.slot);
    else if (happened.kind === 'hidden') this.#truth.hide(this.slot);
    else if (happened.kind === 'dead') this.#dead(this.slot);
  }

  /** The nodes follow a block of the winning chain. */
  follow(slot: number): void {
    this.slot = slot;
    this.#truth.follow(slot, [this.#truth.states(slot) ?? NONE]);
    if (this.#open !== null) this.#lost({ ...this.#open, newsSlot: slot, isDead: false });
    this.#open = null;
  }

  #branch(slot: number): void {
    this.#open ??= { fromSlot: slot, toSlot: slot, base: this.#truth.states(slot) ?? NONE, states: [] };
    this.#open.toSlot = slot;
    const states = this.#exchange.lostBlock(slot)?.states ?? null;
    if (states !== null) this.#open.states.push(states);
    this.#truth.follow(slot, [this.#open.base, ...this.#open.states]);
  }

  #dead(slot: number): void {
    const base = this.#open ?? { base: this.#truth.states(slot) ?? NONE, states: [] };
    const dead = this.#exchange.deadBlock().states;
    this.#truth.follow(slot, [base.base, ...base.states, dead]);
    this.#lost({ fromSlot: slot, toSlot: slot, newsSlot: slot, isDead: true, base: base.base, states: [dead] });
  }
}
