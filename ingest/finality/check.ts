// Compares stored transactions with the finalized chain once it has passed their slot. A confirmed slot that the chain drops
// is rare, so nothing else notices it.

import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../platform/index.ts';
import type { FinalityReader, TransactionPlace } from '../source.ts';
import { LandedAgain, type LandedAgainParts } from './landed.ts';

/** Time between two rounds. */
const ROUND_MS = 2_000;
/** Transactions in one round: four calls, so 512 transactions with events a second. */
const ROUND_TRANSACTIONS = 1_024;
/** Finalized slots that the check stays behind, because nodes differ in their progress. */
const MARGIN_SLOTS = 16;
/** A transaction that arrives so many slots after its own is final already: a cluster finalizes after 32 slots. */
const FINAL_AFTER_SLOTS = 150;
/** Transactions that wait, about 150 bytes each. Beyond it the oldest slots stay unchecked. */
const WAITING_MAX = 200_000;
/** Failed rounds after which the transactions of a round stay unchecked. */
const TRIES_MAX = 100;

export interface FinalityCheckParts extends LandedAgainParts {
  readonly reader: FinalityReader;
  /** Records transactions of a slot that the chain dropped. */
  readonly retract: (slot: number, signatures: readonly string[]) => Promise<void>;
  readonly logger: Logger;
}

export class FinalityCheck {
  readonly #parts: FinalityCheckParts;
  readonly #landed: LandedAgain;
  readonly #waiting = new Map<number, Set<string>>();
  #size = 0;
  #newestSlot = -1;
  #resumeSlot = Number.POSITIVE_INFINITY;
  #finalSlot = -1;
  #tries = 0;

  constructor(parts: FinalityCheckParts) {
    this.#parts = parts;
    this.#landed = new LandedAgain(parts);
  }

  /** Transactions of a dropped slot that an earlier process recorded: they may still land again. */
  retracted(slot: number, signatures: readonly string[]): void {
    this.#landed.dropped(slot, signatures);
  }

  /** Oldest slot with transactions that are not compared yet; infinite without any. */
  get oldestSlot(): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const slot of this.#waiting.keys()) oldest = Math.min(oldest, slot);
    return oldest;
  }

  /** Oldest slot that an earlier process had not compared: it is compared now, however old it is. */
  resumeAt(slot: number): void {
    this.#resumeSlot = slot;
  }

  /** A transaction with events is stored. */
  stored({ slot, signature }: TransactionPlace): void {
    this.#newestSlot = Math.max(this.#newestSlot, slot);
    if (slot < Math.min(this.#newestSlot - FINAL_AFTER_SLOTS, this.#resumeSlot)) return;
    const some = this.#waiting.get(slot) ?? new Set();
    if (some.has(signature)) return;
    this.#waiting.set(slot, some.add(signature));
    this.#size += 1;
    if (this.#size > WAITING_MAX) this.#giveUp(this.oldestSlot);
  }

  /** The chain has finalized this slot. */
  final(slot: number): void {
    this.#finalSlot = Math.max(this.#finalSlot, slot);
  }

  /** Checks the oldest final slots. Rejects when no node answers; the next round repeats it. */
  async round(): Promise<void> {
    await this.#check();
    await this.#landed.round(this.#finalSlot);
  }

  async #check(): Promise<void> {
    const slots = this.#dueSlots();
    if (slots.length === 0) return;
    const places = slots.flatMap((slot) =>
      [...(this.#waiting.get(slot) ?? [])].map((signature) => ({ slot, signature })),
    );
    this.#tries += 1;
    const lacking = await this.#parts.reader.lacking(places);
    for (const slot of slots) {
      const signatures = lacking.filter((place) => place.slot === slot).map(({ signature }) => signature);
      if (signatures.length > 0) {
        await this.#parts.retract(slot, signatures);
        this.#landed.dropped(slot, signatures);
      }
      this.#forget(slot);
    }
    this.#tries = 0;
  }

  /** Runs rounds until the signal aborts. No failure here stops ingest. */
  async run(signal: AbortSignal): Promise<void> {
    while (await delay(ROUND_MS, true, { signal, ref: false }).catch(() => false)) {
      try {
        await this.round();
      } catch (error) {
        if (signal.aborted) return;
        this.#parts.logger.warn({ err: error, tries: this.#tries }, 'final transactions not compared');
        if (this.#tries >= TRIES_MAX) for (const slot of this.#dueSlots()) this.#giveUp(slot);
      }
    }
  }

  /** Final slots, oldest first, as many as fit into a round; at least one. */
  #dueSlots(): readonly number[] {
    const final = [...this.#waiting.keys()].filter((slot) => slot <= this.#finalSlot - MARGIN_SLOTS);
    const slots: number[] = [];
    let size = 0;
    for (const slot of final.sort((a, b) => a - b)) {
      size += this.#waiting.get(slot)?.size ?? 0;
      if (slots.length > 0 && size > ROUND_TRANSACTIONS) break;
      slots.push(slot);
    }
    return slots;
  }

  #giveUp(slot: number): void {
    this.#tries = 0;
    this.#parts.unchecked(this.#forget(slot));
  }

  #forget(slot: number): number {
    const size = this.#waiting.get(slot)?.size ?? 0;
    this.#waiting.delete(slot);
    this.#size -= size;
    return size;
  }
}
