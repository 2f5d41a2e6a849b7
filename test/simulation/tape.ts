// Blocks of the simulated exchange, computed once and played by many simulations: computing them takes longer than a run.

import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { createExchange } from '../../localnet/exchange/index.ts';
import type {
  Exchange,
  LedgerAccount,
  LedgerBlock,
  LedgerTransaction,
  TruthEvent,
  TruthMarket,
  TruthOrder,
} from '../../localnet/ledger-types.ts';
import { grouped } from './group.ts';

/** Slot of the first block that a simulation plays. */
export const FIRST_SLOT = 1_000;
const GENESIS_TIME = 1_767_225_600;
const QUOTE_MARKET = 'spot-0';

export interface TapeEvent {
  /** See `eventKey`. */
  readonly id: string;
  readonly index: number;
  readonly name: string;
}

/** Identity of an event: bytes of its signature as text, and its index. */
export function eventKey(signature: Uint8Array, index: number): string {
  return `${Buffer.from(signature).toString('latin1')} ${index}`;
}

/** The signature in the identity of an event, as it stands there. */
export const signatureOf = (id: string): string => id.slice(0, id.lastIndexOf(' '));

export interface TapeBlock {
  readonly transactions: readonly LedgerTransaction[];
  /** Events of the block by signature (base58). */
  readonly events: ReadonlyMap<string, readonly TapeEvent[]>;
  /** Resting orders, markets and oracle prices after the block: text of each by its identity. */
  readonly states: ReadonlyMap<string, string>;
}

export interface Tape {
  readonly genesis: readonly LedgerAccount[];
  readonly blocks: readonly TapeBlock[];
}

/** Records an exchange with few accounts. */
export function recordTape(seed: number, blocks: number): Tape {
  const exchange = createExchange({
    seed,
    genesisTime: GENESIS_TIME,
    accounts: 10,
    ordersPerMarket: 5,
    activity: 0.12,
    keepEvents: true,
  });
  const genesis = exchange.genesis();
  const recorded: TapeBlock[] = [];
  let read = 0;
  for (let number = 0; number < blocks; number++) {
    const { transactions } = exchange.nextBlock();
    const found = exchange.events(read, 1_000_000);
    read += found.length;
    const events = grouped(found, ({ signature }) => signature);
    recorded.push({
      transactions,
      events: new Map([...events].map(([signature, list]) => [signature, list.map(tapeEvent)])),
      states: statesOf(exchange),
    });
  }
  return { genesis, blocks: recorded };
}

function tapeEvent({ signature, index, name }: TruthEvent): TapeEvent {
  return { id: eventKey(bs58.decode(signature), index), index, name };
}

function statesOf(exchange: Exchange): ReadonlyMap<string, string> {
  const orders = exchange.restingOrders().map((order) => [orderKey(order), orderText(order)] as const);
  const markets = exchange.markets().flatMap((market) => {
    const key = `${market.marketType}-${market.marketIndex}`;
    const state = [marketStateKey(key), marketText(market)] as const;
    // The quote asset counts as 1, whatever its oracle says.
    return key === QUOTE_MARKET ? [state] : [state, [oracleKey(key), market.oraclePrice] as const];
  });
  return new Map([...orders, ...markets]);
}

/** `market` as in `perp-0`. */
export const marketStateKey = (market: string): string => `${market} market`;
export const oracleKey = (market: string): string => `${market} oracle`;

export type MarketTerms = Pick<
  TruthMarket,
  'symbol' | 'status' | 'tickSize' | 'stepSize' | 'minOrderSize' | 'openInterestLong' | 'openInterestShort'
>;

export function marketText(market: MarketTerms): string {
  const { symbol, status, tickSize, stepSize, minOrderSize, openInterestLong, openInterestShort } = market;
  return `${symbol} ${status} ${tickSize} ${stepSize} ${minOrderSize} ${openInterestLong} ${openInterestShort}`;
}

type OrderIdentity = Pick<TruthOrder, 'source' | 'marketType' | 'marketIndex' | 'maker' | 'orderId'>;

export function orderKey({ source, marketType, marketIndex, maker, orderId }: OrderIdentity): string {
  return `${marketType}-${marketIndex} ${source} ${maker} ${orderId}`;
}

export type OrderTerms = Pick<
  TruthOrder,
  'direction' | 'price' | 'oraclePriceOffset' | 'baseAssetAmount' | 'baseAssetAmountFilled' | 'bookOrderId'
>;

