// Collects changes in the margin of accounts and markets until the next block time. An account that changes with every fill so
// costs one record a block time.

import { type AccountMargin, keyBytes, type MarketMargin, marketKey } from '../../schemas/index.ts';
import type { UserReader } from '../decode/user.ts';
import { LargeMap } from '../large-map.ts';
import { PackRoom } from '../packed.ts';
import type { Emit, Output } from './output.ts';

/** An account whose margin changed. */
export interface ChangedAccount {
  readonly slot: number;
  /** Of a closed account; null for an open one, whose stored data have it. */
  readonly authority: Uint8Array | null;
}

/** An open account. */
export interface OpenAccount {
  readonly key: string;
  readonly slot: number;
  /** Its data: valid until the next use of the room. */
  peek(room: PackRoom): Uint8Array;
}

const NOTHING = { isBeingLiquidated: false, balances: [], positions: [] } as const;

export class MarginChanges {
  readonly #reader: UserReader;
  readonly #room = new PackRoom();
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

  /** Emits changed markets, then changed accounts, in steps. `openOf` returns an open account by its key. */
  *emit(markets: Iterable<MarketMargin>, openOf: (key: string) => OpenAccount | null, emit: Emit): Generator<void> {
    this.#emitMarkets(markets, emit);
    for (const [key, { slot, authority }] of this.#accounts) {
      const open = authority ? null : openOf(key);
      if (authority) emit(accountMargin({ slot, user: keyBytes(key), authority, ...NOTHING }));
      else if (open) this.#emitAccount(key, slot, open.peek(this.#room), emit);
      yield;
    }
    this.#accounts.clear();
  }

  /** Emits all markets and these accounts, in steps. This includes earlier changes. */
  *emitAll(markets: Iterable<MarketMargin>, accounts: Iterable<OpenAccount>, emit: Emit): Generator<void> {
    this.#markets.clear();
    this.#accounts.clear();
    this.#emitMarkets(markets, emit);
    for (const one of accounts) {
      this.#emitAccount(one.key, one.slot, one.peek(this.#room), emit);
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
