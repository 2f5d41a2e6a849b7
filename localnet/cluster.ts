// Drives the chain: requests the exchange's next block at the chosen pace, appends it to the ledger and publishes it. No
// other file of the localnet uses a wall clock for slots.

import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import bs58 from 'bs58';
import type { Happened, Production } from './chain/production.ts';
import type { Commitment, Ledger, StoredBlock } from './ledger.ts';
import type { Exchange, LedgerTransaction, Submission } from './ledger-types.ts';

/** Length of a slot at speed 1. */
const SLOT_MS = 400;
/** Longest run of blocks before connections get processing time. */
const STRETCH_MS = 15;
/** A schedule that is further behind restarts instead of racing to catch up. */
const BEHIND_MAX_MS = 2000;

/** Publishes a slot to subscribers. */
export interface SlotPublisher {
  publish(happened: Happened): void;
}

export interface ClusterOptions {
  readonly exchange: Exchange;
  readonly ledger: Ledger;
  readonly production: Production;
  readonly publisher: SlotPublisher;
  /** A slot lasts 400 ms divided by this; 0: only `step` makes slots. */
  readonly speed: number;
  /** Receives every block of the winning chain before it is published. */
  readonly onBlock?: (block: StoredBlock) => void;
  /** Receives the submissions of a slot before the exchange runs them. */
  readonly onSubmissions?: (slot: number, submissions: readonly Submission[]) => void;
}

export class Cluster {
  readonly exchange: Exchange;
  readonly ledger: Ledger;
  readonly production: Production;
  readonly #publisher: SlotPublisher;
  readonly #onBlock: (block: StoredBlock) => void;
  readonly #onSubmissions: (slot: number, submissions: readonly Submission[]) => void;
  #speed: number;
  #paused = false;
  #ended = false;
  #timer: NodeJS.Timeout | null = null;
  #dueMs = 0;
  #injected: LedgerTransaction[] = [];
  #injections = 0;
  #submitted: Submission[] = [];
  #steps: Promise<unknown> = Promise.resolve();

  constructor(options: ClusterOptions) {
    this.exchange = options.exchange;
    this.ledger = options.ledger;
    this.production = options.production;
    this.#publisher = options.publisher;
    this.#speed = options.speed;
    this.#onBlock = options.onBlock ?? (() => {});
    this.#onSubmissions = options.onSubmissions ?? (() => {});
  }

  get speed(): number {
    return this.#speed;
  }

  /** True when only `step` makes slots. */
  get paused(): boolean {
    return this.#paused || this.#speed === 0;
  }

  start(): void {
    this.#reschedule();
  }

  /** Stops the slots until `resume` or `step`. */
  pause(): void {
    this.#paused = true;
    this.#reschedule();
  }

  resume(): void {
    this.#paused = false;
    this.#reschedule();
  }

  /** @throws RangeError when the factor is negative or not a number */
  setSpeed(speed: number): void {
    if (!(speed >= 0) || !Number.isFinite(speed)) throw new RangeError('speed must be a number from 0 on');
    this.#speed = speed;
    this.#reschedule();
  }

  /**
   * Makes exactly `slots` slots. Returns the newest slot once the sockets have all of them.
   * @throws when the cluster is running or stops meanwhile
   */
  step(slots: number): Promise<number> {
    const stepped = this.#steps.then(async () => {
      for (let made = 0; made < slots; made++) {
        if (!this.paused || this.#ended) throw new Error('the cluster must be paused to be stepped');
        this.#makeSlot();
        await turn();
      }
      return this.ledger.tipSlot;
    });
    this.#steps = stepped.catch(() => {});
    return stepped;
  }

  /**
   * Makes empty blocks while paused until `commitment` has all that the exchange did. Returns the newest slot.
   * @throws when the cluster is running or stops meanwhile
   */
  settle(commitment: Commitment): Promise<number> {
    const settled = this.#steps.then(async () => {
      const target = this.production.activeSlot;
      while (this.ledger.slotAt(commitment) < target) {
        if (!this.paused || this.#ended) throw new Error('the cluster must be paused to be settled');
        this.#publish(this.production.empty());
        await turn();
      }
      return this.ledger.tipSlot;
    });
    this.#steps = settled.catch(() => {});
    return settled;
  }

  /** Appends a transaction to the next block and returns its signature. */
  inject(transaction: Omit<LedgerTransaction, 'signature'> & { readonly signature?: string }): string {
    this.#injections += 1;
    const seed = `${this.ledger.genesisHash}|${this.ledger.tipSlot}|${this.#injections}`;
    const signature = transaction.signature ?? bs58.encode(createHash('sha512').update(seed).digest());
    this.#injected.push({ ...transaction, signature });
    return signature;
  }

  /** Submits work for the next block. */
  submit(submission: Submission): void {
    this.#submitted.push(submission);
  }

  /** Submissions that wait for the next block. */
  get submitted(): readonly Submission[] {
    return this.#submitted;
  }

  /** Stops the chain. The ledger stays readable. */
  async stop(): Promise<void> {
    this.#ended = true;
    this.#reschedule();
    await this.#steps;
  }

  #makeSlot(): void {
    const injected = this.#injected;
    const happened = this.production.next(injected, (slot) => this.#takeSubmitted(slot));
    // A transaction on a fork that loses lands on the winning one as well.
    if (happened.kind === 'block' || happened.kind === 'hidden') this.#injected = [];
    this.#publish(happened);
  }

  /** Submissions for the block of a slot, which is made next. */
  #takeSubmitted(slot: number): readonly Submission[] {
    const submissions = this.#submitted;
    this.#submitted = [];
    if (submissions.length > 0) this.#onSubmissions(slot, submissions);
    return submissions;
  }

  #publish(happened: Happened): void {
    if (happened.kind === 'block' || happened.kind === 'hidden') this.#onBlock(happened.block);
    this.#publisher.publish(happened);
  }

  #reschedule(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#ended || this.paused) return;
    this.#dueMs = performance.now() + SLOT_MS / this.#speed;
    this.#wait();
  }

  #wait(): void {
    this.#timer = setTimeout(() => this.#run(), Math.max(0, this.#dueMs - performance.now()));
  }

  /** Due times count from the start, so that delays do not add up. */
  #run(): void {
    const intervalMs = SLOT_MS / this.#speed;
    const startedMs = performance.now();
    let nowMs = startedMs;
    do {
      this.#makeSlot();
      this.#dueMs += intervalMs;
      nowMs = performance.now();
    } while (this.#dueMs <= nowMs && nowMs - startedMs < STRETCH_MS);
    if (nowMs - this.#dueMs > BEHIND_MAX_MS) this.#dueMs = nowMs;
    this.#wait();
  }
}
