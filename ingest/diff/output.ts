// What the differ hands on: messages of our own, in the order in which they must be written.

import bs58 from 'bs58';
import type {
  BookMarket,
  BookOracle,
  BookOrders,
  BookSnapshotBegin,
  BookSnapshotEnd,
  DeadLetter,
  MarketRef,
  OrderRef,
  OrderSource,
  OrderState,
  PositionMarket,
  PositionState,
} from '../../schemas/index.ts';
import type { VaultOutput } from '../decode/vault.ts';
import type { ParkReason } from '../park-reasons.ts';
import type { AccountUpdate } from '../source.ts';

export type Output =
  | { readonly name: 'BookOrders'; readonly value: BookOrders }
  | { readonly name: 'BookMarket'; readonly value: BookMarket }
  | { readonly name: 'BookOracle'; readonly value: BookOracle }
  | { readonly name: 'BookSnapshotBegin'; readonly value: BookSnapshotBegin }
  | { readonly name: 'BookSnapshotEnd'; readonly value: BookSnapshotEnd }
  | { readonly name: 'PositionState'; readonly value: PositionState }
  | { readonly name: 'PositionMarket'; readonly value: PositionMarket }
  | VaultOutput
  | { readonly name: 'DeadLetter'; readonly value: DeadLetter };

export type Emit = (output: Output) => void;

/** Bytes of an unreadable thing that are kept; the rest is on the chain. */
export const PARKED_BYTES_MAX = 4096;
const DETAIL_CHARACTERS_MAX = 500;

/** A dead letter with its detail and bytes bounded. */
export function deadLetter(
  reason: ParkReason,
  detail: string,
  slot: number,
  origin: string,
  bytes: Uint8Array,
): DeadLetter {
  return {
    reason,
    detail: detail.slice(0, DETAIL_CHARACTERS_MAX),
    slot,
    origin,
    bytes: Uint8Array.from(bytes.subarray(0, PARKED_BYTES_MAX)),
  };
}

export function parkAccount(emit: Emit, update: AccountUpdate, reason: ParkReason, detail: string): void {
  emit({
    name: 'DeadLetter',
    value: deadLetter(reason, detail, update.slot, bs58.encode(update.pubkey), update.data),
  });
}

/** Keys of maps: raw bytes as one-byte characters, cheaper than base58 and as unique. */
export function keyText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** Orders of one message; a larger change is split, so that a record stays far below a broker's limit of 1 MB. */
const ORDERS_MAX = 1000;

/** Collects what one account update changed, market by market. */
export class OrderChanges {
  readonly #source: OrderSource;
  readonly #account: Uint8Array;
  readonly #slot: number;
  readonly #markets = new Map<string, { market: MarketRef; upserts: OrderState[]; removals: OrderRef[] }>();

  constructor(source: OrderSource, account: Uint8Array, slot: number) {
    this.#source = source;
    this.#account = account;
    this.#slot = slot;
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
