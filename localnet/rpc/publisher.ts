// Turns each new block into notifications: for every transaction its account writes in order, then its logs; after the
// transactions the slot. It also holds the faults that tests put between the chain and its listeners.

import type { AccountVersion, Commitment, Ledger, StoredBlock, StoredTransaction } from '../ledger.ts';
import { type AccountFormat, accountJson, passes } from './account-json.ts';
import type { Subscription, Subscriptions } from './subscriptions.ts';

const COMMITMENTS: readonly Commitment[] = ['processed', 'confirmed', 'finalized'];
/** Last line of a log that a node cut. */
const TRUNCATED = 'Log truncated';
const EVENT_LINE = /^Program (data|log): /;

export class Publisher {
  readonly #ledger: Ledger;
  readonly #subscriptions: Subscriptions;
  readonly #now: () => number;
  #silentUntilMs = 0;
  #logsToCut = 0;
  #published = 0;

  /** `now` gives milliseconds; only the silence fault reads it. */
  constructor(ledger: Ledger, subscriptions: Subscriptions, now: () => number = Date.now) {
    this.#ledger = ledger;
    this.#subscriptions = subscriptions;
    this.#now = now;
  }

  /** Notifications made so far; each counts once whatever the number of its receivers. */
  get published(): number {
    return this.#published;
  }

  /** Publishes nothing for a while, though sockets stay open and calls are answered. */
  silence(durationMs: number): void {
    this.#silentUntilMs = this.#now() + durationMs;
  }

  /** Cuts the logs of the next transactions that are notified and carry events; calls still give them in full. */
  truncateLogs(transactions: number): void {
    this.#logsToCut = transactions;
  }

  /** Tells subscribers what each commitment level has reached with the newest block. */
  publish(): void {
    if (this.#subscriptions.size === 0 || this.#silent()) return;
    for (const commitment of COMMITMENTS) {
      const block = this.#ledger.blockAt(commitment);
      if (block !== null) this.#publishBlock(block, commitment);
    }
    this.#publishSlot();
  }

  /** A signature that has landed before it was subscribed to is told at once. */
  publishLanded(subscription: Subscription): void {
    if (subscription.topic.kind !== 'signature' || this.#silent()) return;
    const transaction = this.#ledger.history.transaction(subscription.topic.signature);
    if (transaction === null) return;
    if (transaction.block.slot <= this.#ledger.slotAt(subscription.commitment)) {
      this.#landed(subscription, transaction, subscription.commitment);
    } else if (subscription.topic.received) this.#received(subscription, transaction.block.slot);
  }

  #silent(): boolean {
    return this.#now() < this.#silentUntilMs;
  }

  #publishBlock(block: StoredBlock, commitment: Commitment): void {
    for (const transaction of block.transactions) {
      for (const account of transaction.writes) this.#publishAccount(account, block.slot, commitment);
      this.#publishLogs(transaction, commitment);
      this.#publishSignature(transaction, commitment);
    }
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
    // A closed account belongs to no program any more, so program subscribers hear nothing of it, as on a real node.
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
    transaction.cutLogs = [...lines.slice(0, Math.min(lastEvent, lines.length >> 1)), TRUNCATED];
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

  #publishSlot(): void {
    const block = this.#ledger.blockAt('processed');
    if (block === null) return;
    const root = this.#ledger.slotAt('finalized');
    const value = `{"parent":${block.parentSlot},"root":${root},"slot":${block.slot}}`;
    for (const subscription of this.#subscriptions.about('slot', 'processed')) {
      this.#notify('slot', value, subscription);
    }
    if (this.#ledger.blockAt('finalized') === null) return;
    for (const subscription of this.#subscriptions.about('root', 'processed')) {
      this.#notify('root', String(root), subscription);
    }
  }

  #notify(kind: string, result: string, subscription: Subscription): void {
    const frame = Buffer.from(
      `{"jsonrpc":"2.0","method":"${kind}Notification","params":{"result":${result},"subscription":${subscription.id}}}`,
    );
    this.#published += 1;
    for (const subscriber of subscription.subscribers) subscriber.send(frame);
  }
}

function inContext(slot: number, value: string): string {
  return `{"context":{"slot":${slot}},"value":${value}}`;
}
