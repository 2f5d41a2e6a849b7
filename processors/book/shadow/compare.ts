// Compares a book with a fresh read of the chain. It compares the book's inputs, and recomputes from them everything that the
// engine updates with each change (list, price, level, queue, vAMM). Changes nothing.

import {
  type BookCheck,
  type BookMarket,
  type BookOracle,
  decodeMessage,
  differentFields,
  EVIDENCE_MAX,
  type FieldDifference,
  type OrderEvidence,
  type ViewLevel,
} from '../../../schemas/index.ts';
import { type LevelDifference, levelDifference, sameLevel } from '../difference.ts';
import type { FrozenBook } from '../frozen.ts';
import type { Side } from '../ladder.ts';
import { liveQuote, quotingOracle } from '../live-quote.ts';
import {
  ARRIVAL,
  CLOB,
  COUNTED_HIGH,
  COUNTED_LOW,
  HIDDEN,
  LEVEL,
  LIST,
  MAKER,
  MARKS,
  type OrderTable,
  QUEUE,
  SIDE,
  SIZE_HIGH,
  SIZE_LOW,
  SOURCE,
  USER,
} from '../orders.ts';
import { IGNORED, Placement, SUPPRESSED } from '../placement.ts';
import { marketMakerOracle, viewOracle } from '../quotes.ts';
import type { VammLevel } from '../side.ts';
import { fitsNumber, highWord, lowWord, wordsToBigint } from '../size.ts';
import { STEP_ITEMS, type Steps } from '../steps.ts';
import { vammBook, vammQuotes } from '../vamm.ts';
import { digestOf, evidenceOf } from './digest.ts';

/** Faults of a book: `here` is the book, `there` the value computed from the chain. */
export interface BookFindings {
  /** Number of open orders, and their digest. */
  readonly orders: number;
  readonly digest: string;
  readonly areOrdersEqual: boolean;
  /** Differences in market, oracle and published oracles. */
  readonly fields: readonly FieldDifference[];
  readonly levels: readonly LevelDifference[];
  /** Orders with another list or price than their terms, slot and oracle give, or in the wrong sequence. */
  readonly misplaced: readonly OrderEvidence[];
}

interface Inputs {
  readonly market: BookMarket | null;
  readonly oracle: BookOracle | null;
}

const SIDES: readonly Side[] = ['bid', 'ask'];
const NO_VAMM: { readonly bids: readonly VammLevel[]; readonly asks: readonly VammLevel[] } = { bids: [], asks: [] };

/** Compares a book with ingest's fresh read. Costs about two microseconds per order. */
export function* findingsOf(book: FrozenBook, wanted: BookCheck): Steps<BookFindings> {
  const { orders, text: digest } = yield* digestOf(book.table);
  const { market: held, oracle: heldOracle } = book.state;
  // Inputs that the check lacks are taken from the book.
  const market = wanted.market ? marketOf(wanted.market) : held;
  const oracle = wanted.oracle ? oracleOf(wanted.oracle) : heldOracle;
  const made = yield* remake(book, { market, oracle });
  return {
    orders,
    digest,
    areOrdersEqual: orders === wanted.orders && digest === wanted.digest,
    fields: [
      ...differentFields({ market: held }, { market }),
      ...differentFields({ oracle: heldOracle }, { oracle }),
      ...differentFields(publishedOracles(book), oraclesOf({ market, oracle })),
    ].slice(0, EVIDENCE_MAX),
    ...made,
  };
}

function marketOf(bytes: Uint8Array): BookMarket | null {
  const message = decodeMessage(bytes);
  return message.name === 'BookMarket' ? message.value : null;
}

function oracleOf(bytes: Uint8Array): BookOracle | null {
  const message = decodeMessage(bytes);
  return message.name === 'BookOracle' ? message.value : null;
}

function publishedOracles({ head }: FrozenBook) {
  const { oracle, mmOracle, isMmOracleActive } = head;
  return { shown: { oracle, mmOracle, isMmOracleActive } };
}

function oraclesOf({ market, oracle }: Inputs) {
  const exchange = oracle && viewOracle(oracle);
  const own = market && oracle ? marketMakerOracle(market, oracle) : null;
  return { shown: { oracle: exchange, mmOracle: own ?? exchange, isMmOracleActive: own !== null } };
}

/** Recomputes lists, queue and levels from the orders' terms, the slot and the inputs, and compares them with the engine's. */
function* remake(book: FrozenBook, inputs: Inputs): Steps<Pick<BookFindings, 'levels' | 'misplaced'>> {
  const misplaced: OrderEvidence[] = [];
  const levels: LevelDifference[] = [];
  const sums = yield* placesOf(book, inputs, misplaced);
  const vamm = vammOf(book, inputs);
  for (const side of SIDES) {
    const made = sums[side];
    yield* checkQueue(book, side, made.visible, misplaced);
    made.quote(side === 'bid' ? vamm.bids : vamm.asks);
    levels.push(...(yield* made.differences(side, book.levels(side))));
  }
  return { levels: levels.slice(0, EVIDENCE_MAX), misplaced: misplaced.slice(0, EVIDENCE_MAX) };
}

/** Sizes by price of one side, as high and low words. */
class SideSums {
  visible = 0;
  readonly #words = new Map<number, Float64Array>();