export function orderText(order: OrderTerms): string {
  const { direction, price, oraclePriceOffset, baseAssetAmount, baseAssetAmountFilled, bookOrderId } = order;
  return `${direction} ${price} ${oraclePriceOffset} ${baseAssetAmount} ${baseAssetAmountFilled} ${bookOrderId}`;
}

export interface Play {
  /** First block. */
  readonly from: number;
  /** Whether the next block lacks transactions of the program. */
  readonly isQuiet: () => boolean;
  /** Whether a whole fork that loses does. */
  readonly isForkQuiet: () => boolean;
  /** A losing fork plays blocks that the winning one plays so many blocks later. */
  readonly forkDistance: number;
}

/** Plays a tape. Slots are those of the simulated chain. */
export class TapeExchange implements Exchange {
  readonly #tape: Tape;
  readonly #play: Play;
  readonly #isBranch: boolean;
  #next: number;
  #branch: TapeExchange | null = null;
  /** Number of the tape's block at a slot. */
  readonly #slots: [slot: number, number: number][] = [];

  constructor(tape: Tape, play: Play, isBranch = false) {
    this.#tape = tape;
    this.#play = play;
    this.#next = play.from;
    this.#isBranch = isBranch;
  }

  genesis(): readonly LedgerAccount[] {
    const accounts = new Map(this.#tape.genesis.map((account) => [account.pubkey, account]));
    for (const { transactions } of this.#tape.blocks.slice(0, this.#play.from)) {
      for (const { writes } of transactions) for (const account of writes) accounts.set(account.pubkey, account);
    }
    return [...accounts.values()].filter(({ data }) => data.length > 0);
  }

  nextBlock(slot = FIRST_SLOT): LedgerBlock {
    const isQuiet = this.#play.isQuiet();
    const number = isQuiet ? this.#next - 1 : this.#next;
    if (!isQuiet) this.#next += 1;
    this.#slots.push([slot, number]);
    const blockTime = GENESIS_TIME + Math.floor(((slot - FIRST_SLOT) * 2) / 5);
    const transactions = isQuiet ? [] : this.#block(number).transactions;
    return { slot, blockTime, transactions: this.#isBranch ? transactions.map(onBranch) : transactions };
  }

  /** The block of the tape that was played at a slot; where that is empty, the one before it. A fork has none before its first. */
  played(slot: number): TapeBlock | null {
    const found = this.#slots.findLast(([one]) => one === slot);
    const isBefore = found === undefined || (this.#isBranch && found[1] < this.#play.from);
    return isBefore ? null : this.#block(found[1]);
  }

  branch(): Exchange {
    const isQuiet = this.#play.isForkQuiet() ? () => true : this.#play.isQuiet;
    this.#branch = new TapeExchange(this.#tape, { ...this.#play, from: this.#distant, isQuiet }, true);
    return this.#branch;
  }

  /** The block of the tape that the newest losing fork played at a slot, with the signatures that it has there. */
  lostBlock(slot: number): TapeBlock | null {
    const block = this.#branch?.played(slot) ?? null;
    if (block === null) return null;
    const events = block.transactions.map((transaction, index) => {
      const { signature } = onBranch(transaction, index);
      const bytes = bs58.decode(signature);
      const own = block.events.get(transaction.signature) ?? [];
      return [signature, own.map((event) => ({ ...event, id: eventKey(bytes, event.index) }))] as const;
    });
    return { ...block, events: new Map(events) };
  }

  /** A block that turns out to be invalid. */
  deadBlock(): TapeBlock {
    const block = this.#block(this.#distant);
    return { ...block, transactions: block.transactions.map(onBranch) };
  }

  get #distant(): number {
    return (this.#next + this.#play.forkDistance) % this.#tape.blocks.length;
  }

  restingOrders = () => [];
  markets = () => [];
  vaults = () => [];
  events = () => [];
  eventCounts = () => ({});
  snapshot = () => null;

  #block(number: number): TapeBlock {
    const { blocks } = this.#tape;
    return blocks[number % blocks.length] ?? { transactions: [], events: new Map(), states: new Map() };
  }
}

/** Every second transaction of a losing fork or a dead block keeps its signature: it lands on the winning one as well. */
function onBranch(transaction: LedgerTransaction, index: number): LedgerTransaction {
  if (index % 2 === 0) return transaction;
  const signature = bs58.encode(createHash('sha512').update(`branch|${transaction.signature}`).digest());
  return { ...transaction, signature };
}
