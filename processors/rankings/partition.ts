// All rankings of one partition of `positions`: records in, encoded rankings out. Pure, so that a replay of the same
// records writes the same bytes.

import {
  decodeMessage,
  encodeMessage,
  type MarketRef,
  marketKey,
  parseMarketKey,
  SchemaError,
  TOPICS,
} from '../../schemas/index.ts';
import { deadLetter } from '../follow/dead-letter.ts';
import { type Change, MarketRanking, savedValue } from './market.ts';

export interface InputRecord {
  readonly offset: bigint;
  readonly value: Uint8Array;
}

export interface RankingOutput {
  readonly kind: 'ranking' | 'dead';
  readonly key: string;
  readonly value: Uint8Array;
}

export class PartitionRankings {
  readonly partition: number;
  readonly markets = new Map<string, MarketRanking>();
  /** Newest slot that ended. */
  slot = 0;

  constructor(partition: number) {
    this.partition = partition;
  }

  /** Restores one saved value; skips values of another version. */
  restore(key: string, value: Uint8Array): void {
    const known = savedValue(key, value);
    if (!known) return;
    const market = this.#of(parseMarketKey(known.marketKey));
    if (known.is === 'position') {
      market.restorePosition(known.user, known.held);
      return;
    }
    try {
      const message = decodeMessage(known.message);
      if (message.name === 'PositionMarket') market.restoreMarket(message.value, known.due);
    } catch (error) {
      // State with a registry id, from an earlier release: the market's next record replaces it.
      if (!(error instanceof SchemaError)) throw error;
    }
  }

  /** Applies a record and adds its rankings to `outputs`. Never throws for a bad record. */
  apply(record: InputRecord, outputs: RankingOutput[]): void {
    try {
      this.#apply(record.value, outputs);
    } catch (error) {
      outputs.push(this.#deadLetter(record, error));
    }
  }

  /** False during a whole read of some market: its state must not be saved then. */
  get isWhole(): boolean {
    for (const market of this.markets.values()) if (market.isReading) return false;
    return true;
  }

  /** State that changed since the last call. */
  takeChanges(): Change[] {
    return [...this.markets.values()].flatMap((market) => market.takeChanges());
  }

  #apply(value: Uint8Array, outputs: RankingOutput[]): void {
    const message = decodeMessage(value);
    switch (message.name) {
      case 'PositionState':
        this.#of(message.value).position(message.value);
        break;
      case 'PositionMarket':
        this.#of(message.value).market(message.value);
        break;
      case 'BookSnapshotBegin':
        this.#of(message.value).begin();
        break;
      case 'BookSnapshotEnd':
        this.#of(message.value).end();
        break;
      case 'BookSlot':
        this.#slotEnded(message.value.slot, outputs);
        break;
      default:
        throw new RangeError(`${message.name} does not belong to positions`);
    }
  }

  #slotEnded(slot: number, outputs: RankingOutput[]): void {
    this.slot = Math.max(this.slot, slot);
    for (const market of this.markets.values()) {
      const ranking = market.rankingAt(slot);
      if (ranking) outputs.push({ kind: 'ranking', key: market.key, value: encodeMessage('PnlRanking', ranking) });
    }
  }

  #of(ref: MarketRef): MarketRanking {
    const key = marketKey(ref);
    let market = this.markets.get(key);
    if (!market) {
      market = new MarketRanking(ref);
      this.markets.set(key, market);
    }
    return market;
  }

  #deadLetter({ offset, value }: InputRecord, error: unknown): RankingOutput {
    const record = { partition: this.partition, offset, value };
    return { kind: 'dead', ...deadLetter('position-record', TOPICS.positions, record, error, this.slot) };
  }
}
