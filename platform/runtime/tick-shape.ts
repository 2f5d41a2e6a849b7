// Keeps the hidden class (map) of the objects that `process.nextTick` makes.
//
// Node makes an object for each tick, with two computed keys. V8 drops the map of these objects when several collections find
// none alive, and makes another one for the next tick. Two maps turn the inline cache of the keys megamorphic until the process
// ends: a tick takes 280 ns instead of 50, and the order-book server answers a fifth fewer requests (`npm run bench ticks`,
// docs/benchmarks/2026-11-29.md).

import { executionAsyncResource } from 'node:async_hooks';

const kept = new Set<object>();

/** Keeps one of these objects as long as the thread lives. Call it first: it cannot repair a cache that is megamorphic. */
export function keepTickShape(): void {
  // Node names the object of the running tick as its resource.
  process.nextTick(() => kept.add(executionAsyncResource()));
}
