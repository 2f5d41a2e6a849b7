// Turns each block into notifications: the account writes and then the logs of each transaction, and the slot at the end. Also
// applies the faults that tests inject between the chain and its subscribers.

import { LOG_TRUNCATED } from '../chain/execution.ts';
import type { Happened } from '../chain/production.ts';
import { LevelProgress } from '../ledger/level-progress.ts';
import type { AccountVersion, Commitment, Ledger, StoredBlock, StoredTransaction } from '../ledger.ts';
import { type AccountFormat, accountJson, passes } from './account-json.ts';
import type { Delivery } from './delivery.ts';
import { bankUpdates, progressUpdate } from './slot-updates.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';

const COMMITMENTS: readonly Commitment[] = ['processed', 'confirmed', 'finalized'];
const EVENT_LINE = /^Program (data|log): /;

export interface PublisherParts {
  readonly ledger: Ledger;
  readonly subscriptions: Subscriptions;
  readonly delivery: Delivery;
  /** Whether notifications come like a node's: the slot before its data, and only the last state of an account. */
  readonly likeNode: boolean;
  /** Milliseconds; only the silence fault uses it. */
  readonly now?: () => number;
}

export class Publisher {
  readonly #ledger: Ledger;
  readonly #subscriptions: Subscriptions;
  readonly #delivery: Delivery;
  readonly #likeNode: boolean;
  readonly #now: () => number;
  #silentUntilMs = 0;
  #logsToCut = 0;
  #published = 0;
  readonly #progress: LevelProgress;

  constructor(parts: PublisherParts) {
    const { ledger, subscriptions, delivery, likeNode } = parts;
    this.#ledger = ledger;
    this.#likeNode = likeNode;
    this.#progress = new LevelProgress(ledger);
    this.#subscriptions = subscriptions;
    this.#delivery = delivery;
    this.#now = parts.now ?? Date.now;
  }

  /** Number of notifications. Each counts once, whatever the number of its receivers. */
  get published(): number {
    return this.#published;
  }

  /** Publishes nothing for a while. Sockets stay open, and calls are answered. */
  silence(durationMs: number): void {
    this.#silentUntilMs = this.#now() + durationMs;
  }

  /** Truncates the logs of the next notified transactions with events. Calls still return them in full. */
  truncateLogs(transactions: number): void {
    this.#logsToCut = transactions;
  }

  /** Notifies subscribers of the changes of a slot, and of each level's progress with it. */
  publish(happened: Happened): void {
    const advanced = {
      processed: happened.kind === 'block' ? this.#progress.advance('processed') : [],
      // A confirmed fork that loses is not part of the winning chain.
      confirmed: this.#ledger.isBranchConfirmed ? [] : this.#progress.advance('confirmed'),
      finalized: this.#progress.advance('finalized'),
    };
    if (this.#subscriptions.size === 0 || this.#silent()) return;
    if (this.#likeNode) this.#publishSlot(happened);
    this.#publishUpdates(bankUpdates(happened));
    if (happened.kind === 'branch') this.#publishBranch(happened.block);
    // A node that changes its fork notifies of the new tip only.
    const switched = happened.kind === 'block' && happened.reverted !== null;
    for (const block of switched ? [happened.block] : advanced.processed) this.#publishBlock(block, 'processed');
    if (switched) this.#publishReverted(happened.reverted, happened.block);
    for (const commitment of ['confirmed', 'finalized'] as const) {
      for (const block of advanced[commitment]) {
        this.#publishBlock(block, commitment);
        this.#publishUpdates([progressUpdate(block, commitment)]);
      }
    }
    if (!this.#likeNode) this.#publishSlot(happened);
    for (const block of advanced.finalized) {
      for (const subscription of this.#subscriptions.about('root', 'processed')) {
        this.#notify('root', String(block.slot), subscription);
      }
    }
  }

  /** Notifies at once when a signature has landed before its subscription. */
  publishLanded(subscription: Subscription): void {
    if (subscription.topic.kind !== 'signature' || this.#silent()) return;
    const transaction = this.#ledger.transaction(subscription.topic.signature);
    if (transaction === null) return;
    if (this.#ledger.reached(transaction.block, subscription.commitment)) {
      this.#landed(subscription, transaction, subscription.commitment);
    } else if (subscription.topic.received) this.#received(subscription, transaction.block.slot);
  }

  #publishBranch(block: StoredBlock): void {
    this.#publishBlock(block, 'processed');
    if (!this.#ledger.reached(block, 'confirmed')) return;
    this.#publishBlock(block, 'confirmed');
    this.#publishUpdates([progressUpdate(block, 'confirmed')]);
  }

  #silent(): boolean {
    return this.#now() < this.#silentUntilMs;
  }

  #publishBlock(block: StoredBlock, commitment: Commitment): void {
    if (this.#likeNode) {
      this.#publishBank(block, commitment);
      return;
    }
    for (const transaction of block.transactions) {
      for (const account of transaction.writes) this.#publishAccount(account, block.slot, commitment);
      this.#publishLogs(transaction, commitment);
      this.#publishSignature(transaction, commitment);
    }
  }

  /** A node works through a whole slot per subscription: the last states of its accounts, and its logs, in no common order. */
  #publishBank(block: StoredBlock, commitment: Commitment): void {
    const states = new Map<string, AccountVersion>();
    for (const { writes } of block.transactions) for (const account of writes) states.set(account.pubkey, account);
    const publishLogs = (): void => {
      for (const transaction of block.transactions) this.#publishLogs(transaction, commitment);
    };
    const logsFirst = (block.blockhash.codePointAt(0) ?? 0) % 2 === 0;
    if (logsFirst) publishLogs();
    for (const account of states.values()) this.#publishAccount(account, block.slot, commitment);
    if (!logsFirst) publishLogs();
    for (const transaction of block.transactions) this.#publishSignature(transaction, commitment);
  }

  #publishAccount(account: AccountVersion, slot: number, commitment: Commitment): void {
    const printed = new Map<string, string>();
    const print = (format: AccountFormat): string => {
      const key = `${format.encoding}|${format.slice?.offset ?? ''}|${format.slice?.length ?? ''}`;
      let json = printed.get(key);
      if (json === undefined) {
        json = accountJson(account, format);
        printed.set(key, json);
      }
      return json;
    };
    // A closed account has no owner program, so program subscribers get no notification, as on a real node.
    if (account.data.length > 0) {
      for (const subscription of this.#subscriptions.about(`program|${account.owner}`, commitment)) {
        const { topic } = subscription;
        if (topic.kind !== 'program' || !passes(account.data, topic.filters)) continue;
        const value = `{"account":${print(topic.format)},"pubkey":"${account.pubkey}"}`;
        this.#notify('program', inContext(slot, value), subscription);
      }
    }
    for (const subscription of this.#subscriptions.about(`account|${account.pubkey}`, commitment)) {
      if (subscription.topic.kind !== 'account') continue;
      this.#notify('account', inContext(slot, print(subscription.topic.format)), subscription);
    }
  }

