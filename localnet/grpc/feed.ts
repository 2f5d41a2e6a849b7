// Messages of the gRPC server at each commitment level, live and for a while from memory.

import type { Happened } from '../chain/production.ts';
import { LevelProgress } from '../ledger/level-progress.ts';
import type { Commitment, Ledger, StoredBlock } from '../ledger.ts';
import { blockMessages, encodeBody, type FeedMessage } from './messages.ts';
import { Pace } from './pace.ts';

/** Slots in memory for `from_slot`, as at the reference server by default. */
const REPLAY_SLOTS = 150;
const LEVELS: readonly Commitment[] = ['processed', 'confirmed', 'finalized'];

/** Gets each update with a function that encodes it once for all subscribers. */
export type FeedListener = (message: FeedMessage, body: () => Buffer) => void;

export interface FeedParts {
  readonly ledger: Ledger;
  /** Whether accounts and transactions of a slot have no common order, and its states no place. */
  readonly likeNode: boolean;
  readonly replaySlots?: number;
  readonly pace?: FeedPace;
}

/** Updates at processed leave evenly over a slot instead of at once; what is confirmed then follows at once. */
export interface FeedPace {
  readonly slotMs: number;
  /** Called just before an update leaves. */
  readonly leaves?: (message: FeedMessage) => void;
}

export class Feed {
  readonly #ledger: Ledger;
  readonly #likeNode: boolean;
  readonly #replaySlots: number;
  readonly #pace: Pace | null;
  readonly #leaves: ((message: FeedMessage) => void) | undefined;
  readonly #progress: LevelProgress;
  readonly #listeners = levelsOf(() => new Set<FeedListener>());
  readonly #replayed = levelsOf((): FeedMessage[][] => []);
  /** The ledger drops the writes of old blocks, so their messages are made once. */
  readonly #blocks = new WeakMap<StoredBlock, FeedMessage[]>();

  constructor({ ledger, likeNode, replaySlots = REPLAY_SLOTS, pace }: FeedParts) {
    this.#ledger = ledger;
    this.#likeNode = likeNode;
    this.#replaySlots = replaySlots;
    this.#pace = pace ? new Pace(pace.slotMs) : null;
    this.#leaves = pace?.leaves;
    this.#progress = new LevelProgress(ledger);
  }

  subscribe(level: Commitment, listener: FeedListener): () => void {
    this.#listeners[level].add(listener);
    return () => this.#listeners[level].delete(listener);
  }

  /** First slot that a replay can begin with at a level; null before any. */
  firstAvailable(level: Commitment): number | null {
    return this.#replayed[level][0]?.[0]?.slot ?? null;
  }

  replay(level: Commitment, fromSlot: number): FeedMessage[] {
    return this.#replayed[level].flat().filter(({ slot }) => slot >= fromSlot);
  }

  encoder(message: FeedMessage): () => Buffer {
    let body: Buffer | null = null;
    return () => {
      body ??= encodeBody(message, this.#ledger.lookups);
      return body;
    };
  }

  stop(): void {
    this.#pace?.stop();
  }

  publish(happened: Happened): void {
    if (happened.kind === 'dead') {
      const { slot, parentSlot } = happened;
      for (const level of LEVELS) {
        for (const state of ['createdBank', 'dead'] as const)
          this.#send(level, [{ kind: 'slot', slot, parentSlot, state }]);
      }
    }
    const processed = happened.kind === 'block' ? this.#progress.advance('processed') : [];
    if (happened.kind === 'branch') processed.push(happened.block);
    for (const block of processed) this.#block('processed', block);
    for (const level of ['confirmed', 'finalized'] as const) {
      for (const block of this.#progress.advance(level)) this.#block(level, block);
    }
  }

  /** Subscribers of every level get every state of a slot, unless their filter says otherwise. */
  #block(level: Commitment, block: StoredBlock): void {
    const { slot, parentSlot } = block;
    const states: FeedMessage[] = (level === 'processed' ? (['createdBank', 'processed'] as const) : [level]).map(
      (state) => ({ kind: 'slot', slot, parentSlot, state }),
    );
    for (const other of LEVELS) if (other !== level) this.#send(other, states);
    const data = this.#messagesOf(block);
    // Spread over its slot, the data stands between the beginning of the slot and its end.
    const [first, ...rest] = states;
    const spread = first && rest.length > 0 ? [first, ...data, ...rest] : [...data, ...states];
    const messages = this.#pace ? spread : this.#likeNode ? [...states, ...data] : [...data, ...states];
    this.#replayed[level].push(messages);
    while ((this.firstAvailable(level) ?? slot) <= slot - this.#replaySlots) this.#replayed[level].shift();
    this.#send(level, messages);
  }

  #messagesOf(block: StoredBlock): FeedMessage[] {
    let messages = this.#blocks.get(block);
    if (messages === undefined) {
      messages = blockMessages(block, !this.#likeNode);
      this.#blocks.set(block, messages);
    }
    return messages;
  }

  #send(level: Commitment, messages: readonly FeedMessage[]): void {
    if (this.#listeners[level].size === 0) return;
    if (this.#pace) {
      const calls = messages.map((message) => () => this.#sendOne(level, message));
      this.#pace.add(calls, level === 'processed');
    } else for (const message of messages) this.#sendOne(level, message);
  }

  #sendOne(level: Commitment, message: FeedMessage): void {
    this.#leaves?.(message);
    const body = this.encoder(message);
    for (const listener of this.#listeners[level]) listener(message, body);
  }
}

function levelsOf<T>(make: () => T): Record<Commitment, T> {
  return { processed: make(), confirmed: make(), finalized: make() };
}
