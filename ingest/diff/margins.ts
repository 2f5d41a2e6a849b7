// Collects what changed in the margin of accounts and markets until the next block time. An account that changes with every
// fill so costs one record a block time.

import type { AccountMargin, MarketMargin } from '../../schemas/index.ts';
import { marketKey } from '../../schemas/index.ts';
import type { UserReader } from '../decode/user.ts';
import type { Emit } from './output.ts';

interface ChangedAccount {
  readonly user: Uint8Array;
  readonly authority: Uint8Array;
  readonly slot: number;
  /** Null for a closed account. */
  readonly view: DataView | null;
}

const NOTHING = { isBeingLiquidated: false, balances: [], positions: [] } as const;

export class MarginChanges {
  readonly #reader: UserReader;
  readonly #accounts = new Map<string, ChangedAccount>();
  /** Digest of the last emitted state by market. */
  readonly #markets = new Map<string, string>();

  constructor(reader: UserReader) {
    this.#reader = reader;
  }

  /** Notes an account's new state. */
  account(key: string, changed: ChangedAccount): void {
    this.#accounts.set(key, changed);
  }

  /** Forgets which states of markets were emitted, so that all follow again. */
  repeatMarkets(): void {
    this.#markets.clear();
  }

  /** Emits changed markets, then changed accounts. */
  emit(markets: Iterable<MarketMargin>, emit: Emit): void {
    for (const market of markets) {
      const key = marketKey(market);
      const digest = digestOf(market);
      if (this.#markets.get(key) === digest) continue;
      this.#markets.set(key, digest);
      emit({ name: 'MarketMargin', value: market });
    }
    for (const { user, authority, slot, view } of this.#accounts.values()) {
      const margin = view === null ? NOTHING : this.#reader.margin.read(view);
      const value: AccountMargin = { slot, user, authority, ...margin };
      emit({ name: 'AccountMargin', value });
    }
    this.#accounts.clear();
  }
}

/** Everything but the slot. */
function digestOf(market: MarketMargin): string {
  return JSON.stringify({ ...market, slot: 0 }, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
}
