// Whole books to a thousand subscribers: messages per CPU-second of the server process, beside a `ws` server that does what
// the predecessor does. `npm run bench fanout`. Each book waits until all have the one before, so nothing is dropped and
// neither server is timed by the other's speed. Not a measure of latency (see the bench of that name).

import { Crowd } from './harness/crowd.ts';
import { cpuSeconds, machine } from './harness/processes.ts';
import { report } from './harness/report.ts';
import { Predecessor, Stage, subscribeTo } from './harness/stage.ts';
import { SyntheticMarket } from './harness/synthetic-markets.ts';

const SUBSCRIBERS = 1_000;
const WARM_UP_BOOKS = 20;
const OUR_BOOKS = 200;
const PEER_BOOKS = 20;
const BAR = 8;
const ACKNOWLEDGEMENT_AND_REPLAY = 2;

interface Measured {
  readonly perCpuSecond: number;
  readonly perSecond: number;
  readonly bytesPerMessage: number;
  readonly messages: number;
}

/** Publishes `books` one after the other to everybody, the next when all have the last. */
async function measure(
  pid: number,
  url: string,
  market: SyntheticMarket,
  books: number,
  publish: () => Promise<void>,
): Promise<Measured> {
  const crowd = new Crowd();
  const says = [subscribeTo(market)];
  await crowd.open({ url, clients: SUBSCRIBERS, deflate: true, says, framesEach: ACKNOWLEDGEMENT_AND_REPLAY });
  const run = async (count: number): Promise<void> => {
    await crowd.mark();
    for (let book = 1; book <= count; book += 1) {
      await publish();
      await crowd.received(book * SUBSCRIBERS);
    }
  };
  await run(WARM_UP_BOOKS);
  const [usedBefore, startedMs] = [cpuSeconds(pid), performance.now()];
  await run(books);
  const [used, seconds] = [cpuSeconds(pid) - usedBefore, (performance.now() - startedMs) / 1000];
  const { frames, bytes } = await crowd.counts();
  await crowd.stop();
  return {
    perCpuSecond: frames / used,
    perSecond: frames / seconds,
    bytesPerMessage: bytes / frames,
    messages: frames,
  };
}

/** Two markets of one seed: the same books for both. */
const [market, peerMarket] = [new SyntheticMarket(0), new SyntheticMarket(0)];
const stage = await Stage.start([market], { BOOK_TICK_MS: 0 });
const peer = await Predecessor.start([peerMarket]);
try {
  const ours = await measure(stage.server.pid, stage.gateway, market, OUR_BOOKS, () =>
    stage.publish([{ market, diff: market.change() }]),
  );
  const theirs = await measure(peer.pid, peer.gateway, peerMarket, PEER_BOOKS, async () =>
    peer.publish([{ market: peerMarket, diff: peerMarket.change() }]),
  );
  const beside = { subscribers: SUBSCRIBERS, ours, predecessor: theirs, ...machine() };
  report({ name: 'fanout: whole books', value: ours.perCpuSecond, unit: 'messages/CPU-s', ...beside });
  const ratio = ours.perCpuSecond / theirs.perCpuSecond;
  report({ name: 'fanout: ratio to the predecessor', value: ratio, unit: 'x', bar: { atLeast: BAR }, ...beside });
} finally {
  await stage.stop();
  await peer.stop();
}
