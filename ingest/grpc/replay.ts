// Holds the beginning of a stream until it is proven to continue an earlier one.

import { keyText } from '../../schemas/index.ts';
import { isNewer } from '../rpc/intake.ts';
import type { AccountUpdate, TransactionLogs } from '../source.ts';
import { BlockChain, type BlockRef, type LinkedBlock } from './cursor.ts';

export type ReplayState = 'waiting' | 'reached' | 'missing' | 'fork';

export class Replay {
  readonly chain: BlockChain;
  readonly #from: BlockRef;
  readonly #toSlot: number;
  /** By slot and account: of the writes of a slot only the last, because an earlier stream may have delivered it. */
  readonly #accounts = new Map<string, { readonly kind: number; readonly update: AccountUpdate }>();
  readonly #transactions: TransactionLogs[] = [];

  /** The earlier stream delivered everything up to `from`, and something up to `toSlot`. */
  constructor(from: BlockRef, toSlot: number) {
    this.chain = new BlockChain(from);
    this.#from = from;
    this.#toSlot = toSlot;
  }

  /** Number of updates in memory. */
  get size(): number {
    return this.#accounts.size + this.#transactions.length;
  }

  account(update: AccountUpdate, kind: number): void {
    if (update.slot <= this.#from.slot) return;
    const key = `${update.slot}|${keyText(update.pubkey)}`;
    const before = this.#accounts.get(key);
    if (!before || !isNewer(before.update, update)) this.#accounts.set(key, { kind, update });
  }

  transaction(transaction: TransactionLogs): void {
    this.#transactions.push(transaction);
  }

  /** `reached`: both streams have the same blocks, and this one has come to the end of the earlier one. */
  block(block: LinkedBlock): ReplayState {
    if (block.slot < this.#from.slot) return 'waiting';
    const link = this.chain.add(block);
    if (link === 'missing' || link === 'fork') return link;
    return block.slot >= this.#toSlot ? 'reached' : 'waiting';
  }

  /** Updates after the earlier stream's last complete slot, in the order of slots, and all transactions. */
  get updates() {
    const accounts = [...this.#accounts.values()].sort((a, b) => a.update.slot - b.update.slot);
    return { accounts, transactions: this.#transactions };
  }
}
