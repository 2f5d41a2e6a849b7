// Memory per idle client: growth of the server's resident memory while clients connect, subscribe to one book and then hear
// nothing but heartbeats. The first clients are not counted: they fill pools that all share. Beside a `ws` server with
// permessage-deflate. Socket buffers of the kernel are in neither figure. `npm run bench connection`.

import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd } from './harness/crowd.ts';
import { machine, residentBytes } from './harness/processes.ts';
import { report } from './harness/report.ts';
import { Predecessor, Stage, subscribeTo } from './harness/stage.ts';
import { SyntheticMarket } from './harness/synthetic-markets.ts';

const FIRST_CLIENTS = 1_000;
const CLIENTS = 6_000;
/** Longer than two heartbeats, so that their cost is in the figure. */
const SETTLE_MS = 11_000;
const BAR_BYTES = 12_000;
const ACKNOWLEDGEMENT_AND_REPLAY = 2;

async function bytesPerClient(pid: number, url: string, market: SyntheticMarket) {
  const crowd = new Crowd();
  const empty = residentBytes(pid);
  const opening = { url, deflate: true, says: [subscribeTo(market)], framesEach: ACKNOWLEDGEMENT_AND_REPLAY };
  await crowd.open({ ...opening, clients: FIRST_CLIENTS });
  await sleep(SETTLE_MS);
  const before = residentBytes(pid);
  await crowd.open({ ...opening, clients: CLIENTS });
  await sleep(SETTLE_MS);
  const after = residentBytes(pid);
  await crowd.stop();
  return { each: (after - before) / CLIENTS, withFirst: (after - empty) / (CLIENTS + FIRST_CLIENTS) };
}

const market = new SyntheticMarket(0);
const stage = await Stage.start([market]);
const peer = await Predecessor.start([market]);
try {
  const { each: value, withFirst } = await bytesPerClient(stage.server.pid, stage.gateway, market);
  const predecessor = await bytesPerClient(peer.pid, peer.gateway, market);
  report({
    name: 'connection: memory per idle client',
    value,
    unit: 'bytes',
    bar: { atMost: BAR_BYTES },
    withFirst,
    predecessor,
    clients: CLIENTS,
    ...machine(),
  });
} finally {
  await stage.stop();
  await peer.stop();
}
