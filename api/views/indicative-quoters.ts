// The keys that quoted in each market within the last hour.

import { LRUCache } from 'lru-cache';
import { keyText, TOPICS } from '../../schemas/index.ts';

const HOUR_MS = 3_600_000;
/** As long as the log keeps quotes. */
const KNOWN_MS = TOPICS.quotes.retention.hours * HOUR_MS;
/** Bound per market. The key with the oldest quote leaves first. */
const MAX_QUOTERS = 256;

interface Quoter {
  readonly key: Uint8Array;
  readonly seenAtMs: number;
}

export class KnownQuoters {
  readonly #markets = new Map<string, LRUCache<string, Quoter>>();

  /** Records that a key quoted at `atMs`, wall-clock milliseconds. */
  record(market: string, key: Uint8Array, atMs: number): void {
    const quoters = this.#markets.get(market) ?? new LRUCache<string, Quoter>({ max: MAX_QUOTERS });
    this.#markets.set(market, quoters);
    quoters.set(keyText(key), { key, seenAtMs: atMs });
  }

  /** Keys that are known in a market at `nowMs`, the newest quote first. */
  in(market: string, nowMs: number): Uint8Array[] {
    const quoters = this.#markets.get(market)?.values() ?? [];
    return [...quoters].filter(({ seenAtMs }) => seenAtMs > nowMs - KNOWN_MS).map(({ key }) => key);
  }
}
