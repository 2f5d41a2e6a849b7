// All markets of one partition of `book`: applies records, returns encoded samples, saves and restores state.

import {
  decodeMessage,
  encodeMessage,
  type MarketRef,
  marketKey,
  messageName,
  parseMarketKey,
} from '../../schemas/index.ts';
import { type MarketPart, NO_SAMPLE, type SampleState, sampleAt, withMarket, withOracle } from './reducer.ts';

export interface SampleRecord {
  readonly key: string;
  readonly value: Uint8Array;
}

/** Messages that samples depend on; all others stay undecoded. */
const WANTED: ReadonlySet<string> = new Set(['BookMarket', 'BookOracle', 'BookTime']);

export class PartitionSamples {
  readonly #markets = new Map<string, SampleState>();

  /** Returns the samples of a record. An unreadable record has none: the book role parks it. */
  apply(bytes: Uint8Array): readonly SampleRecord[] {
    const message = read(bytes);
    switch (message?.name) {
      case 'BookMarket':
        this.#update(message.value, (state) => withMarket(state, message.value));
        return [];
      case 'BookOracle':
        this.#update(message.value, (state) => withOracle(state, message.value));
        return [];
      case 'BookTime':
        return [...this.#markets].flatMap(([key, state]) => {
          const taken = sampleAt(state, parseMarketKey(key), message.value);
          if (taken === null) return [];
          this.#markets.set(key, taken.state);
          return [{ key, value: encodeMessage('MarketSample', taken.sample) }];
        });
      default:
        return [];
    }
  }

  #update(ref: MarketRef, change: (state: SampleState) => SampleState): void {
    const key = marketKey(ref);
    this.#markets.set(key, change(this.#markets.get(key) ?? NO_SAMPLE));
  }

  save(): Uint8Array {
    const markets = [...this.#markets].map(([key, { slot, market, ...oracle }]) => ({
      key,
      slot,
      oracle: texts(oracle),
      market: texts(market),
    }));
    return Buffer.from(JSON.stringify(markets), 'utf8');
  }

  restore(bytes: Uint8Array): void {
    const markets = JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly SavedMarket[];
    for (const { key, slot, oracle, market } of markets) {
      const prices = numbers(oracle) as Omit<SampleState, 'slot' | 'market'>;
      this.#markets.set(key, { slot, ...prices, market: numbers(market) as unknown as MarketPart });
    }
  }
}

type Texts = Readonly<Record<string, string | number | null>>;
interface SavedMarket {
  readonly key: string;
  readonly slot: number;
  readonly oracle: Texts;
  readonly market: Texts;
}

/** JSON has no bigint, so bigints become text. */
function texts(values: object): Texts {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  );
}

function numbers(values: Texts): Readonly<Record<string, bigint | number | null>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? BigInt(value) : value]),
  );
}

function read(bytes: Uint8Array) {
  try {
    return WANTED.has(messageName(bytes)) ? decodeMessage(bytes) : null;
  } catch {
    return null;
  }
}
