// Bytes of a minute of one busy market to one client: the `book` channel's diffs against whole books, message by message and
// without conflation on either side. The minute's changes go through as fast as clients take them. Whole books are what the
// `orderbook` channel sends, 20 levels a side; like is compared with like, so the diffs of 20 levels stand against these and
// the diffs of every level against whole books of every level, which nobody sends. What permessage-deflate makes of the
// whole books in the predecessor's server stands beside, since it sends them so. `npm run bench bytes`.

import { Crowd } from './harness/crowd.ts';
import { machine } from './harness/processes.ts';
import { report } from './harness/report.ts';
import { Predecessor, Stage, subscribeTo } from './harness/stage.ts';
import { SyntheticMarket } from './harness/synthetic-markets.ts';

const SLOTS = 150;
const CHANGES_PER_SLOT = 20;
/** The AMM's levels move with its reserves: a fill against it in every so many slots. */
const AMM_EVERY_SLOTS = 5;
const BAR = 20;
const ACKNOWLEDGEMENT_AND_BOOK = 2;

interface Listener {
  readonly name: string;
  readonly crowd: Crowd;
}

async function listen(name: string, url: string, says: string): Promise<Listener> {
  const crowd = new Crowd();
  await crowd.open({ url, clients: 1, deflate: true, says: [says], framesEach: ACKNOWLEDGEMENT_AND_BOOK });
  await crowd.mark();
  return { name, crowd };
}

const bookOf = ({ symbol }: SyntheticMarket, choices: object): string =>
  JSON.stringify({ type: 'subscribe', channel: 'book', market: symbol, marketType: 'perp', ...choices });

const [market, peerMarket] = [new SyntheticMarket(0), new SyntheticMarket(0)];
const stage = await Stage.start([market], { BOOK_TICK_MS: 0 });
const peer = await Predecessor.start([peerMarket]);
const listeners = [
  await listen('whole', stage.gateway, subscribeTo(market)),
  await listen('diff', stage.gateway, bookOf(market, {})),
  await listen('diffDepth20', stage.gateway, bookOf(market, { depth: 20 })),
  await listen('deflated', peer.gateway, subscribeTo(peerMarket)),
];
/** Changes that the whole-book channels show each by itself; the next when all have the last. */
let published = 0;
let wholeEveryLevel = 0;
const step = async (changeOf: (of: SyntheticMarket) => ReturnType<SyntheticMarket['moveAmm']>): Promise<void> => {
  const [ours, theirs] = [changeOf(market), changeOf(peerMarket)];
  if (!ours || !theirs) return;
  published += 1;
  await stage.publish([{ market, diff: ours }]);
  peer.publish([{ market: peerMarket, diff: theirs }]);
  wholeEveryLevel += peer.wholeBookBytes(peerMarket);
  for (const { name, crowd } of listeners) if (name !== 'diffDepth20') await crowd.received(published);
};
try {
  for (let slot = 0; slot < SLOTS; slot += 1) {
    market.nextSlot();
    peerMarket.nextSlot();
    if (slot % AMM_EVERY_SLOTS === 0) await step((of) => of.moveAmm());
    for (let made = 0; made < CHANGES_PER_SLOT; made += 1) await step((of) => of.change());
  }
  const bytes: Record<string, number> = {};
  for (const { name, crowd } of listeners) bytes[name] = (await crowd.counts()).bytes;
  const { whole = Number.NaN, diff = Number.NaN, diffDepth20 = Number.NaN, deflated } = bytes;
  const counted = { whole, wholeEveryLevel, diff, diffDepth20, predecessorDeflated: deflated };
  const beside = { bytes: counted, everyLevelAgainstWhole20: whole / diff, changes: published, ...machine() };
  report({
    name: 'bytes: diffs of 20 levels',
    value: whole / diffDepth20,
    unit: 'x fewer',
    bar: { atLeast: BAR },
    ...beside,
  });
  report({
    name: 'bytes: diffs of every level',
    value: wholeEveryLevel / diff,
    unit: 'x fewer',
    bar: { atLeast: BAR },
    ...beside,
  });
} finally {
  for (const { crowd } of listeners) await crowd.stop();
  await stage.stop();
  await peer.stop();
}
