// Diffs market, oracle and State accounts: market states, a price for every market from its oracle, and the inputs of
// position P&L.

import {
  type BookMarket,
  type BookOracle,
  keyText,
  type MarketMargin,
  type MarketRef,
  marketKey,
  type PositionMarket,
} from '../../schemas/index.ts';
import { AccountError } from '../decode/account.ts';
import { type ExchangeState, type MarketOracle, type MarketReader, UNKNOWN_EXCHANGE } from '../decode/market.ts';
import { quoteAssetPrice, readOracle } from '../decode/oracle.ts';
import type { OraclePrice } from '../decode/oracle-price.ts';
import type { AccountUpdate } from '../source.ts';
import type { Emit } from './output.ts';

interface StoredMarket {
  readonly ref: MarketRef;
  readonly reader: MarketReader;
  readonly pubkey: Uint8Array;
  readonly view: DataView;
  readonly slot: number;
  readonly oracle: MarketOracle;
  readonly oracleKey: string;
  /** Key text of the account with the market-level book. */
  readonly clobKey: string | null;
}

const QUOTE_ASSET = 'quoteAsset';

export class MarketDiffer {
  readonly #markets = new Map<string, StoredMarket>();
  readonly #oracles = new Map<string, AccountUpdate>();
  /** Last emitted price per market. A market update without a new price emits none. */
  readonly #prices = new Map<string, BookOracle>();
  readonly #funds = new Map<string, PositionMarket>();
  /** Last emitted number per stream. */
  readonly #counts = new Map<string, number>();
  #exchange = UNKNOWN_EXCHANGE;

