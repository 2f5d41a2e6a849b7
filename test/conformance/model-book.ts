// A book of plain maps that makes its own random changes, and gives the entries and checksum lines that a stream has for them.
// The naive book (test/support/processors/book/naive.ts) applies the exchange's rules to log messages. Vectors of the protocol
// need other rules: depth, diffs and checksums.

export type Side = 'bids' | 'asks';

interface ModelLevel {
  readonly dlob: bigint;
  readonly vamm: bigint;
}

interface ModelOrder {
  readonly side: Side;
  readonly price: bigint;
  readonly size: bigint;
  readonly maker: string;
  readonly orderId: number;
  readonly source: 'user' | 'clob';
  readonly rank: readonly number[];
}

type Entries = Readonly<Record<string, unknown>>;

const SIDES: readonly Side[] = ['bids', 'asks'];
const MID = 81_120_000n;
const TICK = 10n;
const TICKS = 16;

export class ModelBook {
  readonly #level: 'l2' | 'l3';
  readonly #depth: number;
  readonly #next: () => number;
  readonly #levels = { bids: new Map<bigint, ModelLevel>(), asks: new Map<bigint, ModelLevel>() };
  readonly #orders = new Map<string, ModelOrder>();
  #arrivals = 0;
  #visible: Record<Side, Map<string, Entry>> | null = null;

  constructor(level: 'l2' | 'l3', depth: number, next: () => number) {
    this.#level = level;
    this.#depth = depth;
    this.#next = next;
  }

  /** Makes random changes. Returns the entries of the diff that brings a client from before to after. */
  change(count: number): Entries {
    const before = this.#published();
    this.#visible = null;
    for (let index = 0; index < count; index += 1) this.#level === 'l2' ? this.#changeLevel() : this.#changeOrder();
    return this.#difference(before, this.#published());
  }

  /** Entries of a snapshot. */
  snapshot(): Entries {
    const published = this.#published();
    return Object.fromEntries(SIDES.map((side) => [side, [...published[side].values()].map(({ entry }) => entry)]));
  }

  /** Checksum lines of the best `levels` prices of a side. */
  lines(side: Side, levels = Number.POSITIVE_INFINITY): string[] {
    const visible = [...this.#published()[side].values()];
    const prices = new Set([...new Set(visible.map(({ price }) => price))].slice(0, levels));
    return visible.filter(({ price }) => prices.has(price)).map(({ line }) => line);
  }

  #any(count: number): number {
    return Math.floor(this.#next() * count);
  }

  #price(side: Side): bigint {
    const ticks = BigInt(this.#any(TICKS)) * TICK;
    return side === 'bids' ? MID - ticks : MID + TICK + ticks;
  }

  #changeLevel(): void {
    const side = SIDES[this.#any(2)] ?? 'bids';
    const price = this.#price(side);
    // Some sizes exceed 2^53, where floating point would lose digits.
    const size = (): bigint => BigInt(this.#any(4)) * (this.#any(5) === 0 ? 9_007_199_254_740_993n : 500_000_000n);
    const level = { dlob: size(), vamm: size() };
    if (level.dlob + level.vamm === 0n) this.#levels[side].delete(price);
    else this.#levels[side].set(price, level);
  }

  #changeOrder(): void {
    const side = SIDES[this.#any(2)] ?? 'bids';
    const maker = `M${this.#any(3)}`;
    const orderId = this.#any(12);
    const source = this.#any(3) === 0 ? 'clob' : 'user';
    const key = `${source}:${orderId}:${maker}`;
    if (this.#any(3) === 0) {
      this.#orders.delete(key);
      return;
    }
    this.#arrivals += 1;
    const known = this.#orders.get(key);
    const rank = known && this.#any(2) === 0 ? known.rank : [1 + this.#any(3), 90 + this.#any(20), this.#arrivals];
    const size = BigInt(1 + this.#any(5)) * 250_000_000n;
    this.#orders.set(key, { side, price: this.#price(side), size, maker, orderId, source, rank });
  }

  /** The entries of a stream of this depth, best first, by key. */
  #published(): Record<Side, Map<string, Entry>> {
    if (this.#visible) return this.#visible;
    const visible = { bids: new Map<string, Entry>(), asks: new Map<string, Entry>() };
    this.#visible = visible;
    for (const side of SIDES) {
      const all = this.#level === 'l2' ? this.#visibleLevels(side) : this.#visibleOrders(side);
      const prices = new Set([...new Set(all.map(({ price }) => price))].slice(0, this.#depth));
      for (const one of all) if (prices.has(one.price)) visible[side].set(one.key, one);
    }
    return visible;
  }

  #visibleLevels(side: Side): Entry[] {
    const sign = side === 'bids' ? -1n : 1n;
    const sorted = [...this.#levels[side]].sort(([a], [b]) => Number(sign * (a - b)));
    return sorted.map(([price, { dlob, vamm }]) => {
      const size = dlob + vamm;
      const parts = [...(dlob > 0n ? [`dlob=${dlob}`] : []), ...(vamm > 0n ? [`vamm=${vamm}`] : [])];
      const head = [String(price), String(size)];
      const entry =
        vamm === 0n ? head : dlob === 0n ? [...head, 'vamm'] : [...head, { dlob: String(dlob), vamm: String(vamm) }];
      return {
        key: `${side} ${price}`,
        price,
        entry,
        gone: [String(price), '0'],
        line: `${price} ${size} ${parts.join()}`,
      };
    });
  }

  #visibleOrders(side: Side): Entry[] {
    const sign = side === 'bids' ? -1n : 1n;
    const own = [...this.#orders.values()].filter((order) => order.side === side);
    own.sort((a, b) => Number(sign * (a.price - b.price)) || compareRanks(a.rank, b.rank));
    return own.map(({ price, size, maker, orderId, source, rank }) => ({
      key: `${source}:${orderId}:${maker}`,
      price,
      entry: { price: String(price), size: String(size), maker, orderId, source, rank },
      gone: { maker, orderId, source },
      line: `${price} ${size} ${maker} ${orderId} ${source}`,
    }));
  }

  #difference(before: Record<Side, Map<string, Entry>>, after: Record<Side, Map<string, Entry>>): Entries {
    const lists: Record<string, unknown[]> = {};
    const stays = (key: string): boolean => after.bids.has(key) || after.asks.has(key);
    for (const side of SIDES) {
      const left = [...before[side].values()].filter(({ key }) => !stays(key)).map(({ gone }) => gone);
      const changed = [...after[side].values()]
        .filter(({ key, entry }) => JSON.stringify(before[side].get(key)?.entry) !== JSON.stringify(entry))
        .map(({ entry }) => entry);
      if (this.#level === 'l2') lists[side] = [...left, ...changed];
      else {
        lists.gone = [...(lists.gone ?? []), ...left];
        lists[side] = changed;
      }
    }
    return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
  }
}

interface Entry {
  readonly key: string;
  readonly price: bigint;
  readonly entry: unknown;
  /** Its entry in a diff when it leaves. */
  readonly gone: unknown;
  readonly line: string;
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((number, index) => number !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}
