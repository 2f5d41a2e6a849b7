// One gRPC stream. It continues where the last one ended, if the server can replay from there and has the same blocks.
// Otherwise it reads all accounts and missed transactions by RPC. One file, because every step reads and changes the state of
// the one stream.

import { ORACLE_KINDS } from '../rpc/account-filters.ts';
import type { WholeRead } from '../rpc/account-reader.ts';
import { pauseUnlessOver, readSince, readUntilBelieved, SILENCE_SETTLE_MS, waitFor } from '../rpc/full-reading.ts';
import { type Delivered, Intake } from '../rpc/intake.ts';
import { OtherOracles } from '../rpc/other-oracles.ts';
import type { LiveSession, SessionParts } from '../rpc/session.ts';
import { SilenceWatch } from '../rpc/silence.ts';
import { TransactionAudit } from '../rpc/transaction-audit.ts';
import type { AccountUpdate } from '../source.ts';
import { BlockEnd } from './block-end.ts';
import { BlockChain, type Cursor } from './cursor.ts';
import { Replay } from './replay.ts';
import { kindOf, subscribeRequest } from './request.ts';
import type { OpenStream, UpdateStream } from './stream.ts';
import { accountUpdate, type BlockMeta, blockMeta, slotOf, transactionLogs } from './updates.ts';
import type { StreamUpdate, WireTransaction } from './wire.ts';

/** The first block of a stream is awaited so long: two slots. A chain that stands still sends none. */
const FIRST_BLOCK_PATIENCE_MS = 1_000;
/** A log that takes nothing for longer holds the stream no more: servers drop a client that reads too little. */
const PAUSE_MAX_MS = 500;
/** Limit of updates that wait for the proof that a stream continues the last one. */
const REPLAY_MAX = 200_000;
const MARKETS: ReadonlySet<string> = new Set(['PerpMarket', 'SpotMarket']);

/** State that outlives a stream: the next one continues with it. */
export interface GrpcState {
  readonly cursor: Cursor;
  /** Keys of oracles of other programs (base58). */
  readonly oracles: Set<string>;
  /** Whether all accounts were read and believed, and every stream since then continued the one before it. */
  isWhole: boolean;
  /** Null until all accounts are read, because the markets name the oracles. */
  otherOracles: OtherOracles | null;
  /** Takes a state that was read beside the stream. */
  read: (update: AccountUpdate) => void;
  /** False once a server refused a slot: the next stream begins at its newest block. */
  mayReplay: boolean;
}

export interface GrpcOptions {
  readonly url: string;
  readonly token: string;
  readonly open: OpenStream;
  readonly state: GrpcState;
  /** Number of the stream, counted from 0 over all sessions. */
  readonly number: bigint;
  /** Live transactions wait this long for the replay since the resume point. */
  readonly replayPatienceMs: number;
  /** A resume point further behind the chain is not replayed from. */
  readonly replaySlotsMax: number;
  /** Receives each delivered block. */
  block(slot: number, blockhash: string): void;
}

