// One connection's life: subscribe, read all accounts, catch up on transactions, then live until something ends it.

import { setTimeout as delay } from 'node:timers/promises';
import type { Connection } from '@solana/web3.js';
import type { UpdateQueue } from '../queue.ts';
import type { AccountUpdate, GapNotice, TransactionLogs } from '../source.ts';
import type { BlockClock } from './block-clock.ts';
import type { History } from './history.ts';
import type { JsonRpc } from './json-rpc.ts';
import { type KeyCache, logsUpdate, programAccountUpdate, slotUpdate } from './notifications.ts';
import { OtherOracles } from './other-oracles.ts';
import { PubSub } from './pubsub.ts';
import type { WantedAccounts } from './wanted.ts';

/** A slot is told this long after its notification, so that data of the same slot still on the wire comes before. */
const SLOT_SETTLE_MS = 20;
/** A node that fails this many audits in a row is connected to anew. */
const AUDIT_FAILURES_MAX = 5;
/** Live notifications get this long before a transaction counts as missed. */
const AUDIT_LAG_SLOTS = 8;
/** Live updates kept while reading back. Transactions beyond it are found by the next sweep. */
const WAITING_MAX = 50_000;
/** Accounts that name an oracle. */
const MARKETS: ReadonlySet<string> = new Set(['PerpMarket', 'SpotMarket']);

export interface SessionParts {
  readonly wsUrl: string;
  readonly wanted: readonly WantedAccounts[];
  readonly programs: readonly string[];
  readonly accountCommitment: 'processed' | 'confirmed' | 'finalized';
  readonly historyCommitment: 'confirmed' | 'finalized';
  readonly connection: Connection;
  readonly rpc: JsonRpc;
  readonly history: History;
  readonly queue: UpdateQueue;
  readonly keys: KeyCache;
  /** Told each slot; asks for block times. */
  readonly clock: BlockClock | null;
  /** No slot for this long: ask whether the chain or the subscription stands still. */
  readonly silenceMs: number;
  /** How often all signatures are checked against what came live, and oracles of other programs read anew. */
  readonly auditMs: number;
  /** Oracle accounts that markets name; those of other programs are read and followed one by one. */
  readonly oraclesOf: (markets: readonly AccountUpdate[]) => readonly Uint8Array[];
  readonly signal: AbortSignal;
}

export class Session {
  readonly #parts: SessionParts;
  readonly #ended: Promise<string>;
  #end: (reason: string) => void = () => {};
  #pubsub: PubSub | null = null;
  /** Null until all accounts are read: before, no market's oracle is known. */
  #otherOracles: OtherOracles | null = null;
  /** Live account updates during the snapshot, with the index of their subscription; null afterwards. */
  #heldAccounts: { readonly kind: number; readonly update: AccountUpdate }[] | null = [];
  /** Live transactions while catching up; null afterwards. */
  #heldTransactions: TransactionLogs[] | null = [];
  #tip: number;
  readonly #heardTo: number;
  /** The gap in which transactions are that the node lists and does not give yet. */
  #missing: { readonly fromSlot: number; readonly toSlot: number } | null = null;
  /** What the chain had come to when this session began to listen; slots up to it are not notified any more. */
  #heardAfter = 0;
  #pendingSlot: number | null = null;
  #settle: NodeJS.Timeout | null = null;
  #silence: NodeJS.Timeout | null = null;
  #live = false;

  /** `tip` is the newest slot already told, `heardTo` the one at which the last session that was live ended; 0: none was. */
  constructor(parts: SessionParts, tip: number, heardTo: number) {
    this.#parts = parts;
    this.#tip = tip;
    this.#heardTo = heardTo;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  get tip(): number {
    return this.#tip;
  }

  /** Whether it got as far as live: the next attempt then starts without delay. */
  get wasLive(): boolean {
    return this.#live;
  }

