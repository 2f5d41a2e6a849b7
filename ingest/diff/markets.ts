// Market, oracle and State accounts: market states, a price for every market from the oracle it names, and what the P&L of
// positions depends on.

import type { BookMarket, BookOracle, MarketRef, PositionMarket } from '../../schemas/index.ts';
import { marketKey } from '../../schemas/index.ts';
import { AccountError } from '../decode/account.ts';
import { type ExchangeState, type MarketOracle, type MarketReader, UNKNOWN_EXCHANGE } from '../decode/market.ts';
import { type OraclePrice, quoteAssetPrice, readOracle } from '../decode/oracle.ts';
import type { AccountUpdate } from '../source.ts';
import { type Emit, keyText } from './output.ts';

interface HeldMarket {
  readonly ref: MarketRef;
  readonly reader: MarketReader;
  readonly pubkey: Uint8Array;
  readonly view: DataView;
  readonly slot: number;
  readonly oracle: MarketOracle;
  readonly oracleKey: string;
  /** Key text of the account that holds the market-level book. */
  readonly clobKey: string | null;
}

const QUOTE_ASSET = 'quoteAsset';

export class MarketDiffer {
  readonly #markets = new Map<string, HeldMarket>();
  readonly #oracles = new Map<string, AccountUpdate>();
  /** Last price told per market, so that one is not repeated with every market update. */
  readonly #prices = new Map<string, BookOracle>();
  readonly #funds = new Map<string, PositionMarket>();
  #exchange = UNKNOWN_EXCHANGE;

  /** Takes a market account as it is now. Throws AccountError when it cannot be read; nothing is changed then. */
  market(update: AccountUpdate, reader: MarketReader, emit: Emit): void {
    const view = reader.account.open(update.data);
    const oracle = reader.oracle(view);
    const clobMarket = reader.clobMarket(view);
    const held: HeldMarket = {
      ref: { marketType: reader.marketType, marketIndex: reader.marketIndex(view) },
      reader,
      pubkey: update.pubkey,
      view,
      slot: update.slot,
      oracle,
      oracleKey: keyText(oracle.oracle),
      clobKey: clobMarket && keyText(clobMarket),
    };
    this.#markets.set(marketKey(held.ref), held);
    emit({ name: 'BookMarket', value: this.#state(held, update.slot) });
    this.#price(held, update.slot, emit);
    this.#fundsOf(held, update.slot, emit);
  }

  /** Takes an oracle account as it is now. Throws AccountError when it cannot be read; its markets keep their last price. */
  oracle(update: AccountUpdate, emit: Emit): void {
    const key = keyText(update.pubkey);
    const users = [...this.#markets.values()].filter((market) => market.oracleKey === key);
    readOracle(update.data, users[0]?.oracle.oracleSource ?? '');
    this.#oracles.set(key, update);
    for (const market of users) {
      this.#price(market, update.slot, emit);
      if (market.reader.funds) this.#tellFunds(market, update.slot, emit);
    }
  }

  /** What the exchange says of all its perp markets; they are told again when it changes. */
  exchange(state: ExchangeState, slot: number, emit: Emit): void {
    const { status, oracleTwap5MinPercentDivergence } = this.#exchange;
    if (state.status === status && state.oracleTwap5MinPercentDivergence === oracleTwap5MinPercentDivergence) return;
    this.#exchange = state;
    for (const held of this.#markets.values()) {
      if (held.ref.marketType !== 'perp') continue;
      emit({ name: 'BookMarket', value: this.#state(held, Math.max(slot, held.slot)) });
    }
  }

  /** Markets seen so far. */
  refs(): MarketRef[] {
    return [...this.#markets.values()].map((held) => held.ref);
  }

  /** Key text of the account that a perp market names as its book; null when it names none or is not known. */
  clobKey(marketIndex: number): string | null {
    return this.#markets.get(marketKey({ marketType: 'perp', marketIndex }))?.clobKey ?? null;
  }

  /** Whether some market names this account as its oracle. */
  isOracleOfMarket(pubkey: Uint8Array): boolean {
    const key = keyText(pubkey);
    for (const held of this.#markets.values()) if (held.oracleKey === key) return true;
    return false;
  }

  #state(held: HeldMarket, slot: number): BookMarket {
    return held.reader.market(held.view, held.pubkey, slot, this.#exchange);
  }

  #price(held: HeldMarket, slot: number, emit: Emit): void {
    const key = marketKey(held.ref);
    const { marketType, marketIndex } = held.ref;
    const price: BookOracle = { marketType, marketIndex, slot, ...this.#priceOf(held) };
    const last = this.#prices.get(key);
    if (last && samePrice(last, price)) return;
    this.#prices.set(key, price);
    emit({ name: 'BookOracle', value: price });
  }

  /** A perp market tells its own; a spot market's interest is part of every perp market that it is the quote of. */
  #fundsOf(held: HeldMarket, slot: number, emit: Emit): void {
    if (held.reader.funds) {
      this.#tellFunds(held, slot, emit);
      return;
    }
    for (const perp of this.#markets.values()) {
      if (perp.reader.funds?.(perp.view).quoteMarketIndex === held.ref.marketIndex) this.#tellFunds(perp, slot, emit);
    }
  }

  /** Nothing is told before the quote market is known, since no pool has a value before. */
  #tellFunds({ ref, reader, view }: HeldMarket, slot: number, emit: Emit): void {
    const key = marketKey(ref);
    const price = this.#prices.get(key);
    const funds = reader.funds?.(view);
    if (!price || !funds) return;
    const { quoteMarketIndex, ...own } = funds;
    const quote = this.#markets.get(marketKey({ marketType: 'spot', marketIndex: quoteMarketIndex }));
    const interest = quote?.reader.interest?.(quote.view);
    if (!interest) return;
    const told: PositionMarket = {
      marketType: ref.marketType,
      marketIndex: ref.marketIndex,
      slot,
      oraclePrice: price.price,
      ...own,
      quoteCumulativeDepositInterest: interest.cumulativeDepositInterest,
      quoteDecimals: interest.decimals,
    };
    const last = this.#funds.get(key);
    if (last && sameFunds(last, told)) return;
    this.#funds.set(key, told);
    emit({ name: 'PositionMarket', value: told });
  }

  #priceOf(held: HeldMarket): OraclePrice {
    if (held.oracle.oracleSource === QUOTE_ASSET) return quoteAssetPrice(held.slot);
    const account = this.#oracles.get(held.oracleKey);
    if (!account) return fallbackPrice(held);
    try {
      return readOracle(account.data, held.oracle.oracleSource);
    } catch (error) {
      if (!(error instanceof AccountError)) throw error;
      return fallbackPrice(held);
    }
  }
}

/** The price the program saw last: all there is while the oracle account is unknown. */
function fallbackPrice(held: HeldMarket): OraclePrice {
  const { lastPrice, lastConfidence, lastSlot, lastTs } = held.oracle;
  return {
    price: lastPrice,
    oracleSlot: lastSlot > 0n ? lastSlot : BigInt(held.slot),
    confidence: lastConfidence,
    hasSufficientNumberOfDataPoints: true,
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