export class GrpcSession implements LiveSession {
  readonly #parts: SessionParts;
  readonly #options: GrpcOptions;
  readonly #intake: Intake;
  readonly #over = new AbortController();
  readonly #ended: Promise<string>;
  #end: (reason: string) => void = () => {};
  #stream: UpdateStream | null = null;
  #replay: Replay | null = null;
  #chain = new BlockChain(null);
  /** Whether the server repeats the transactions since the resume point. */
  #replaysSinceResume = false;
  /** Blocks that wait for their label, for their times. */
  #times: { readonly slot: number; readonly ts: number }[] = [];
  readonly #silence: SilenceWatch;
  readonly #blockEnd = new BlockEnd({
    mayAsk: () => this.#intake.mayLabel,
    ping: (id) => this.#stream?.ping(id),
    ended: () => this.#blockEnded(),
  });
  #live = false;
  /** Slot of the first block of the stream, of which updates may be missing; -1 before. */
  #firstSlot = -1;
  /** Slot of the read of all accounts; -1 before. */
  #readSlot = -1;

  constructor(parts: SessionParts, before: Delivered, options: GrpcOptions) {
    this.#parts = parts;
    this.#options = options;
    const { queue, history } = parts;
    const labelled = (slot: number) => this.#labelled(slot);
    // The newest slot with an update is delivered again in full, so its label is still to come. Earlier slots have theirs, or
    // stand below changes of that slot already.
    const { from, seenSlot } = this.#cursor;
    const continued = Math.max(from?.slot ?? 0, seenSlot - 1);
    // Updates of a slot without its block may be lost, and the block before that one with them.
    const completeSlot = () => this.#chain.last?.slot ?? -1;
    this.#intake = new Intake(
      { queue, history, labelled, completeSlot, end: (reason) => this.#end(reason) },
      from === null ? before : { dataSlot: continued, labelledSlot: continued },
    );
    this.#silence = new SilenceWatch(this.#over.signal, parts.silenceMs, () => this.#onSilence());
    options.state.read = (update) => this.#intake.read(update);
    this.#ended = new Promise((resolve) => {
      this.#end = (reason) => {
        this.#over.abort();
        this.#stream?.close();
        resolve(reason);
      };
    });
  }

  get #cursor(): Cursor {
    return this.#options.state.cursor;
  }

  get delivered(): Delivered {
    const { dataSlot, labelledSlot } = this.#intake.labels;
    return { dataSlot, labelledSlot };
  }

  get wasLive(): boolean {
    return this.#live;
  }

  /** Runs until the stream is lost, silent, or stopped; resolves with the reason. Rejects when the start fails. */
  async run(): Promise<string> {
    const { signal } = this.#parts;
    const stop = () => this.#end('stopped');
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      const { url, token, open } = this.#options;
      this.#stream = await open(url, token, {
        update: (update) => this.#update(update),
        ended: (reason, isOutOfRange) => this.#lost(reason, isOutOfRange),
      });
      const fromSlot = await this.#begin(this.#stream);
      this.#request(fromSlot);
      this.#silence.news();
      const followed = this.#replay ? this.#audit(new TransactionAudit(this.#auditParts())) : this.#readAll(fromSlot);
      const reason = await this.#ended;
      await followed;
      return reason;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#end('over');
      this.#silence.stop();
      this.#blockEnd.stop();
    }
  }

  /**
   * The slot to replay from; null: none. After a restart that is the resume point, for transactions alone: all accounts are
   * read.
   */
  async #begin(stream: UpdateStream): Promise<number | null> {
    const { state } = this.#options;
    const cursor = this.#cursor;
    const { from } = cursor;
    const slot = from?.slot ?? (state.mayReplay ? await this.#resumeSlot() : null);
    if (slot === null) return null;
    const first = await stream.firstAvailable();
    if (first !== null && first > slot) {
      this.#parts.logger.warn({ slot, first }, 'the server does not replay from where the last stream ended');
      cursor.forget();
      return null;
    }
    if (from === null) this.#replaysSinceResume = true;
    else this.#replay = new Replay(from, Math.max(from.slot, cursor.seenSlot));
    return slot;
  }

  /** Slot of the resume point; null without one, or where it is too far behind the chain. */
  async #resumeSlot(): Promise<number | null> {
    const { rpc, history, logger, accountCommitment } = this.#parts;
    const slot = history.resume?.slot ?? null;
    if (slot === null) return null;
    // Without an answer, the stream alone may bring missed transactions.
    const tip = await rpc.slot(accountCommitment).catch(() => slot);
    if (tip - slot <= this.#options.replaySlotsMax) return slot;
    logger.warn({ slot, tip }, 'the resume point is too old for a replay: missed transactions come by RPC');
    return null;
  }

  #request(fromSlot: number | null): void {
    const { oracles } = this.#options.state;
    this.#stream?.request(subscribeRequest(this.#parts, oracles, fromSlot));
  }

  #lost(reason: string, isOutOfRange: boolean): void {
    if (isOutOfRange) {
      this.#cursor.forget();
      this.#options.state.mayReplay = false;
    }
    this.#end(reason);
  }

  #update(update: StreamUpdate): void {
    try {
      this.#read(update);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      const [{ bytes }, detail] = [update, error.message];
      this.#parts.queue.push({ kind: 'garbage', reason: 'garbage_frame', detail, origin: 'grpc', bytes });
    }
    const { queue } = this.#parts;
    if (queue.isFull) this.#stream?.pauseUntil(queue.drained());
    else if (queue.asksForPause())
      this.#stream?.pauseUntil(Promise.race([queue.drained(), pauseUnlessOver(this.#over.signal, PAUSE_MAX_MS)]));
  }

  #read({ filters, account, transaction, block, slot, pong }: StreamUpdate): void {
    if (account) this.#account(accountUpdate(account, this.#options.number), kindOf(filters));
    else if (transaction) this.#transaction(transaction, filters);
    else if (block) this.#block(blockMeta(block));
    else if (slot) this.#intake.labels.announced(slotOf(slot.slot));
    else this.#blockEnd.pong(pong);
  }

  #account(update: AccountUpdate, kind: number): void {
    if (this.#replay) this.#hold(this.#replay, (replay) => replay.account(update, kind));
    else this.#takeAccount(update, kind);
  }

  #takeAccount(update: AccountUpdate, kind: number): void {
    if (MARKETS.has(this.#parts.accountFilters[kind]?.name ?? '')) this.#options.state.otherOracles?.market(update);
    this.#cursor.seen(update.slot);
    this.#intake.account(update, kind);
  }

  /** The filters have the names of their programs. */
  #transaction(update: WireTransaction, programs: readonly string[]): void {
    const transaction = transactionLogs(update);
    for (const program of programs) this.#parts.history.notified(program, slotOf(update.slot));
    if (transaction === null || transaction.failed) return;
    if (this.#replay) this.#hold(this.#replay, (replay) => replay.transaction(transaction));
    else this.#intake.transaction(transaction);
  }

  #hold(replay: Replay, add: (replay: Replay) => void): void {
    add(replay);
    if (replay.size <= REPLAY_MAX) return;
    this.#cursor.forget();
    this.#end('the replay is too long');
  }

  #block(block: BlockMeta): void {
    this.#silence.news();
    if (this.#replay) this.#replayed(this.#replay, block);
    else this.#follow(block);
  }

  #replayed(replay: Replay, block: BlockMeta): void {
    const state = replay.block(block);
    if (state === 'missing' || state === 'fork') {
      this.#broken(state, block);
      return;
    }
    if (state === 'waiting') return;
    this.#replay = null;
    this.#chain = replay.chain;
    this.#intake.resume();
    const { accounts, transactions } = replay.updates;
    for (const transaction of transactions) this.#intake.transaction(transaction);
    for (const { update, kind } of accounts) this.#takeAccount(update, kind);
    this.#complete(block);
    this.#live = true;
    this.#parts.queue.push({ kind: 'continued', slot: block.slot });
  }

  #follow(block: BlockMeta): void {
    const isFirst = this.#firstSlot < 0;
    if (isFirst) this.#firstSlot = block.slot;
    // Nobody delivers the changes between the read and the first block.
    const isApart = isFirst && this.#readSlot >= 0 && block.parent.slot > this.#readSlot;
    const link = isApart ? 'missing' : this.#chain.add(block);
    if (link === 'next') this.#complete(block);
    else if (link !== 'repeated') this.#broken(link, block);
  }

  /** A stream that skipped a block is asked again from the cursor. One that contradicts earlier blocks is not believed. */
  #broken(link: 'missing' | 'fork', block: BlockMeta): void {
    const cursor = this.#cursor;
    if (link === 'fork' || this.#replay) cursor.forget();
    // The next stream would break at the same block. The sweep fetches the transactions.
    if (this.#replaysSinceResume) this.#options.state.mayReplay = false;
    const what = link === 'fork' ? 'another block than before' : 'a block without the one before it';
    this.#end(`the stream has ${what} at slot ${block.slot}`);
  }

  #complete(block: BlockMeta): void {
    const { slot, ts } = block;
    this.#options.block(slot, block.blockhash);
    if (this.#options.state.isWhole) this.#cursor.delivered(block);
    if (ts !== null) this.#times.push({ slot, ts });
    this.#intake.labels.announced(slot);
    this.#intake.label(this.#intake.labels.data(slot));
    this.#intake.releaseAhead();
    this.#blockEnd.block();
  }

  /** The server has sent all of the newest block. */
  #blockEnded(): void {
    const newest = this.#chain.last;
    if (newest !== null) this.#intake.label(this.#intake.labels.complete(newest.slot));
  }

  /** The time of a slot follows its label. */
  #labelled(slot: number): void {
    const due = this.#times.filter((time) => time.slot <= slot);
    const newest = due.at(-1);
    if (newest === undefined) return;
    this.#times = this.#times.slice(due.length);
    const time = { kind: 'time', ...newest } as const;
    this.#parts.queue.push(time);
    this.#parts.finality.time(time);
  }

  /** Ends the stream when the node has newer blocks at the same commitment, or when neither answers. */
  async #onSilence(): Promise<void> {
    const { rpc, silenceMs, accountCommitment } = this.#parts;
    const last = this.#lastSlot;
    const slot = await rpc.slot(accountCommitment).catch(() => null);
    await pauseUnlessOver(this.#over.signal, SILENCE_SETTLE_MS);
    if (this.#over.signal.aborted || this.#lastSlot > last) return;
    const mark = Math.max(last, this.#silentAt);
    if (slot !== null) this.#silentAt = slot;
    const isStalled = slot === null || (mark >= 0 && slot > mark);
    if (isStalled && !this.#stream?.isPaused) {
      // A server that replays nothing is asked for everything the next time.
      if (this.#replay) this.#cursor.forget();
      this.#end(`no block for ${silenceMs} ms`);
    } else this.#silence.news();
  }
  /** Answer of the node at the last silence; -1 without one. */
  #silentAt = -1;

  get #lastSlot(): number {
    return (this.#replay?.chain ?? this.#chain).last?.slot ?? -1;
  }

  /** Until a read is believed, no stream can continue this one: accounts that no update named would be missing. */
  async #readAll(fromSlot: number | null): Promise<void> {
    this.#options.state.isWhole = false;
    this.#cursor.forget();
    await Promise.allSettled([this.#readAccounts(), this.#readTransactions(fromSlot)]);
  }

  /** Replayed transactions need no fetching: the first sweep waits for the end of the replay, but not for long. */
  async #readTransactions(fromSlot: number | null): Promise<void> {
    const audit = new TransactionAudit(this.#auditParts());
    if (fromSlot !== null) {
      const { rpc, accountCommitment } = this.#parts;
      const tip = await rpc.slot(accountCommitment).catch(() => fromSlot);
      if (await waitFor(() => this.#lastSlot >= tip, this.#options.replayPatienceMs, this.#over.signal)) return;
      this.#intake.releaseTransactions();
    }
    await audit.begin(() => this.#intake.releaseTransactions());
    await this.#audit(audit);
  }

  #auditParts() {
    return { ...this.#parts, signal: this.#over.signal };
  }

  /** Oracles of other programs are followed by a filter of their keys. */
  #makeOracles(): OtherOracles {
    const { state } = this.#options;
    const subscribe = async (_method: string, [key]: readonly unknown[]): Promise<void> => {
      state.oracles.add(String(key));
    };
    const handlers = { notified: () => {}, read: (update: AccountUpdate) => state.read(update) };
    return new OtherOracles(this.#parts, { subscribe }, handlers);
  }

  async #readAccounts(): Promise<void> {
    const { rpc, reader, logger } = this.#parts;
    const { signal } = this.#over;
    const oracles = this.#makeOracles();
    await waitFor(() => this.#firstSlot >= 0, FIRST_BLOCK_PATIENCE_MS, signal);
    await readUntilBelieved({
      read: readSince(
        () => this.#firstSlot,
        (minSlot) => reader.read(rpc, Math.max(minSlot, this.#intake.labels.dataSlot), { signal }),
      ),
      deliver: (read, isWhole) => this.#snapshot(read, oracles, isWhole),
      ...{ logger, signal },
    });
  }

  async #snapshot(read: WholeRead, oracles: OtherOracles, isWhole: boolean): Promise<void> {
    const { state } = this.#options;
    const known = state.oracles.size;
    const states = await oracles.begin(read.of(ORACLE_KINDS));
    state.otherOracles = oracles;
    this.#readSlot = Math.min(...read.slots);
    await this.#intake.snapshot(read, states, isWhole, this.#over.signal);
    if (this.#over.signal.aborted) return;
    state.isWhole = isWhole;
    if (state.oracles.size > known) this.#request(null);
    this.#live = true;
  }

  /** Checks at every interval that each listed transaction arrived. */
  async #audit(audit: TransactionAudit): Promise<void> {
    const { rpc, logger, auditMs } = this.#parts;
    while (!(await pauseUnlessOver(this.#over.signal, auditMs))) {
      const problem = await audit.turn();
      if (problem !== null) this.#end(problem);
      await rpc.nodes.probe();
      const { oracles, otherOracles } = this.#options.state;
      const known = oracles.size;
      await otherOracles?.refresh().catch((error) => logger.warn({ err: error }, 'oracles not refreshed'));
      if (oracles.size > known) this.#request(null);
    }
  }
}