  add(price: number, high: number, low: number, at = 0): void {
    let words = this.#words.get(price);
    if (!words) {
      words = new Float64Array(4);
      this.#words.set(price, words);
    }
    words[at] = (words[at] as number) + high;
    words[at + 1] = (words[at + 1] as number) + low;
  }

  quote(levels: readonly VammLevel[]): void {
    for (const { price, size } of levels) this.add(price, highWord(size), lowWord(size), 2);
  }

  /** How the published levels differ from these, up to EVIDENCE_MAX. */
  *differences(side: Side, published: Iterable<ViewLevel>): Steps<LevelDifference[]> {
    const found: LevelDifference[] = [];
    const met = new Set<number>();
    for (const level of published) {
      met.add(level.price);
      if (met.size % STEP_ITEMS === 0) yield;
      const made = this.#level(level.price);
      if (made === null || !sameLevel(level, made)) found.push(levelDifference(side, level, made));
      if (found.length === EVIDENCE_MAX) return found;
    }
    let count = 0;
    for (const price of this.#words.keys()) {
      if (++count % STEP_ITEMS === 0) yield;
      const made = met.has(price) ? null : this.#level(price);
      if (made !== null) found.push(levelDifference(side, null, made));
      if (found.length === EVIDENCE_MAX) return found;
    }
    return found;
  }

  /** The level at a price; null when it has no size. */
  #level(price: number): ViewLevel | null {
    const [high = 0, low = 0, vammHigh = 0, vammLow = 0] = this.#words.get(price) ?? [];
    const level = { price, dlob: wordsToBigint(high, low), vamm: wordsToBigint(vammHigh, vammLow) };
    return level.dlob > 0n || level.vamm > 0n ? level : null;
  }
}

/** Sums visible sizes; orders linked at a wrong level go to `misplaced`. */
function* placesOf(book: FrozenBook, { market, oracle }: Inputs, misplaced: OrderEvidence[]) {
  const { table } = book;
  const { ints } = table;
  const sums = { bid: new SideSums(), ask: new SideSums() } as const;
  const placement = new Placement(table);
  const at = {
    slot: book.slot,
    oracle: oracle && fitsNumber(oracle.price) ? Number(oracle.price) : Number.NaN,
    hasBookAccount: market !== null && market.clobMarket !== null,
  };
  let count = 0;
  for (const row of table.eachRow()) {
    if (++count % STEP_ITEMS === 0) yield;
    placement.decide(row, ints[row + SIZE_HIGH] !== 0 || ints[row + SIZE_LOW] !== 0, at);
    const { list, price } = placement;
    const level = ints[row + LEVEL] as number;
    const isLinked = level >= 0;
    const side = ints[row + SIDE] === 0 ? 'bid' : 'ask';
    const isPlaced = isLinked
      ? list !== HIDDEN && placement.stays(row) && book.side(side).ladder.price(level) === price
      : list === HIDDEN;
    const twin = ints[row + SOURCE] === USER ? table.find(ints[row + MAKER] as number, table.orderId(row), CLOB) : -1;
    const marks = ints[row + MARKS] as number;
    const isSuppressed = (marks & SUPPRESSED) !== 0;
    const isIgnored = (marks & IGNORED) !== 0;
    const isMarked = twin >= 0 === isSuppressed && book.ignored.has(table.key(row)) === isIgnored;
    if (!isPlaced || !isMarked) accuse(misplaced, table, row);
    if (list === HIDDEN) continue;
    const sum = sums[side];
    sum.visible += 1;
    sum.add(price, (ints[row + COUNTED_HIGH] as number) >>> 0, (ints[row + COUNTED_LOW] as number) >>> 0);
  }
  return sums;
}

function accuse(misplaced: OrderEvidence[], table: OrderTable, row: number): void {
  if (misplaced.length < EVIDENCE_MAX) misplaced.push(evidenceOf(table, row));
}

/** The walk must contain every visible order, sorted by list, then queue, then arrival. */
function* checkQueue(book: FrozenBook, side: Side, visible: number, misplaced: OrderEvidence[]): Steps<void> {
  const { table } = book;
  const { ints, floats } = table;
  let walked = 0;
  let before = -1;
  for (const row of book.side(side).ladder.walk()) {
    walked += 1;
    if (walked % STEP_ITEMS === 0) yield;
    if (before >= 0 && ints[before + LEVEL] === ints[row + LEVEL]) {
      const half = [before >> 1, row >> 1] as const;
      const gap = (member: number) => (floats[half[1] + member] as number) - (floats[half[0] + member] as number);
      const order = (ints[row + LIST] as number) - (ints[before + LIST] as number) || gap(QUEUE) || gap(ARRIVAL);
      if (order <= 0) accuse(misplaced, table, row);
    }
    before = row;
    // A chain with a cycle would never end.
    if (walked > visible) break;
  }
  if (walked !== visible && before >= 0) accuse(misplaced, table, before);
}

function vammOf({ slot }: FrozenBook, { market, oracle }: Inputs): typeof NO_VAMM {
  if (market === null || market.amm === null || oracle === null) return NO_VAMM;
  const inForce = marketMakerOracle(market, oracle) ?? viewOracle(oracle);
  if (!vammQuotes(market, inForce.slot, slot)) return NO_VAMM;
  const seen = quotingOracle(market, oracle);
  return vammBook(market, liveQuote(market, market.amm, seen), seen.price);
}
