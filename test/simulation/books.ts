// The books that a reader of the log has: orders, market and oracle price of each market, as the messages say, literally.

import bs58 from 'bs58';
import { type MessageTypes, marketKey } from '../../schemas/index.ts';
import { marketStateKey, marketText, oracleKey, orderKey, orderText } from './tape.ts';

type BookName = 'BookOrders' | 'BookSnapshotBegin' | 'BookSnapshotEnd' | 'BookMarket' | 'BookOracle';

export type BookMessage = {
  readonly [N in BookName]: { readonly name: N; readonly value: MessageTypes[N] };
}[BookName];

const NAMES: ReadonlySet<string> = new Set<BookName>([
  'BookOrders',
  'BookSnapshotBegin',
  'BookSnapshotEnd',
  'BookMarket',
  'BookOracle',
]);

export function isBookMessage(message: { readonly name: string }): message is BookMessage {
  return NAMES.has(message.name);
}

/** A key whose text differs: `mine` in the log, `text` on the chain; undefined: it is not there. */
export interface Difference {
  readonly key: string;
  readonly mine: string | undefined;
  readonly text: string | undefined;
}

export class Books {
  /** Text of each order by its identity. */
  readonly #orders = new Map<string, string>();
  readonly #open = new Set<string>();
  readonly #markets = new Map<string, string>();

  /** Slot in which the log removed an order, until it is there again, or an undo ends. */
  readonly #removed = new Map<string, number>();

  /** Slot that each market's book shows: the newest that a message named. Inside brackets it stands. */
  readonly #slots = new Map<string, number>();

  /** Slot that the market's book shows after the message. */
  slotAfter(message: BookMessage): number {
    const market = marketKey(message.value);
    const now = this.slot(market);
    if (message.name === 'BookSnapshotBegin') return now < 0 ? message.value.snapshotSlot : now;
    if (message.name === 'BookSnapshotEnd') return Math.max(now, message.value.snapshotSlot);
    return this.#open.has(market) ? now : Math.max(now, message.value.slot);
  }

  /** Whether the market is inside brackets: its book shows nothing of what comes. */
  isOpen(market: string): boolean {
    return this.#open.has(market);
  }

  /** Slot that the market's book shows; -1 before its first message. */
  slot(market: string): number {
    return this.#slots.get(market) ?? -1;
  }

  /** The slot of all books that have one. */
  label(slot: number): void {
    for (const [market, before] of this.#slots) this.#slots.set(market, Math.max(before, slot));
  }

  /** An undo has ended: an order that is not there any more may be one that was not there yet. */
  undone(): void {
    this.#removed.clear();
  }

  take(message: BookMessage): void {
    this.#slots.set(marketKey(message.value), this.slotAfter(message));
    if (message.name === 'BookOrders') this.#apply(message.value);
    else if (message.name === 'BookMarket') this.#market(message.value);
    else if (message.name === 'BookOracle') {
      this.#markets.set(oracleKey(marketKey(message.value)), String(message.value.price));
    } else {
      const market = marketKey(message.value);
      if (message.name === 'BookSnapshotBegin') {
        this.#open.add(market);
        for (const orders of [this.#orders, this.#removed])
          for (const key of [...orders.keys()]) if (key.startsWith(`${market} `)) orders.delete(key);
      } else this.#open.delete(market);
    }
  }

  /** Differences to the true states of the markets that `isOurs` names. */
  differences(truth: ReadonlyMap<string, string>, isOurs: (market: string) => boolean): Difference[] {
    const found: Difference[] = [];
    const counts = (key: string) => {
      const market = key.slice(0, key.indexOf(' '));
      return isOurs(market) && !this.#open.has(market);
    };
    for (const [key, text] of truth) {
      const mine = this.text(key);
      if (mine !== text && counts(key)) found.push({ key, mine, text });
    }
    for (const [key, mine] of this.#orders)
      if (!truth.has(key) && counts(key)) found.push({ key, mine, text: undefined });
    return found;
  }

  /** Text of an order, market or oracle price; undefined without one. */
  text(key: string): string | undefined {
    return this.#orders.get(key) ?? this.#markets.get(key);
  }

  /** Slot in which an order was removed that is not there; -1 for any other key, and for orders from before the newest undo. */
  removedSlot(key: string): number {
    return this.#removed.get(key) ?? -1;
  }

  #market(market: MessageTypes['BookMarket']): void {
    const { symbol, status, tickSize, stepSize, minOrderSize } = market;
    const terms = {
      ...{ symbol, status },
      tickSize: String(tickSize),
      stepSize: String(stepSize),
      minOrderSize: String(minOrderSize),
      openInterestLong: String(market.baseAssetAmountLong),
      openInterestShort: String(market.baseAssetAmountShort),
    };
    this.#markets.set(marketStateKey(marketKey(market)), marketText(terms));
  }

  #apply(orders: MessageTypes['BookOrders']) {
    const { marketType, marketIndex, source, slot, upserts, removals } = orders;
    const key = (maker: Uint8Array, orderId: number) =>
      orderKey({ marketType, marketIndex, source, maker: text(maker), orderId });
    for (const { maker, orderId } of removals) {
      const removed = key(maker, orderId);
      if (this.#orders.delete(removed)) this.#removed.set(removed, slot);
    }
    for (const order of upserts) {
      const placed = key(order.maker, order.orderId);
      this.#removed.delete(placed);
      const terms = {
        direction: order.direction,
        price: String(order.price),
        oraclePriceOffset: String(order.oraclePriceOffset),
        baseAssetAmount: String(order.baseAssetAmount),
        baseAssetAmountFilled: String(order.baseAssetAmountFilled),
        bookOrderId: order.bookOrderId === null ? null : String(order.bookOrderId),
      };
      this.#orders.set(placed, orderText(terms));
    }
  }
}

/** Says which market of the chain has no book, or one whose snapshot stays open; null: none. */
export function unreadMarket(
  truth: ReadonlyMap<string, string> | null,
  bookOf: (market: string) => Books | null,
): string | null {
  for (const key of truth?.keys() ?? []) {
    const market = key.slice(0, key.indexOf(' '));
    const book = bookOf(market);
    if (book === null) return `${market} has no book`;
    if (book.isOpen(market)) return `the snapshot of ${market} does not end`;
  }
  return null;
}

export function differenceText({ key, mine, text: there }: Difference): string {
  return `${key}: ${mine ?? 'missing'} instead of ${there ?? 'nothing'}`;
}

const texts = new Map<string, string>();

/** base58 of a key. Few keys appear in a run, and base58 is slow. */
function text(key: Uint8Array): string {
  const bytes = Buffer.from(key).toString('latin1');
  let known = texts.get(bytes);
  if (known === undefined) {
    known = bs58.encode(key);
    texts.set(bytes, known);
  }
  return known;
}
