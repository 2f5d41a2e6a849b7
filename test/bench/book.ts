// Order changes per second through the book engine (L2 and L3, one published change each), at several sizes of the book. The
// DLOB of @drift-labs/sdk takes the same changes in the same run. `npm run bench book`; one JSON line per figure. Decoding and
// the log are not measured.

import { BookEngine } from '../../processors/book/index.ts';
import { loadPeer, type Peer } from '../peers/dlob/peer.ts';
import {
  BookFlow,
  type Change,
  MARKET,
  MID_PRICE,
  messageOf,
  PRICE_LEVELS,
} from '../support/processors/book/book-flow.ts';
import { report } from './harness/report.ts';

const BOOK_ORDERS = [1_000, 10_000, 50_000];
const COMPARED_ORDERS = 10_000;
const BAR_PER_SECOND = 1_000_000;
const BAR_RATIO = 100;
/** Changes per measured batch, as many as a batch of the log has. */
const BATCH = 250;
const WARM_UP = 200_000;
/** Many short rounds: on a busy machine the best of them ran without interruption. */
const ROUNDS = 75;
const ROUND = 10_000;
const PEER_CHANGES = 2_000;
const PEER_READS = 200;

class Measured {
  readonly orders: number;
  /** Changes per second, best first. */
  readonly rounds: number[] = [];
  readonly #engine = new BookEngine(MARKET);
  readonly #flow = new BookFlow();
  #published = 0;

  constructor(orders: number) {
    this.orders = orders;
    for (const change of this.#flow.fill(orders)) this.#engine.applyOrders(messageOf(change));
  }

  get best(): number {
    return this.rounds[0] ?? 0;
  }

  /** Rate that a share of the rounds reached: 0.5 is the median. */
  reached(share: number): number {
    return this.rounds[Math.floor(this.rounds.length * share)] ?? 0;
  }

  /** Applies changes as the book role does: prefetches a batch, then applies it one by one. Returns changes per second. */
  run(changes: number): number {
    const engine = this.#engine;
    let elapsedMs = 0;
    for (let done = 0; done < changes; done += BATCH) {
      const messages = this.#flow.next(BATCH).map(messageOf);
      const startMs = performance.now();
      engine.prefetch(messages);
      for (let i = 0; i < messages.length; i++) {
        if (engine.applyOrders(messages[i] as (typeof messages)[number])) this.#published += 1;
      }
      elapsedMs += performance.now() - startMs;
    }
    if (this.#published === 0) throw new Error('the engine published nothing');
    return (changes * 1000) / elapsedMs;
  }
}

/** All sizes in turn, round by round, so that other load on the machine affects them alike. */
function measureEngines(): Map<number, Measured> {
  const measured = BOOK_ORDERS.map((orders) => new Measured(orders));
  for (const each of measured) each.run(WARM_UP);
  for (let round = 0; round < ROUNDS; round++) for (const each of measured) each.rounds.push(each.run(ROUND));
  for (const { rounds } of measured) rounds.sort((left, right) => right - left);
  return new Map(measured.map((each) => [each.orders, each]));
}

/** Reads of the peer after each change: nothing, or the data that our change has updated already. */
type Reads = 'nothing' | 'l2' | 'l2 and l3';

function measurePeer(peer: Peer, orders: number, reads: Reads): number {
  const book = peer.create();
  const flow = new BookFlow();
  const changes: Change[] = flow.fill(orders);
  // Filled from the worst price to the best: the peer's linear lists would take minutes otherwise.
  changes.sort((left, right) => Math.abs(right.price - MID_PRICE) - Math.abs(left.price - MID_PRICE));
  for (const change of changes) book.apply(change);
  const count = reads === 'nothing' ? PEER_CHANGES : PEER_READS;
  for (const change of flow.next(count)) book.apply(change);
  const next = flow.next(count).map((change) => ({ change, ready: book.prepare(change) }));
  const startMs = performance.now();
  for (const { change, ready } of next) {
    book.applyPrepared(change, ready);
    if (reads !== 'nothing') book.readL2(change.slot);
    if (reads === 'l2 and l3') book.readL3(change.slot);
  }
  return (count * 1000) / (performance.now() - startMs);
}

const results = measureEngines();
for (const [orders, measured] of results) {
  report({
    name: `book: order changes at ${orders} resting orders`,
    value: measured.best,
    unit: 'changes/s',
    quarter: Math.round(measured.reached(0.25)),
    median: Math.round(measured.reached(0.5)),
    rounds: ROUNDS,
    priceLevelsPerSide: PRICE_LEVELS,
    node: process.version,
    ...(orders === COMPARED_ORDERS ? { bar: { atLeast: BAR_PER_SECOND } } : {}),
  });
}
const [smallest, largest] = [results.get(1_000), results.get(50_000)];
if (smallest && largest) {
  const slower = (share: number) => Math.round((smallest.reached(share) / largest.reached(share)) * 100) / 100;
  report({
    name: 'book: change at 50000 resting orders against 1000',
    value: slower(0),
    unit: 'x slower',
    quarter: slower(0.25),
    median: slower(0.5),
  });
}

const peer = await loadPeer();
const own = results.get(COMPARED_ORDERS)?.best ?? 0;
const beside = { peer: peer.name, orders: COMPARED_ORDERS };
const PEER_WORK = {
  nothing: 'its lists alone',
  l2: 'a 100-level L2 after each',
  'l2 and l3': 'L2 and L3 after each',
} as const;
for (const [reads, words] of Object.entries(PEER_WORK) as [Reads, string][]) {
  const value = measurePeer(peer, COMPARED_ORDERS, reads);
  report({ name: `book: peer, changes with ${words}`, value, unit: 'changes/s', beside });
  const bar = reads === 'nothing' ? {} : { bar: { atLeast: BAR_RATIO } };
  report({ name: `book: ratio to peer with ${words}`, value: own / value, unit: 'x', beside, ...bar });
}
