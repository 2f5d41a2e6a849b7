// Makes the chain go on: takes the exchange's next block at the pace asked for, appends it to the ledger, has it
// published. The only place of the localnet that watches a clock.

import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import bs58 from 'bs58';
import type { Ledger, StoredBlock } from './ledger.ts';
import type { Exchange, LedgerBlock, LedgerTransaction } from './ledger-types.ts';
import type { Publisher } from './rpc/publisher.ts';

/** Length of a slot at speed 1. */
export const SLOT_MS = 400;
/** Longest stretch of blocks made without letting connections have their turn. */
const STRETCH_MS = 15;
/** Further behind than this the schedule starts anew instead of racing to catch up. */
const BEHIND_MAX_MS = 2000;

export interface ClusterOptions {
  readonly exchange: Exchange;
  readonly ledger: Ledger;
  readonly publisher: Publisher;
  /** Slots pass every 400 ms divided by this; 0: only by `step`. */
  readonly speed: number;
  /** Called with every block before anyone sees it. */
  readonly onBlock?: (block: StoredBlock) => void;
}

export class Cluster {
  readonly exchange: Exchange;
  readonly ledger: Ledger;
  readonly #publisher: Publisher;
  readonly #onBlock: (block: StoredBlock) => void;
  #speed: number;
  #paused = false;
  #ended = false;
  #timer: NodeJS.Timeout | null = null;
  #dueMs = 0;
  #injected: LedgerTransaction[] = [];
  #injections = 0;
  #steps: Promise<unknown> = Promise.resolve();

  constructor(options: ClusterOptions) {
    this.exchange = options.exchange;
    this.ledger = options.ledger;
    this.#publisher = options.publisher;
    this.#speed = options.speed;
    this.#onBlock = options.onBlock ?? (() => {});
  }

  get speed(): number {
    return this.#speed;
  }

  /** True when slots pass only by `step`. */
  get paused(): boolean {
    return this.#paused || this.#speed === 0;
  }

  start(): void {
    this.#reschedule();
  }

  /** No slot passes any more until `resume` or `step`. */
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
   * Makes exactly `slots` blocks and returns the newest slot once they were handed to the sockets.
   * @throws when the cluster is running or ends meanwhile
   */
  step(slots: number): Promise<number> {
    const stepped = this.#steps.then(async () => {
      for (let made = 0; made < slots; made++) {
        if (!this.paused || this.#ended) throw new Error('the cluster must be paused to be stepped');
        this.#makeBlock();
        await turn();
      }
      return this.ledger.tipSlot;
    });
    this.#steps = stepped.catch(() => {});
    return stepped;
  }

  /** Puts a transaction of the caller's own at the end of the next block and returns its signature. */
  inject(transaction: Omit<LedgerTransaction, 'signature'> & { readonly signature?: string }): string {
    this.#injections += 1;
    const seed = `${this.ledger.genesisHash}|${this.ledger.tipSlot}|${this.#injections}`;
    const signature = transaction.signature ?? bs58.encode(createHash('sha512').update(seed).digest());
    this.#injected.push({ ...transaction, signature });
    return signature;
  }

  /** Ends the chain; the ledger stays readable. */
  async stop(): Promise<void> {
    this.#ended = true;
    this.#reschedule();
    await this.#steps;
  }

  #makeBlock(): void {
    const block = this.#withInjected(this.exchange.nextBlock());
    const stored = this.ledger.append(block);
    this.#onBlock(stored);
    this.#publisher.publish();
  }

  #withInjected(block: LedgerBlock): LedgerBlock {
    if (this.#injected.length === 0) return block;
    const transactions = [...block.transactions, ...this.#injected];
    this.#injected = [];
    return { ...block, transactions };
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

  /** Due times are counted from the start, not from the last block, so delays do not add up. */
  #run(): void {
    const intervalMs = SLOT_MS / this.#speed;
    const startedMs = performance.now();
    let nowMs = startedMs;
    do {
      this.#makeBlock();
      this.#dueMs += intervalMs;
      nowMs = performance.now();
    } while (this.#dueMs <= nowMs && nowMs - startedMs < STRETCH_MS);
    if (nowMs - this.#dueMs > BEHIND_MAX_MS) this.#dueMs = nowMs;
    this.#wait();
  }
}
