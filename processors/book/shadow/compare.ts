// A book against what a fresh read of the chain says of it: its inputs, and everything the engine keeps up to date with each
// change (places, levels, queue, vAMM) made anew from them. Changes nothing.

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
import { alike, type LevelDifference, levelDifferences, sameLevel } from '../difference.ts';
import type { BookEngine } from '../engine.ts';
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
  QUEUE,
  SIDE,
  SIZE_HIGH,
  SIZE_LOW,
  SOURCE,
  USER,
} from '../orders.ts';
import { Placement, SUPPRESSED } from '../placement.ts';
import { marketMakerOracle, viewOracle } from '../quotes.ts';
import type { BookSide, VammLevel } from '../side.ts';
import { fitsNumber, highLane, lanesToBigint, lowLane } from '../size.ts';
import { vammBook, vammQuotes } from '../vamm.ts';
import { digestOf, evidenceOf } from './digest.ts';

/** What of a book is not as it should be: `here` in the book, `there` as made from the chain. */
export interface BookFindings {
  /** Open orders known, and their digest. */
  readonly orders: number;
  readonly digest: string;
  readonly areOrdersEqual: boolean;
  /** Of market, oracle and the oracles shown. */
  readonly fields: readonly FieldDifference[];
  readonly levels: readonly LevelDifference[];
  /** Orders that do not stand where their terms, slot and oracle put them, or out of turn. */
  readonly misplaced: readonly OrderEvidence[];
}

interface Inputs {
  readonly market: BookMarket | null;
  readonly oracle: BookOracle | null;
}

const SIDES: readonly Side[] = ['bid', 'ask'];
const NO_VAMM: { readonly bids: readonly VammLevel[]; readonly asks: readonly VammLevel[] } = { bids: [], asks: [] };

