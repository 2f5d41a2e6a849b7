// Collects changes in the margin of accounts and markets until the next block time. An account that changes with every fill so
// costs one record a block time.

import { type AccountMargin, keyBytes, type MarketMargin, marketKey } from '../../schemas/index.ts';
import type { UserReader } from '../decode/user.ts';
import { LargeMap } from '../large-map.ts';
import type { Emit, Output } from './output.ts';

/** An account whose margin changed. */
export interface ChangedAccount {
  readonly slot: number;
  /** Of a closed account; null for an open one, whose stored data have it. */
  readonly authority: Uint8Array | null;
}

/** An open account with its data, to look at at once. */
export interface OpenAccount {
  readonly key: string;
  readonly slot: number;
  readonly peeked: Uint8Array;
}

const NOTHING = { isBeingLiquidated: false, balances: [], positions: [] } as const;

export class MarginChanges {
  readonly #reader: UserReader;
  readonly #accounts = new LargeMap<ChangedAccount>();
  /** Digest of the last emitted state by market. */
  readonly #markets = new Map<string, string>();

  constructor(reader: UserReader) {
    this.#reader = reader;
  }

  /** Notes that an account has another margin. */
  account(key: string, changed: ChangedAccount): void {
    this.#accounts.set(key, changed);
  }

  /** Emits changed markets, then changed accounts, in steps. `dataOf` has the data of an open account, to look at at once. */
  *emit(markets: Iterable<MarketMargin>, dataOf: (key: string) => Uint8Array | null, emit: Emit): Generator<void> {
    this.#emitMarkets(markets, emit);
    for (const [key, { slot, authority }] of this.#accounts) {
      const data = authority ? null : dataOf(key);
      if (authority) emit(accountMargin({ slot, user: keyBytes(key), authority, ...NOTHING }));
      else if (data) this.#emitAccount(key, slot, data, emit);
      yield;
    }
    this.#accounts.clear();
  }

  /** Emits all markets and these accounts, in steps. This includes earlier changes. */
  *emitAll(markets: Iterable<MarketMargin>, accounts: Iterable<OpenAccount>, emit: Emit): Generator<void> {
    this.#markets.clear();
    this.#accounts.clear();
    this.#emitMarkets(markets, emit);
    for (const { key, slot, peeked } of accounts) {
      this.#emitAccount(key, slot, peeked, emit);
      yield;
    }
  }

  #emitMarkets(markets: Iterable<MarketMargin>, emit: Emit): void {
    for (const market of markets) {
      const key = marketKey(market);
      const digest = digestOf(market);
      if (this.#markets.get(key) === digest) continue;
      this.#markets.set(key, digest);
      emit({ name: 'MarketMargin', value: market });
    }
  }

  #emitAccount(key: string, slot: number, data: Uint8Array, emit: Emit): void {
    const view = this.#reader.account.open(data);
    const margin = this.#reader.margin.read(view);
    emit(accountMargin({ slot, user: keyBytes(key), authority: this.#reader.authority(view), ...margin }));
  }
}

function accountMargin(value: AccountMargin): Output {
  return { name: 'AccountMargin', value };
}

/** Everything but the slot. */
function digestOf(market: MarketMargin): string {
  return JSON.stringify({ ...market, slot: 0 }, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}