  #publishLogs(transaction: StoredTransaction, commitment: Commitment): void {
    const interested = [...this.#subscriptions.about('logs|', commitment)];
    for (const key of new Set(transaction.accountKeys)) {
      interested.push(...this.#subscriptions.about(`logs|${key}`, commitment));
    }
    if (interested.length === 0) return;
    this.#cut(transaction);
    const { signature, err } = transaction;
    const logs = transaction.cutLogs ?? transaction.logMessages;
    const value = inContext(transaction.block.slot, JSON.stringify({ signature, err, logs }));
    for (const subscription of interested) this.#notify('logs', value, subscription);
  }

  #cut(transaction: StoredTransaction): void {
    if (this.#logsToCut === 0 || transaction.cutLogs !== null) return;
    const lines = transaction.logMessages;
    const lastEvent = lines.findLastIndex((line) => EVENT_LINE.test(line));
    if (lastEvent < 0) return;
    this.#logsToCut -= 1;
    transaction.cutLogs = [...lines.slice(0, Math.min(lastEvent, lines.length >> 1)), LOG_TRUNCATED];
  }

  #publishSignature(transaction: StoredTransaction, commitment: Commitment): void {
    const subject = `signature|${transaction.signature}`;
    if (commitment === 'processed') {
      for (const level of COMMITMENTS) {
        for (const subscription of this.#subscriptions.about(subject, level)) {
          if (subscription.topic.kind === 'signature' && subscription.topic.received) {
            this.#received(subscription, transaction.block.slot);
          }
        }
      }
    }
    for (const subscription of this.#subscriptions.about(subject, commitment)) {
      this.#landed(subscription, transaction, commitment);
    }
  }

  #received(subscription: Subscription, slot: number): void {
    this.#notify('signature', inContext(slot, '"receivedSignature"'), subscription);
  }

  #landed(subscription: Subscription, transaction: StoredTransaction, commitment: Commitment): void {
    const slot = this.#ledger.slotAt(commitment);
    this.#notify('signature', inContext(slot, JSON.stringify({ err: transaction.err })), subscription);
    this.#subscriptions.end(subscription);
  }

  /** A node announces a slot when its bank starts, before any of its data. */
  #publishSlot(happened: Happened): void {
    if (happened.kind === 'skipped') return;
    const { slot, parentSlot } =
      happened.kind === 'dead' ? happened : (this.#announced(happened.block) ?? happened.block);
    const value = `{"parent":${parentSlot},"root":${this.#ledger.slotAt('finalized')},"slot":${slot}}`;
    for (const subscription of this.#subscriptions.about('slot', 'processed')) {
      this.#notify('slot', value, subscription);
    }
  }

  #announced(block: StoredBlock): StoredBlock | null {
    return this.#likeNode ? block : this.#ledger.blockAt('processed');
  }

  #publishUpdates(updates: readonly object[]): void {
    for (const subscription of this.#subscriptions.about('slotsUpdates', 'processed')) {
      for (const update of updates) this.#notify('slotsUpdates', JSON.stringify(update), subscription);
    }
  }

  /** Subscribers of one account learn that it went back to an older state; nobody else does. */
  #publishReverted(keys: ReadonlySet<string>, block: StoredBlock): void {
    const rewritten = new Set(block.transactions.flatMap(({ writes }) => writes.map(({ pubkey }) => pubkey)));
    for (const pubkey of keys) {
      if (rewritten.has(pubkey)) continue;
      for (const subscription of this.#subscriptions.about(`account|${pubkey}`, 'processed')) {
        if (subscription.topic.kind !== 'account') continue;
        const account = this.#ledger.account(pubkey, 'processed') ?? closedAccount(pubkey, block.slot);
        this.#notify('account', inContext(block.slot, accountJson(account, subscription.topic.format)), subscription);
      }
    }
  }

  #notify(kind: string, result: string, subscription: Subscription): void {
    this.#published += 1;
    this.#delivery.send(kind, result, subscription);
  }
}

const NO_OWNER = '11111111111111111111111111111111';

function closedAccount(pubkey: string, slot: number): AccountVersion {
  return { pubkey, owner: NO_OWNER, lamports: 0, data: Buffer.alloc(0), slot, writeVersion: 0, zstd: null };
}

function inContext(slot: number, value: string): string {
  return `{"context":{"slot":${slot}},"value":${value}}`;
}
