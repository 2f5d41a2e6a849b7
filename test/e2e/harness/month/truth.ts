// All events that the chain emitted, as plain lists: the base of the naive recomputation. Nothing here depends on how the
// service stores or queries; the rules come from docs/internals/history-semantics.md.

import bs58 from 'bs58';
import type { TruthVault } from '../../../../localnet/index.ts';
import type { Cluster } from '../../../support/processes/processes.ts';

const PAGE_EVENTS = 5_000;
export const NO_KEY = '11111111111111111111111111111111';
/** A key that no record names. */
export const STRANGER = 'So11111111111111111111111111111111111111112';
export const PERP_SYMBOLS = ['SOL-PERP', 'BTC-PERP', 'ETH-PERP', 'HYPE-PERP'] as const;
export const SPOT_SYMBOLS = ['USDT', 'SOL', 'BTC'] as const;

export type Data = Readonly<Record<string, unknown>>;

export interface MonthEvent {
  readonly name: string;
  readonly signature: string;
  readonly index: number;
  readonly slot: number;
  /** Unix seconds of the event itself; 0 for the few kinds without. */
  readonly ts: number;
  readonly data: Data;
  /** Place among all events of the chain, oldest first. */
  readonly order: number;
}

export function symbolOf(type: unknown, index: unknown): string {
  return (type === 'perp' ? PERP_SYMBOLS : SPOT_SYMBOLS)[Number(index)] ?? '';
}

export class MonthTruth {
  readonly events: readonly MonthEvent[];
  /** Vaults at the end. */
  readonly vaults: readonly TruthVault[];
  readonly #byName = new Map<string, MonthEvent[]>();
  readonly #wallets = new Map<string, string>();
  readonly #signatures = new Map<string, Buffer>();

  constructor(events: readonly MonthEvent[], vaults: readonly TruthVault[]) {
    this.events = events;
    this.vaults = vaults;
    for (const event of events) {
      const list = this.#byName.get(event.name);
      if (list) list.push(event);
      else this.#byName.set(event.name, [event]);
      const { user, user_authority: authority } = event.data;
      if (typeof user === 'string' && typeof authority === 'string') this.#wallets.set(user, authority);
    }
  }

  /** Reads every event of the cluster, and its vaults. */
  static async read(cluster: Cluster): Promise<MonthTruth> {
    const events: MonthEvent[] = [];
    for (;;) {
      const page = await cluster.rpc<Omit<MonthEvent, 'ts' | 'order'>[]>('localnet_events', [
        { from: events.length, limit: PAGE_EVENTS },
      ]);
      if (page.length === 0) return new MonthTruth(events, await cluster.rpc<TruthVault[]>('localnet_vaults'));
      for (const event of page) events.push({ ...event, ts: Number(event.data.ts ?? 0), order: events.length });
    }
  }

  /** Events of one kind, oldest first, as the chain emitted them. */
  of(name: string, filter: (data: Data) => boolean = () => true): readonly MonthEvent[] {
    return (this.#byName.get(name) ?? []).filter(({ data }) => filter(data));
  }

  fills(filter: (data: Data) => boolean = () => true): readonly MonthEvent[] {
    return this.of('OrderActionRecord', (data) => data.action === 'fill' && filter(data));
  }

  /** Wallet of an account, from any record that names both. */
  walletOf(user: unknown): string | null {
    return this.#wallets.get(String(user)) ?? null;
  }

  accounts(): readonly string[] {
    return [...this.#wallets.keys()];
  }

  wallets(): readonly string[] {
    return [...new Set(this.#wallets.values())];
  }

  countsByName(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#byName].map(([name, list]) => [name, list.length] as const).sort());
  }

  /**
   * Newest first, in the order of lists: time, slot, the list's own counter where it has one, then signature and index.
   */
  newestFirst(
    events: readonly MonthEvent[],
    counter?: string | ((event: MonthEvent) => bigint),
  ): readonly MonthEvent[] {
    const count = (event: MonthEvent): bigint => {
      if (typeof counter === 'function') return counter(event);
      return BigInt(counter ? String(event.data[counter] ?? 0) : 0);
    };
    return [...events].sort((a, b) => {
      if (a.ts !== b.ts) return b.ts - a.ts;
      if (a.slot !== b.slot) return b.slot - a.slot;
      const [first, second] = [count(a), count(b)];
      if (first !== second) return first < second ? 1 : -1;
      return Buffer.compare(this.#bytesOf(b), this.#bytesOf(a)) || b.index - a.index;
    });
  }

  #bytesOf({ signature }: MonthEvent): Buffer {
    const known = this.#signatures.get(signature);
    if (known) return known;
    const bytes = Buffer.from(bs58.decode(signature));
    this.#signatures.set(signature, bytes);
    return bytes;
  }
}

export function big(value: unknown): bigint {
  return BigInt(String(value ?? 0));
}

/** Seconds of a UTC day or month. */
export function utcSpan(year: number, month: number, day?: number): { readonly from: number; readonly to: number } {
  const from = Date.UTC(year, month - 1, day ?? 1) / 1000;
  const to = day === undefined ? Date.UTC(year, month, 1) : Date.UTC(year, month - 1, day + 1);
  return { from, to: to / 1000 };
}