  /** Runs until the connection is lost, silent, or stopped; resolves with the reason. Rejects when it cannot start. */
  async run(): Promise<string> {
    const { queue, signal } = this.#parts;
    const stop = () => this.#end('stopped');
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      this.#pubsub = await PubSub.open(this.#parts.wsUrl, {
        garbage: (reason, detail, bytes) =>
          queue.push({ kind: 'garbage', reason, detail, origin: 'pubsub', bytes: Uint8Array.from(bytes) }),
        closed: (reason) => this.#end(reason),
      });
      // Attempts that came to nothing are part of the same gap.
      const gapFrom = this.#heardTo > 0 ? this.#heardTo : (this.#parts.history.resume?.slot ?? 0);
      const otherOracles = new OtherOracles(this.#parts, this.#pubsub, (update) => this.#account(update, -1));
      await this.#subscribe(this.#pubsub);
      this.#heardAfter = await this.#parts.connection.getSlot('processed');
      this.#watchSilence();
      await this.#orEnded(this.#snapshot(otherOracles));
      await this.#orEnded(this.#catchUp(gapFrom));
      this.#live = true;
      void this.#audit(otherOracles);
      return await this.#ended;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#end('over');
      this.#pubsub?.close();
      if (this.#settle) clearTimeout(this.#settle);
      if (this.#silence) clearTimeout(this.#silence);
    }
  }

  /** Waits for the work, but not beyond the end of the connection. */
  async #orEnded(work: Promise<void>): Promise<void> {
    const reason = await Promise.race([work, this.#ended]);
    if (reason !== undefined) {
      work.catch(() => {});
      throw new Error(reason);
    }
  }

  async #subscribe(pubsub: PubSub): Promise<void> {
    const { wanted, programs, accountCommitment, historyCommitment, keys } = this.#parts;
    const accounts = wanted.map(({ program, liveFilters }, kind) =>
      pubsub.subscribe(
        'programSubscribe',
        [program, { commitment: accountCommitment, encoding: 'base64', filters: liveFilters }],
        (result) => this.#account(programAccountUpdate(result, keys), kind),
      ),
    );
    const logs = programs.map((program) =>
      pubsub.subscribe('logsSubscribe', [{ mentions: [program] }, { commitment: historyCommitment }], (result) =>
        this.#transaction(logsUpdate(result)),
      ),
    );
    const slots = pubsub.subscribe('slotSubscribe', [], (result) => this.#slot(slotUpdate(result)));
    await Promise.all([...accounts, ...logs, slots]);
  }

  #account(update: AccountUpdate, kind: number): void {
    this.#overflow();
    if (MARKETS.has(this.#parts.wanted[kind]?.name ?? '')) this.#otherOracles?.market(update);
    if (this.#heldAccounts) {
      this.#heldAccounts.push({ kind, update });
      if (this.#heldAccounts.length > WAITING_MAX) this.#end('the initial read takes too long');
    } else {
      if (this.#pendingSlot !== null && update.slot > this.#pendingSlot) this.#tellSlot();
      this.#parts.queue.push(update);
    }
  }

  #transaction(transaction: TransactionLogs): void {
    if (transaction.failed) return;
    this.#overflow();
    if (this.#heldTransactions) {
      if (this.#heldTransactions.length < WAITING_MAX) this.#heldTransactions.push(transaction);
    } else if (this.#parts.history.take(transaction.signature, transaction.slot)) this.#parts.queue.push(transaction);
  }

  /** A reader that cannot keep up costs the connection, not the memory: everything is read again later. */
  #overflow(): void {
    if (this.#live && this.#parts.queue.isFull) this.#end('updates are not taken fast enough');
  }

  #slot(slot: number): void {
    if (slot <= this.#tip) return;
    if (this.#pendingSlot !== null) this.#tellSlot();
    this.#tip = slot;
    this.#pendingSlot = slot;
    this.#settle = setTimeout(() => this.#tellSlot(), SLOT_SETTLE_MS);
    this.#watchSilence();
  }

  #tellSlot(): void {
    if (this.#settle) clearTimeout(this.#settle);
    const slot = this.#pendingSlot;
    this.#pendingSlot = null;
    if (slot === null || this.#heldAccounts) return;
    this.#parts.queue.push({ kind: 'slot', slot });
    this.#parts.clock?.slot(slot);
  }

  #watchSilence(): void {
    if (this.#silence) clearTimeout(this.#silence);
    this.#silence = setTimeout(() => void this.#onSilence(), this.#parts.silenceMs);
  }

  /** Silence of the chain itself is no reason to read everything again. */
  async #onSilence(): Promise<void> {
    const known = Math.max(this.#tip, this.#heardAfter);
    const slot = await this.#parts.connection.getSlot('processed').catch(() => null);
    if (slot === null || slot > Math.max(known, this.#tip)) this.#end(`no slot for ${this.#parts.silenceMs} ms`);
    else this.#watchSilence();
  }

  async #snapshot(otherOracles: OtherOracles): Promise<void> {
    const { wanted, rpc, accountCommitment, queue, keys } = this.#parts;
    const reads = await Promise.all(
      wanted.map((one) => rpc.programAccounts(one.program, one.snapshotFilters, accountCommitment)),
    );
    const updates = reads.flatMap(({ slot, accounts }) =>
      accounts.map(
        ({ pubkey, owner, data }): AccountUpdate => ({
          kind: 'account',
          slot,
          writeVersion: null,
          pubkey: keys.decode(pubkey),
          owner: keys.decode(owner),
          data,
        }),
      ),
    );
    const oracles = await otherOracles.begin(updates);
    this.#otherOracles = otherOracles;
    const slots = reads.map((read) => read.slot);
    const slot = Math.min(...slots);
    await queue.drained();
    queue.push({ kind: 'snapshotBegin', slot });
    for (const update of [...updates, ...oracles]) {
      queue.push(update);
      if (queue.isFull) await queue.drained();
    }
    queue.push({ kind: 'snapshotEnd', slot });
    const held = this.#heldAccounts ?? [];
    this.#heldAccounts = null;
    // The read at slot S holds everything that was written up to S.
    for (const { kind, update } of held) if (update.slot > (slots[kind] ?? slot - 1)) queue.push(update);
    this.#tip = Math.max(this.#tip, slot);
    queue.push({ kind: 'slot', slot: this.#tip });
  }

  /** Reads back what happened while nobody listened, then lets the live transactions through. */
  async #catchUp(gapFrom: number): Promise<void> {
    const { history, connection, queue, historyCommitment } = this.#parts;
    const tip = await connection.getSlot(historyCommitment);
    const gap = { kind: 'gap', fromSlot: gapFrom, toSlot: tip, reason: 'not connected' } as const;
    if (gapFrom > 0) queue.push({ ...gap, filled: false });
    const lost = await this.#lostBlocks();
    if (lost !== null) queue.push(lost);
    const { missing, cut } = await this.#sweep(tip);
    if (cut) queue.push({ ...gap, fromSlot: 0, reason: 'older history is not read', filled: false, isLasting: true });
    else if (gapFrom > 0 && missing === 0 && lost === null) queue.push({ ...gap, filled: true });
    if (gapFrom > 0 && missing > 0) this.#missing = { fromSlot: gapFrom, toSlot: tip };
    const held = this.#heldTransactions ?? [];
    this.#heldTransactions = null;
    for (const transaction of held.sort((a, b) => a.slot - b.slot)) {
      if (history.take(transaction.signature, transaction.slot)) queue.push(transaction);
    }
    this.#tellProgress();
  }

  /** Blocks between the resume point and what the node still has: their transactions cannot be read back from it. */
  async #lostBlocks(): Promise<GapNotice | null> {
    const { history, connection } = this.#parts;
    if (history.resume === null) return null;
    const fromSlot = history.resume.slot;
    const toSlot = await connection.getFirstAvailableBlock();
    if (toSlot <= fromSlot + 1) return null;
    const reason = 'the node no longer has these blocks';
    return { kind: 'gap', fromSlot, toSlot, filled: false, reason, isLasting: true };
  }

  async #sweep(toSlot: number) {
    const { history, queue, signal } = this.#parts;
    return history.sweep(
      toSlot,
      async (transaction) => {
        if (!transaction.failed) queue.push(transaction);
        if (queue.isFull) await queue.drained();
      },
      signal,
    );
  }

  #tellProgress(): void {
    const { resume } = this.#parts.history;
    if (resume !== null) this.#parts.queue.push({ kind: 'progress', resume });
  }

  /** Checks now and then that every signature on the chain was seen, and fetches those that were not; and the oracles. */
  async #audit(otherOracles: OtherOracles): Promise<void> {
    const { connection, historyCommitment, queue } = this.#parts;
    let failures = 0;
    let slotBefore = -1;
    while (!(await this.#pause())) {
      try {
        const slot = await connection.getSlot(historyCommitment);
        // Nothing is on its way any more from a chain that stands still.
        const settled = slot === slotBefore ? slot : slot - AUDIT_LAG_SLOTS;
        slotBefore = slot;
        // What is still missing is one gap until all of it was found, wherever the resume point gets meanwhile.
        const tip = Math.max(settled, this.#missing?.toSlot ?? 0);
        const fromSlot = this.#missing?.fromSlot ?? this.#parts.history.resume?.slot ?? 0;
        const { found, missing } = await this.#sweep(tip);
        if (missing > 0) {
          queue.push({ kind: 'gap', fromSlot, toSlot: tip, filled: false, reason: `${missing} not yet to be had` });
        } else if (found > 0) {
          queue.push({ kind: 'gap', fromSlot, toSlot: tip, filled: true, reason: `${found} not notified` });
        }
        this.#missing = missing > 0 ? { fromSlot, toSlot: tip } : null;
        this.#tellProgress();
        await otherOracles.refresh();
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures >= AUDIT_FAILURES_MAX) this.#end(`audit failed: ${String(error)}`);
      }
    }
  }

  /** Waits for the next audit; true when the session has ended meanwhile. */
  async #pause(): Promise<boolean> {
    const done = new AbortController();
    const wait = delay(this.#parts.auditMs, false, { signal: done.signal, ref: false }).catch(() => true);
    const ended = await Promise.race([wait, this.#ended.then(() => true)]);
    done.abort();
    return ended;
  }
}
