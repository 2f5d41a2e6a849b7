// Five thousand clients lose their connections at once and come back. Time runs from the first connect until each has resumed
// its book where it stood, with the changes it missed and nothing else. They hold ten markets and stood at fifty versions of
// each, and every market goes on changing ten times a second. The clients' own work, in two processes on the same machine, is
// part of the time; the server's CPU seconds stand beside. The `ws` server of the predecessor's kind has no resume: its clients
// connect, subscribe and get a whole book. Meanwhile it sends one book of each market a second, since ten are more than it can
// send. Both servers have had all clients once before, and are measured equally often. `npm run bench storm`.

import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd, type Opening } from './harness/crowd.ts';
import { cpuSeconds, machine } from './harness/processes.ts';
import { report } from './harness/report.ts';
import { Predecessor, Stage, subscribeTo } from './harness/stage.ts';
import { SyntheticMarket } from './harness/synthetic-markets.ts';

const CLIENTS = 5_000;
const MARKETS = 10;
const EVERY_MS = 100;
const VERSIONS = 50;
const CONFLATION_MS = 50;
const CLIENT_PROCESSES = 2;
const ROUNDS = 3;
const SETTLE_MS = 2_000;
const BAR_SECONDS = 2;
const ACKNOWLEDGEMENT_AND_BOOK = 2;
/** `subscribed`, `resumed`, and the missed changes of a conflated stream as one. */
const ANSWERS_TO_RESUME = 3;

interface Measured {
  readonly seconds: number;
  readonly serverCpuSeconds: number;
}

const makeMarkets = () => Array.from({ length: MARKETS }, (_, index) => new SyntheticMarket(index));
const says = (message: object): readonly string[] => [JSON.stringify(message)];

/** Publishes every market at an even pace until it is stopped; fails when a publish fails. */
function keepChanging(change: (round: number) => Promise<void> | void): () => Promise<void> {
  let isOver = false;
  const changing = (async () => {
    const startedMs = performance.now();
    for (let round = 0; !isOver; round += 1) {
      await change(round);
      await sleep(Math.max(0, startedMs + (round + 1) * EVERY_MS - performance.now()));
    }
  })();
  changing.catch(() => {}); // the promise below reports it
  return () => {
    isOver = true;
    return changing;
  };
}

/** Every client has been there before; then each round all leave, wait, and come back. */
async function storms(pid: number, crowd: Crowd, first: Opening, next: () => Promise<Opening>): Promise<Measured[]> {
  const rounds: Measured[] = [];
  await crowd.open(first);
  for (let round = 0; round < ROUNDS; round += 1) {
    await sleep(SETTLE_MS);
    await crowd.close();
    const opening = await next();
    const [usedBefore, startedMs] = [cpuSeconds(pid), performance.now()];
    await crowd.open(opening);
    rounds.push({ seconds: (performance.now() - startedMs) / 1000, serverCpuSeconds: cpuSeconds(pid) - usedBefore });
  }
  return rounds;
}

/** The median by time. */
function median(rounds: readonly Measured[]): Measured {
  const sorted = [...rounds].sort((left, right) => left.seconds - right.seconds);
  return sorted[Math.floor(sorted.length / 2)] as Measured;
}

async function measureOurs(): Promise<readonly Measured[]> {
  const markets = makeMarkets();
  const stage = await Stage.start(markets);
  const crowd = new Crowd(CLIENT_PROCESSES);
  const changeAll = () => stage.publish(markets.map((market) => ({ market, diff: market.change() })));
  // The log then has all changes since the oldest version.
  for (let change = 0; change < VERSIONS; change += 1) await changeAll();
  const stop = keepChanging(changeAll);
  const opening = { url: stage.gateway, clients: CLIENTS, deflate: true };
  const subscriptions = markets.map(({ symbol }) => ({
    type: 'subscribe',
    channel: 'book',
    market: symbol,
    marketType: 'perp',
    conflation: CONFLATION_MS,
  }));
  const first = { ...opening, saysInTurn: subscriptions.map(says), framesEach: ACKNOWLEDGEMENT_AND_BOOK };
  try {
    const rounds = await storms(stage.server.pid, crowd, first, async () => {
      const versions = markets.map((market) => {
        const { epoch, seq } = market.snapshot();
        return Array.from({ length: VERSIONS }, (_, missed) => ({ epoch, seq: seq - missed }));
      });
      await sleep(SETTLE_MS);
      const saysInTurn = Array.from({ length: VERSIONS }, (_, missed) =>
        subscriptions.map((choices, at) => says({ ...choices, resume: versions[at]?.[missed] })),
      ).flat();
      return { ...opening, saysInTurn, framesEach: ANSWERS_TO_RESUME };
    });
    await expectResumed(stage.server.endpoints.metrics ?? '');
    return rounds;
  } finally {
    await stop();
    await crowd.stop();
    await stage.stop();
  }
}

/** Every client must have received its missed changes; with a snapshot in their place the figure would mean nothing. */
async function expectResumed(metricsUrl: string): Promise<void> {
  const text = await (await fetch(metricsUrl)).text();
  const recovered = Number(/resumes_total\{[^}]*outcome="recovered"[^}]*\} (\d+)/.exec(text)?.[1] ?? 0);
  if (recovered !== CLIENTS * ROUNDS) throw new Error(`${recovered} of ${CLIENTS * ROUNDS} resumed`);
}

async function measurePeer(): Promise<readonly Measured[]> {
  const markets = makeMarkets();
  const peer = await Predecessor.start(markets);
  const crowd = new Crowd(CLIENT_PROCESSES);
  const stop = keepChanging((round) => {
    const market = markets[round % MARKETS] as SyntheticMarket;
    peer.publish([{ market, diff: market.change() }]);
  });
  const saysInTurn = markets.map((market) => [subscribeTo(market)]);
  const opening = { url: peer.gateway, clients: CLIENTS, deflate: true, saysInTurn };
  const again = { ...opening, framesEach: ACKNOWLEDGEMENT_AND_BOOK };
  try {
    return await storms(peer.pid, crowd, again, async () => {
      await sleep(SETTLE_MS);
      return again;
    });
  } finally {
    await stop();
    await crowd.stop();
    await peer.stop();
  }
}

const ours = await measureOurs();
const predecessor = await measurePeer();
report({
  name: 'storm: clients back where they stood',
  value: median(ours).seconds,
  unit: 's',
  bar: { atMost: BAR_SECONDS },
  clients: CLIENTS,
  markets: MARKETS,
  versions: MARKETS * VERSIONS,
  everyMs: EVERY_MS,
  ours: median(ours),
  oursSeconds: ours.map(({ seconds }) => seconds),
  predecessor: median(predecessor),
  predecessorSeconds: predecessor.map(({ seconds }) => seconds),
  ...machine(),
});