/** Compares a book with what ingest made of a fresh read. Costs about two microseconds per order. */
export function findingsOf(engine: BookEngine, wanted: BookCheck): BookFindings {
  const { orders, text: digest } = digestOf(engine.orders);
  const { market: held, oracle: heldOracle } = engine.state;
  // What the check could not tell is taken as it is held.
  const market = wanted.market ? marketOf(wanted.market) : held;
  const oracle = wanted.oracle ? oracleOf(wanted.oracle) : heldOracle;
  const made = remake(engine, { market, oracle });
  return {
    orders,
    digest,
    areOrdersEqual: orders === wanted.orders && digest === wanted.digest,
    fields: [
      ...differentFields({ market: held }, { market }),
      ...differentFields({ oracle: heldOracle }, { oracle }),
      ...differentFields(shownOracles(engine), oraclesOf({ market, oracle })),
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

function shownOracles(engine: BookEngine) {
  const { oracle, mmOracle, isMmOracleActive } = engine.head();
  return { shown: { oracle, mmOracle, isMmOracleActive } };
}

function oraclesOf({ market, oracle }: Inputs) {
  const exchange = oracle && viewOracle(oracle);
  const own = market && oracle ? marketMakerOracle(market, oracle) : null;
  return { shown: { oracle: exchange, mmOracle: own ?? exchange, isMmOracleActive: own !== null } };
}

/** Places, queue and levels from the orders' terms, the slot and the inputs alone, against what the engine keeps. */
function remake(engine: BookEngine, inputs: Inputs): Pick<BookFindings, 'levels' | 'misplaced'> {
  const { orders } = engine;
  const misplaced: OrderEvidence[] = [];
  const levels: LevelDifference[] = [];
  const sums = placesOf(engine, inputs, misplaced);
  const vamm = vammOf(engine, inputs);
  for (const [at, side] of SIDES.entries()) {
    const book = side === 'bid' ? orders.bids : orders.asks;
    checkQueue(engine, book, sums[at]?.visible ?? 0, misplaced);
    const made = sums[at]?.levels(side, side === 'bid' ? vamm.bids : vamm.asks) ?? [];
    if (!alike(book.levels(), made, sameLevel)) levels.push(...levelDifferences(side, book.levels(), made));
  }
  return { levels: levels.slice(0, EVIDENCE_MAX), misplaced: misplaced.slice(0, EVIDENCE_MAX) };
}

/** Sizes by price of one side, as lanes. */
class SideSums {
  visible = 0;
  readonly #lanes = new Map<number, Float64Array>();

  add(price: number, high: number, low: number, at = 0): void {
    let lanes = this.#lanes.get(price);
    if (!lanes) {
      lanes = new Float64Array(4);
      this.#lanes.set(price, lanes);
    }
    lanes[at] = (lanes[at] as number) + high;
    lanes[at + 1] = (lanes[at + 1] as number) + low;
  }

  /** Levels that have a size, best first. */
  levels(side: Side, vamm: readonly VammLevel[]): ViewLevel[] {
    for (const { price, size } of vamm) this.add(price, highLane(size), lowLane(size), 2);
    const levels = [...this.#lanes].map(([price, [high = 0, low = 0, vammHigh = 0, vammLow = 0]]) => ({
      price,
      dlob: lanesToBigint(high, low),
      vamm: lanesToBigint(vammHigh, vammLow),
    }));
    const shown = levels.filter(({ dlob, vamm: quoted }) => dlob > 0n || quoted > 0n);
    return shown.sort((left, right) => (side === 'bid' ? right.price - left.price : left.price - right.price));
  }
}

/** Sums of what is visible; orders that are linked elsewhere than they belong go to `misplaced`. */
function placesOf({ orders }: BookEngine, { market, oracle }: Inputs, misplaced: OrderEvidence[]) {
  const { table } = orders;
  const { ints } = table;
  const sums = [new SideSums(), new SideSums()] as const;
  const placement = new Placement(table);
  const at = {
    slot: orders.slot,
    oracle: oracle && fitsNumber(oracle.price) ? Number(oracle.price) : Number.NaN,
    hasBookAccount: market !== null && market.clobMarket !== null,
  };
  for (const row of table.rows()) {
    placement.decide(row, ints[row + SIZE_HIGH] !== 0 || ints[row + SIZE_LOW] !== 0, at);
    const { list, price } = placement;
    const level = ints[row + LEVEL] as number;
    const isLinked = level >= 0;
    const [sum, book] = ints[row + SIDE] === 0 ? [sums[0], orders.bids] : [sums[1], orders.asks];
    const stands = isLinked
      ? list !== HIDDEN && placement.stays(row) && book.ladder.price(level) === price
      : list === HIDDEN;
    const twin = ints[row + SOURCE] === USER ? table.find(ints[row + MAKER] as number, table.orderId(row), CLOB) : -1;
    const isSuppressed = ((ints[row + MARKS] as number) & SUPPRESSED) !== 0;
    if (!stands || twin >= 0 !== isSuppressed) misplaced.push(evidenceOf(table, row));
    if (list === HIDDEN) continue;
    sum.visible += 1;
    sum.add(price, (ints[row + COUNTED_HIGH] as number) >>> 0, (ints[row + COUNTED_LOW] as number) >>> 0);
  }
  return sums;
}

/** The walk must meet every visible order, each behind the one before it: by list, then queue, then arrival. */
function checkQueue({ orders }: BookEngine, { ladder }: BookSide, visible: number, misplaced: OrderEvidence[]): void {
  const { table } = orders;
  const { ints, floats } = table;
  let walked = 0;
  let before = -1;
  for (const row of ladder.walk()) {
    walked += 1;
    if (before >= 0 && ints[before + LEVEL] === ints[row + LEVEL]) {
      const half = [before >> 1, row >> 1] as const;
      const gap = (member: number) => (floats[half[1] + member] as number) - (floats[half[0] + member] as number);
      const order = (ints[row + LIST] as number) - (ints[before + LIST] as number) || gap(QUEUE) || gap(ARRIVAL);
      if (order <= 0) misplaced.push(evidenceOf(table, row));
    }
    before = row;
    // A chain that was closed to a ring would never end.
    if (walked > visible) break;
  }
  if (walked !== visible && before >= 0) misplaced.push(evidenceOf(table, before));
}

function vammOf({ orders }: BookEngine, { market, oracle }: Inputs): typeof NO_VAMM {
  if (market === null || market.amm === null || oracle === null) return NO_VAMM;
  const inForce = marketMakerOracle(market, oracle) ?? viewOracle(oracle);
  if (!vammQuotes(market, inForce.slot, orders.slot)) return NO_VAMM;
  const seen = quotingOracle(market, oracle);
  return vammBook(market, liveQuote(market, market.amm, seen), seen.price);
}
