// Who is known to send indicative quotes in a market: those whose quotes came in within the last hour.

import { TOPICS } from '../../schemas/index.ts';

const HOUR_MS = 3_600_000;
/** A quoter is known as long as its quotes are kept in the log. */
const KNOWN_MS = TOPICS.quotes.retention.hours * HOUR_MS;
/** Keys remembered per market; the one not heard of for longest leaves first. */
const MAX_QUOTERS = 256;

interface Quoter {
  readonly key: Uint8Array;
  seenAtMs: number;
}

export class KnownQuoters {
  readonly #markets = new Map<string, Map<string, Quoter>>();

  /** Notes that the holder of a key quoted at `atMs`, wall-clock milliseconds. */
  saw(market: string, key: Uint8Array, atMs: number): void {
    const quoters = this.#markets.get(market) ?? new Map<string, Quoter>();
    this.#markets.set(market, quoters);
    const name = Buffer.from(key).toString('latin1');
    // Set anew, so that insertion order is the order of being seen.
    quoters.delete(name);
    quoters.set(name, { key, seenAtMs: atMs });
    if (quoters.size <= MAX_QUOTERS) return;
    const [oldest] = quoters.keys();
    if (oldest !== undefined) quoters.delete(oldest);
  }

  /** Keys known in a market at `nowMs`. */
  in(market: string, nowMs: number): Uint8Array[] {
    const quoters = this.#markets.get(market)?.values() ?? [];
    return [...quoters].filter(({ seenAtMs }) => seenAtMs > nowMs - KNOWN_MS).map(({ key }) => key);
  }
}
