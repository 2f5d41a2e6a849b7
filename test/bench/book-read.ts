// Reading a 100-level L2 with sources from the reader's replica after each order change, and the change alone.
// `npm run bench book-read`; one JSON line per figure. Serialising the levels is not measured.

import { BookEngine, BookView } from '../../processors/book/index.ts';
import type { BookViewDiff } from '../../schemas/index.ts';
import { BookFlow, MARKET, messageOf } from '../support/processors/book/book-flow.ts';
import { ammOf, marketOf, oracleOf } from '../support/processors/book/messages.ts';
import { report } from './harness/report.ts';

const ORDERS = 10_000;
const DEPTH = 100;
const BAR_US = 50;
const WARM_UP = 50_000;
const CHANGES = 50_000;

const engine = new BookEngine(MARKET);
const view = new BookView();
const publish = (diff: BookViewDiff | null) => {
  if (diff && view.apply(diff) !== 'applied') throw new Error('the reader lost the book');
};
const flow = new BookFlow();
for (const change of flow.fill(ORDERS)) publish(engine.applyOrders(messageOf(change)));
publish(engine.apply(marketOf({ slot: 300_000_000, amm: ammOf() })));
publish(engine.apply(oracleOf({ slot: 300_000_000, oracleSlot: 2n ** 40n })));

let levels = 0;
function readOnce(): void {
  const { bids, asks } = view.l2(DEPTH);
  for (let i = 0; i < bids.length; i++) if ((bids[i]?.vamm ?? 0n) > 0n) levels += 1;
  for (let i = 0; i < asks.length; i++) if ((asks[i]?.dlob ?? 0n) > 0n) levels += 1;
}

/** Microseconds of the measured part of each change. */
function measure(changes: number): { readonly read: Float64Array; readonly whole: Float64Array } {
  const read = new Float64Array(changes);
  const whole = new Float64Array(changes);
  for (let i = 0; i < changes; i++) {
    const [change] = flow.next(1);
    if (!change) throw new Error('the flow ended');
    const message = messageOf(change);
    const startMs = performance.now();
    publish(engine.applyOrders(message));
    const appliedMs = performance.now();
    readOnce();
    const doneMs = performance.now();
    read[i] = (doneMs - appliedMs) * 1000;
    whole[i] = (doneMs - startMs) * 1000;
  }
  return { read: read.sort(), whole: whole.sort() };
}

measure(WARM_UP);
const { read, whole } = measure(CHANGES);
const at = (sorted: Float64Array, share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
const mean = (sorted: Float64Array) => sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
const spread = (sorted: Float64Array) => ({ p50: at(sorted, 0.5), p99: at(sorted, 0.99), max: at(sorted, 1) });
const shape = { orders: ORDERS, depth: DEPTH, levelsRead: levels, node: process.version };
report({
  name: 'book-read: 100-level L2 with sources after each change',
  value: mean(read),
  unit: 'us',
  ...spread(read),
  ...shape,
  bar: { atMost: BAR_US },
});
report({
  name: 'book-read: change, replica and read together',
  value: mean(whole),
  unit: 'us',
  ...spread(whole),
  ...shape,
});
