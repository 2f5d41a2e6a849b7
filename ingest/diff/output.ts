// The differ's output: our own messages, in the order to write them.

import bs58 from 'bs58';
import type {
  AccountMargin,
  BookMarket,
  BookOracle,
  BookOrders,
  BookSnapshotBegin,
  BookSnapshotEnd,
  Cause,
  DeadLetter,
  MarginBegin,
  MarketMargin,
  MarketRef,
  OrderRef,
  OrderSource,
  OrderState,
  PositionMarket,
  PositionState,
  StreamCount,
  UserOrders,
} from '../../schemas/index.ts';
import { deadLetter, type ParkReason } from '../dead-letter.ts';
import type { PlainOutput } from '../decode/plain-states.ts';
import type { VaultOutput } from '../decode/vault.ts';
import type { AccountUpdate } from '../source.ts';

export type Output =
  | { readonly name: 'BookOrders'; readonly value: BookOrders }
  | { readonly name: 'BookMarket'; readonly value: BookMarket }
  | { readonly name: 'BookOracle'; readonly value: BookOracle }
  | { readonly name: 'BookSnapshotBegin'; readonly value: BookSnapshotBegin }
  | { readonly name: 'BookSnapshotEnd'; readonly value: BookSnapshotEnd }
  | { readonly name: 'StreamCounter'; readonly value: StreamCount }
  | { readonly name: 'PositionState'; readonly value: PositionState }
  | { readonly name: 'UserOrders'; readonly value: UserOrders }
  | { readonly name: 'PositionMarket'; readonly value: PositionMarket }
  | { readonly name: 'AccountMargin'; readonly value: AccountMargin }
  | { readonly name: 'MarketMargin'; readonly value: MarketMargin }
  | { readonly name: 'MarginBegin'; readonly value: MarginBegin }
  | VaultOutput
  | PlainOutput
  | { readonly name: 'DeadLetter'; readonly value: DeadLetter };

export type Emit = (output: Output) => void;

export function parkAccount(emit: Emit, update: AccountUpdate, reason: ParkReason, detail: string): void {
  emit({
    name: 'DeadLetter',
    value: deadLetter(reason, detail, update.slot, bs58.encode(update.pubkey), update.data),
  });
}

/** The transaction that wrote the account; null when the source does not know it. */
function causeOf({ slot, signature, blockIndex }: WriteOfAccount): Cause | null {
  return signature ? { slot, signature, index: blockIndex ?? null } : null;
}

/** When an account was written, and by whom where known. */
export type WriteOfAccount = Pick<AccountUpdate, 'slot' | 'signature' | 'blockIndex'>;

/** Orders per message. A larger change is split, so that a record stays far below the broker's limit of 1 MB. */
const ORDERS_MAX = 1000;

/** Collects the order changes of one account update by market. */
export class OrderChanges {
  readonly #source: OrderSource;
  readonly #account: Uint8Array;
  readonly #slot: number;
  readonly #cause: Cause | null;
  readonly #markets = new Map<string, { market: MarketRef; upserts: OrderState[]; removals: OrderRef[] }>();

  constructor(source: OrderSource, account: Uint8Array, write: WriteOfAccount) {
    this.#source = source;
    this.#account = account;
    this.#slot = write.slot;
    this.#cause = causeOf(write);
  }

  upsert(marketType: MarketRef['marketType'], marketIndex: number, order: OrderState): void {
    this.#of(marketType, marketIndex).upserts.push(order);
  }

  remove(marketType: MarketRef['marketType'], marketIndex: number, order: OrderRef): void {
    this.#of(marketType, marketIndex).removals.push(order);
  }

  emit(emit: Emit): void {
    for (const { market, upserts, removals } of this.#markets.values()) {
      const length = Math.max(upserts.length, removals.length);
      for (let from = 0; from < length; from += ORDERS_MAX) {
        emit({
          name: 'BookOrders',
          value: {
            marketType: market.marketType,
            marketIndex: market.marketIndex,
            slot: this.#slot,
            source: this.#source,
            account: this.#account,
            upserts: upserts.slice(from, from + ORDERS_MAX),
            removals: removals.slice(from, from + ORDERS_MAX),
            cause: this.#cause,
          },
        });
      }
    }
  }

  #of(marketType: MarketRef['marketType'], marketIndex: number) {
    const key = `${marketType}-${marketIndex}`;
    let entry = this.#markets.get(key);
    if (!entry) {
      entry = { market: { marketType, marketIndex }, upserts: [], removals: [] };
      this.#markets.set(key, entry);
    }
    return entry;
  }
}

/** A change of a book with a slot of its own. */
export type BookChange = Extract<Output, { name: 'BookOrders' | 'BookMarket' | 'BookOracle' }>;

export function isBookChange(output: Output): output is BookChange {
  return output.name === 'BookOrders' || output.name === 'BookMarket' || output.name === 'BookOracle';
}

/** The change at another slot: a book shows the newest slot that a message named. */
export function changeAt(slot: number, { name, value }: BookChange): Output {
  return { name, value: { ...value, slot } } as Output;
}