  /** Applies a market account's new state. Throws AccountError for unreadable data and then changes nothing. */
  market(update: AccountUpdate, reader: MarketReader, emit: Emit): void {
    const view = reader.account.open(update.data);
    const oracle = reader.oracle(view);
    const clobMarket = reader.clobMarket(view);
    const stored: StoredMarket = {
      ref: { marketType: reader.marketType, marketIndex: reader.marketIndex(view) },
      reader,
      pubkey: update.pubkey,
      view,
      slot: update.slot,
      oracle,
      oracleKey: keyText(oracle.oracle),
      clobKey: clobMarket && keyText(clobMarket),
    };
    this.#markets.set(marketKey(stored.ref), stored);
    emit({ name: 'BookMarket', value: this.#state(stored, update.slot) });
    this.#counters(stored, update.slot, emit);
    this.#price(stored, update.slot, emit);
    this.#fundsOf(stored, update.slot, emit);
  }

  #counters({ ref, reader, view }: StoredMarket, slot: number, emit: Emit): void {
    const subject = marketKey(ref);
    for (const { stream, lastId } of reader.counts(view)) {
      const key = `${subject}/${stream}`;
      const fromId = this.#counts.get(key) ?? null;
      if (fromId === lastId) continue;
      this.#counts.set(key, lastId);
      emit({ name: 'StreamCounter', value: { subject, stream, slot, lastId, fromId } });
    }
  }

  /** Applies an oracle account's new state. Throws AccountError for unreadable data; its markets keep their last price. */
  oracle(update: AccountUpdate, emit: Emit): void {
    const key = keyText(update.pubkey);
    const users = [...this.#markets.values()].filter((market) => market.oracleKey === key);
    readOracle(update.data, users[0]?.oracle.oracleSource ?? '');
    this.#oracles.set(key, update);
    for (const market of users) {
      this.#price(market, update.slot, emit);
      if (market.reader.funds) this.#emitFunds(market, update.slot, emit);
    }
  }

  /** Applies exchange-wide settings of perp markets. A change emits all perp markets again. */
  exchange(state: ExchangeState, slot: number, emit: Emit): void {
    const { status, oracleTwap5MinPercentDivergence } = this.#exchange;
    if (state.status === status && state.oracleTwap5MinPercentDivergence === oracleTwap5MinPercentDivergence) return;
    this.#exchange = state;
    for (const stored of this.#markets.values()) {
      if (stored.ref.marketType !== 'perp') continue;
      emit({ name: 'BookMarket', value: this.#state(stored, Math.max(slot, stored.slot)) });
    }
  }

  /** All known markets. */
  refs(): MarketRef[] {
    return [...this.#markets.values()].map((stored) => stored.ref);
  }

  /** Margin of every market that has a price. */
  *margins(): Generator<MarketMargin> {
    for (const stored of this.#markets.values()) {
      const price = this.#prices.get(marketKey(stored.ref));
      if (!price) continue;
      const { symbol, status } = this.#state(stored, stored.slot);
      const { marketType, marketIndex } = stored.ref;
      const slot = Math.max(stored.slot, price.slot);
      const own = stored.reader.margin(stored.view);
      yield { marketType, marketIndex, slot, symbol, status, oraclePrice: price.price, ...own };
    }
  }

  /** Key text of a perp market's book account; null when the market names none or is unknown. */
  clobKey(marketIndex: number): string | null {
    return this.#markets.get(marketKey({ marketType: 'perp', marketIndex }))?.clobKey ?? null;
  }

  #state(stored: StoredMarket, slot: number): BookMarket {
    return stored.reader.market(stored.view, stored.pubkey, slot, this.#exchange);
  }

  #price(stored: StoredMarket, slot: number, emit: Emit): void {
    const key = marketKey(stored.ref);
    const { marketType, marketIndex } = stored.ref;
    const price: BookOracle = { marketType, marketIndex, slot, ...this.#priceOf(stored) };
    const last = this.#prices.get(key);
    if (last && samePrice(last, price)) return;
    this.#prices.set(key, price);
    emit({ name: 'BookOracle', value: price });
  }

  /** Emits the P&L inputs that a market affects. A spot market's interest affects every perp market that it quotes. */
  #fundsOf(stored: StoredMarket, slot: number, emit: Emit): void {
    if (stored.reader.funds) {
      this.#emitFunds(stored, slot, emit);
      return;
    }
    for (const perp of this.#markets.values()) {
      if (perp.reader.funds?.(perp.view).quoteMarketIndex === stored.ref.marketIndex) this.#emitFunds(perp, slot, emit);
    }
  }

  /** Emits nothing while the quote market is unknown, because the pools have no value without it. */
  #emitFunds({ ref, reader, view }: StoredMarket, slot: number, emit: Emit): void {
    const key = marketKey(ref);
    const price = this.#prices.get(key);
    const funds = reader.funds?.(view);
    if (!price || !funds) return;
    const { quoteMarketIndex, ...own } = funds;
    const quote = this.#markets.get(marketKey({ marketType: 'spot', marketIndex: quoteMarketIndex }));
    const interest = quote?.reader.interest?.(quote.view);
    if (!interest) return;
    const state: PositionMarket = {
      marketType: ref.marketType,
      marketIndex: ref.marketIndex,
      slot,
      oraclePrice: price.price,
      ...own,
      quoteCumulativeDepositInterest: interest.cumulativeDepositInterest,
      quoteDecimals: interest.decimals,
    };
    const last = this.#funds.get(key);
    if (last && sameFunds(last, state)) return;
    this.#funds.set(key, state);
    emit({ name: 'PositionMarket', value: state });
  }

  #priceOf(stored: StoredMarket): OraclePrice {
    if (stored.oracle.oracleSource === QUOTE_ASSET) return quoteAssetPrice(stored.slot);
    const account = this.#oracles.get(stored.oracleKey);
    if (!account) return fallbackPrice(stored);
    try {
      return readOracle(account.data, stored.oracle.oracleSource);
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      return fallbackPrice(stored);
    }
  }
}

/** The price that the program used last. Serves while the oracle account is unknown, and never claims to be sufficient. */
function fallbackPrice(stored: StoredMarket): OraclePrice {
  const { lastPrice, lastConfidence, lastSlot, lastTs } = stored.oracle;
  return {
    price: lastPrice,
    oracleSlot: lastSlot > 0n ? lastSlot : BigInt(stored.slot),
    confidence: lastConfidence,
    hasSufficientNumberOfDataPoints: false,
    twap: null,
    twapConfidence: null,
    maxPrice: null,
    sequenceId: null,
    publishTs: lastTs,
  };
}

function sameFunds(a: PositionMarket, b: PositionMarket): boolean {
  return (Object.keys(a) as (keyof PositionMarket)[]).every((key) => key === 'slot' || a[key] === b[key]);
}

function samePrice(a: BookOracle, b: BookOracle): boolean {
  return (Object.keys(a) as (keyof BookOracle)[]).every((key) => key === 'slot' || a[key] === b[key]);
}
