// Five thousand clients lose their connections at once and come back: time from the first connect until each has resumed its
// book where it stood, with the changes it missed and nothing else. The clients' own work, in two processes on the same
// machine, is part of the time; the server's CPU seconds stand beside. The `ws` server of the predecessor's kind has no
// resume: its clients connect, subscribe and get a whole book. `npm run bench storm`.

import { setTimeout as sleep } from 'node:timers/promises';
import { Crowd, type Opening } from './harness/crowd.ts';
import { cpuSeconds, machine } from './harness/processes.ts';
import { report } from './harness/report.ts';
import { Predecessor, Stage, subscribeTo } from './harness/stage.ts';
import { SyntheticMarket } from './harness/synthetic-markets.ts';

const CLIENTS = 5_000;
const MISSED_CHANGES = 50;
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

async function timed(pid: number, crowd: Crowd, opening: Opening): Promise<Measured> {
  const [usedBefore, startedMs] = [cpuSeconds(pid), performance.now()];
  await crowd.open(opening);
  return { seconds: (performance.now() - startedMs) / 1000, serverCpuSeconds: cpuSeconds(pid) - usedBefore };
}

/** The middle one by time. */
function median(rounds: readonly Measured[]): Measured {
  const sorted = [...rounds].sort((left, right) => left.seconds - right.seconds);
  return sorted[Math.floor(sorted.length / 2)] as Measured;
}

async function measureOurs(): Promise<Measured> {
  const market = new SyntheticMarket(0);
  const stage = await Stage.start([market]);
  const crowd = new Crowd(CLIENT_PROCESSES);
  const subscribe = { type: 'subscribe', channel: 'book', market: market.symbol, marketType: 'perp' };
  const choices = { ...subscribe, conflation: CONFLATION_MS };
  const opening = { url: stage.gateway, clients: CLIENTS, deflate: true };
  const rounds: Measured[] = [];
  try {
    await crowd.open({ ...opening, says: [JSON.stringify(choices)], framesEach: ACKNOWLEDGEMENT_AND_BOOK });
    for (let round = 0; round < ROUNDS; round += 1) {
      await sleep(SETTLE_MS);
      const { epoch, seq } = market.snapshot();
      await crowd.close();
      for (let change = 0; change < MISSED_CHANGES; change += 1) {
        await stage.publish([{ market, diff: market.change() }]);
      }
      await sleep(SETTLE_MS);
      const says = [JSON.stringify({ ...choices, resume: { epoch, seq } })];
      rounds.push(await timed(stage.server.pid, crowd, { ...opening, says, framesEach: ANSWERS_TO_RESUME }));
    }
    await expectResumed(stage.server.endpoints.metrics ?? '');
    return median(rounds);
  } finally {
    await crowd.stop();
    await stage.stop();
  }
}

/** Every client must have been given what it missed; a snapshot instead would make the figure meaningless. */
async function expectResumed(metricsUrl: string): Promise<void> {
  const text = await (await fetch(metricsUrl)).text();
  const recovered = Number(/resumes_total\{[^}]*outcome="recovered"[^}]*\} (\d+)/.exec(text)?.[1] ?? 0);
  if (recovered !== CLIENTS * ROUNDS) throw new Error(`${recovered} of ${CLIENTS * ROUNDS} resumed`);
}

async function measurePeer(): Promise<Measured> {
  const market = new SyntheticMarket(0);
  const peer = await Predecessor.start([market]);
  const crowd = new Crowd(CLIENT_PROCESSES);
  const says = [subscribeTo(market)];
  try {
    const opening = { url: peer.gateway, clients: CLIENTS, deflate: true, says, framesEach: ACKNOWLEDGEMENT_AND_BOOK };
    return await timed(peer.pid, crowd, opening);
  } finally {
    await crowd.stop();
    await peer.stop();
  }
}

const ours = await measureOurs();
const predecessor = await measurePeer();
report({
  name: 'storm: clients back where they stood',
  value: ours.seconds,
  unit: 's',
  bar: { atMost: BAR_SECONDS },
  clients: CLIENTS,
  missedChanges: MISSED_CHANGES,
  ours,
  predecessor,
  ...machine(),
});
