// A short text for a set of orders; the shadow check compares two sets by it. Equal sets give equal texts in any order.
// Not cryptographic.

/** The members of an order that a comparison covers. Prices 1e6, sizes in base 1e9. */
export interface DigestedOrder {
  /** User account, 32 bytes. */
  readonly maker: Uint8Array;
  readonly orderId: number;
  readonly isBook: boolean;
  readonly isShort: boolean;
  readonly isPostOnly: boolean;
  /** A limit order, or a trigger-limit order that has fired. */
  readonly isLimit: boolean;
  readonly isFloating: boolean;
  /** Limit price; for a floating order its offset from the oracle. */
  readonly term: number;
  readonly auctionDurationSlots: number;
  /** Bounds of the auction's price or offset; 0 without an auction. */
  readonly auctionStart: number;
  readonly auctionEnd: number;
  /** Slot of placement; for an order of the market-level book its book order id. */
  readonly queue: number;
  /** Remaining size, never negative. */
  readonly size: bigint;
  /** Remaining size, for a reduce-only order at most its maker's position; never negative. */
  readonly counted: bigint;
}

const MAKER_WORDS = 8;
const WORDS = MAKER_WORDS + 15;
const WORD_BYTES = 4;
const WORD_BITS = 32n;
const WORD_MASK = 0xffff_ffffn;
const HEX = 16;
const WORD_DIGITS = 8;

export class OrderDigest {
  readonly #cell = new DataView(new ArrayBuffer(WORDS * WORD_BYTES));
  #orders = 0;
  #left = 0;
  #right = 0;

  add(order: DigestedOrder): void {
    this.#count(order, 1);
  }

  /** Undoes `add`. */
  remove(order: DigestedOrder): void {
    this.#count(order, -1);
  }

  get orders(): number {
    return this.#orders;
  }

  /** 16 hex digits. */
  get text(): string {
    return [this.#left, this.#right].map((word) => word.toString(HEX).padStart(WORD_DIGITS, '0')).join('');
  }

  #count(order: DigestedOrder, times: 1 | -1): void {
    this.#write(order);
    const left = this.#mix(0x811c9dc5, 0x01000193);
    const right = this.#mix(0x9e3779b1, 0x85ebca6b);
    // A sum does not depend on the order of its terms.
    this.#left = (this.#left + times * left) >>> 0;
    this.#right = (this.#right + times * right) >>> 0;
    this.#orders += times;
  }

  #write(order: DigestedOrder): void {
    const cell = this.#cell;
    for (let word = 0; word < MAKER_WORDS; word++) {
      const at = word * WORD_BYTES;
      const { maker } = order;
      const value =
        (maker[at] ?? 0) | ((maker[at + 1] ?? 0) << 8) | ((maker[at + 2] ?? 0) << 16) | ((maker[at + 3] ?? 0) << 24);
      cell.setInt32(at, value, true);
    }
    const flags = [order.isBook, order.isShort, order.isPostOnly, order.isLimit, order.isFloating];
    let at = MAKER_WORDS * WORD_BYTES;
    const word = (value: number) => {
      cell.setUint32(at, value, true);
      at += WORD_BYTES;
    };
    word(order.orderId);
    word(flags.reduce((bits, flag, index) => bits | (Number(flag) << index), 0));
    word(order.auctionDurationSlots);
    for (const number of [order.term, order.queue, order.auctionStart, order.auctionEnd]) {
      // Turns minus zero into zero: both are the same price.
      cell.setFloat64(at, number + 0, true);
      at += 2 * WORD_BYTES;
    }
    for (const size of [order.size, order.counted]) {
      word(Number((size >> WORD_BITS) & WORD_MASK));
      word(Number(size & WORD_MASK));
    }
  }

  #mix(seed: number, factor: number): number {
    let word = seed;
    for (let at = 0; at < WORDS * WORD_BYTES; at += WORD_BYTES) {
      word = Math.imul(word ^ this.#cell.getInt32(at, true), factor);
      word ^= word >>> 15;
    }
    word = Math.imul(word, 0xc2b2ae35);
    return (word ^ (word >>> 13)) >>> 0;
  }
}
