// The winning chain, slot by slot, in the form that the checks of a run need.

import type { StoredBlock } from '../../localnet/ledger.ts';
import { signatureOf, type TapeBlock } from './tape.ts';

export interface TrueEvent {
  readonly id: string;
  readonly slot: number;
  readonly name: string;
  /** Cut from the log when it was executed: nobody can read it. */
  readonly isLost: boolean;
}

type States = TapeBlock['states'];

export class Truth {
  readonly #events = new Map<string, TrueEvent>();
  readonly #bySlot: { readonly slot: number; readonly events: readonly TrueEvent[] }[] = [];
  /** Of blocks that the chain confirmed and dropped, by event and slot. */
  readonly #dropped = new Map<string, TrueEvent>();
  readonly #droppedSignatures = new Set<string>();
  readonly #followed: { readonly slot: number; readonly layers: readonly States[] }[] = [];
  readonly #states: { readonly slot: number; readonly states: TapeBlock['states'] }[] = [];
  /** Blocks of the winning fork while the nodes followed another one. */
  readonly #hidden = new Set<number>();

  /** Adds a block of the winning chain. */
  add(block: StoredBlock, tape: TapeBlock): void {
    const events = eventsOf(block, tape);
    for (const event of events) this.#events.set(event.id, event);
    this.#bySlot.push({ slot: block.slot, events });
    this.#states.push({ slot: block.slot, states: tape.states });
  }

  /** Adds a block that the chain confirms and will drop. */
  drop(block: StoredBlock, tape: TapeBlock): void {
    for (const event of eventsOf(block, tape)) {
      this.#dropped.set(`${event.id} ${event.slot}`, event);
      this.#droppedSignatures.add(signatureOf(event.id));
    }
  }

  /** Whether a dropped block has a transaction of this signature. */
  isOfDropped(signature: string): boolean {
    return this.#droppedSignatures.has(signature);
  }

  /** The event of a dropped slot; null for any other. */
  droppedEvent(id: string, slot: number): TrueEvent | null {
    return this.#dropped.get(`${id} ${slot}`) ?? null;
  }

  /**
   * Adds a block of the fork that the nodes follow. A lost fork writes some accounts of each of its blocks, so a text is that
   * of one of the layers. A block of the winning fork has one layer.
   */
  follow(slot: number, layers: readonly States[]): void {
    this.#followed.push({ slot, layers });
  }

  /** The nodes followed another fork at this slot of the winning one: a reader knows its states once they are confirmed. */
  hide(slot: number): void {
    this.#hidden.add(slot);
  }

  /** States at a slot that a reader at `processed` may have: those of the fork that was followed, and of the winning one. */
  processed(slot: number): (readonly States[])[] {
    const states = this.states(slot);
    if (states !== null && this.#hidden.has(slot)) return [[states]];
    const followed = this.#followed.findLast((one) => one.slot <= slot)?.layers;
    const forks = states === null || followed?.[0] === states ? [] : [[states]];
    return followed === undefined ? forks : [followed, ...forks];
  }

  /** Whether a block after a slot, of any fork that the nodes followed, had this text; undefined: it lacked the key. */
  isFollowedSince(slot: number, key: string, text: string | undefined): boolean {
    return this.#followed.some((one) => one.slot > slot && one.layers.some((states) => states.get(key) === text));
  }

  event(id: string): TrueEvent | null {
    return this.#events.get(id) ?? null;
  }

  /** Events of the slots after `from` up to `to`, in order. */
  *events(from: number, to: number): Generator<TrueEvent> {
    for (const { slot, events } of this.#bySlot) if (slot > from && slot <= to) yield* events;
  }

  /** Orders, markets and oracle prices at a slot; null before the first block. */
  states(slot: number): TapeBlock['states'] | null {
    return this.#states.findLast((one) => one.slot <= slot)?.states ?? null;
  }
}

function eventsOf({ slot, transactions }: StoredBlock, tape: TapeBlock): TrueEvent[] {
  const events: TrueEvent[] = [];
  for (const { signature, err, lostRecords } of transactions) {
    if (err !== null) continue;
    for (const { id, index, name } of tape.events.get(signature) ?? []) {
      events.push({ id, slot, name, isLost: lostRecords.includes(index) });
    }
  }
  return events;
}
