// Memory per idle client: growth of the server's resident memory while clients connect, subscribe and then receive only
// heartbeats. The first clients do not count, because they fill shared pools. Each kind of client has its own server with the same
// markets; a `ws` server with permessage-deflate runs beside. No figure has socket buffers of the kernel.
// `npm run bench connection`.

import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from './harness/crowd.ts';
import { machine, residentBytes } from './harness/processes.ts';
import { report } from './harness/report.ts';
import { Predecessor, Stage, subscribeTo } from './harness/stage.ts';
import { SyntheticMarket } from './harness/synthetic-markets.ts';

const FIRST_CLIENTS = 1_000;
const CLIENTS = 6_000;
const MARKETS = 10;
/** Longer than two heartbeats, so that their cost is in the figure. */
const SETTLE_MS = 11_000;
const BAR_BYTES = 12_000;

interface Kind {
  readonly name: string;
  readonly says: readonly string[];
  /** Answers that it receives before it is idle. */
  readonly framesEach: number;
}

async function bytesPerClient(pid: number, url: string, { says, framesEach }: Kind) {
  const crowd = new Crowd();
  const empty = residentBytes(pid);
  const opening = { url, deflate: true, says, framesEach };
  await crowd.open({ ...opening, clients: FIRST_CLIENTS });
  await sleep(SETTLE_MS);
  const before = residentBytes(pid);
  await crowd.open({ ...opening, clients: CLIENTS });
  await sleep(SETTLE_MS);
  const after = residentBytes(pid);
  await crowd.stop();
  return { each: (after - before) / CLIENTS, withFirst: (after - empty) / (CLIENTS + FIRST_CLIENTS) };
}

const markets = Array.from({ length: MARKETS }, (_, index) => new SyntheticMarket(index));
const [first] = markets as [SyntheticMarket, ...SyntheticMarket[]];
const book = (market: string): string =>
  JSON.stringify({ type: 'subscribe', channel: 'book', market, marketType: 'perp' });
const orderbook: Kind = { name: 'one orderbook', says: [subscribeTo(first)], framesEach: 2 };
const kinds: readonly Kind[] = [
  { name: 'no subscription', says: [], framesEach: 0 },
  orderbook,
  { name: 'book of one market', says: [book(first.symbol)], framesEach: 2 },
  { name: `book of all ${MARKETS} markets`, says: [book('*')], framesEach: 1 + MARKETS },
];

async function ofPeer(kind: Kind): Promise<number> {
  const peer = await Predecessor.start(markets);
  try {
    return (await bytesPerClient(peer.pid, peer.gateway, kind)).each;
  } finally {
    await peer.stop();
  }
}

for (const kind of kinds) {
  const stage = await Stage.start(markets);
  try {
    const { each: value, withFirst } = await bytesPerClient(stage.server.pid, stage.gateway, kind);
    report({
      name: `connection: memory per idle client, ${kind.name}`,
      value,
      unit: 'bytes',
      bar: { atMost: BAR_BYTES },
      withFirst,
      ...(kind === orderbook ? { predecessor: await ofPeer(kind) } : {}),
      clients: CLIENTS,
      markets: MARKETS,
      ...machine(),
    });
  } finally {
    await stage.stop();
  }
}
