// The `book` channel under load: 2,000 subscribers with 10 markets each; every market changes ten times a second. No message may be
// lost, and each must arrive soon after its tick. The server's CPU seconds stand beside those of a `ws` server that sends the
// same changes as whole books, as the predecessor does. `npm run bench fanout-diff`.
//
// Clients run in two processes on the same machine. Latency starts before the append to the log and ends when a client has read
// the message. So it includes the log, the tick and the clients' own delays. The interval of changes shares no factor with the
// tick, so that changes fall into all its phases.

import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from './harness/clock.ts';
import { Crowd } from './harness/crowd.ts';
import { cpuSeconds, machine } from './harness/processes.ts';
import { report } from './harness/report.ts';
import type { Sample } from './harness/sample-rows.ts';
import { Predecessor, Stage, subscribeTo } from './harness/stage.ts';
import { SyntheticMarket } from './harness/synthetic-markets.ts';

const SUBSCRIBERS = 2_000;
const MARKETS = 10;
const EVERY_MS = 97;
const TICK_MS = 50;
/** Warm-up of both servers. */
const WARM_UP_ROUNDS = 10;
const ROUNDS = 100;
const SAMPLE_EVERY = 25;
const SETTLE_MS = 2_000;
const CLIENT_PROCESSES = 2;
const SAMPLED_CLIENTS = CLIENT_PROCESSES * Math.ceil(SUBSCRIBERS / CLIENT_PROCESSES / SAMPLE_EVERY);
/** As many whole books as the peer can send in a bearable time. */
const PEER_ROUNDS = 3;
const ACKNOWLEDGEMENT_AND_BOOK = 2;
const BAR_RATIO = 50;
const BAR_P99_MS = TICK_MS + 20;

const PER_ROUND = SUBSCRIBERS * MARKETS;
const subscribeToBook = ({ symbol }: SyntheticMarket): string =>
  JSON.stringify({ type: 'subscribe', channel: 'book', market: symbol, marketType: 'perp', conflation: TICK_MS });
const makeMarkets = () => Array.from({ length: MARKETS }, (_, index) => new SyntheticMarket(index));

interface Ours {
  readonly perCpuSecond: number;
  readonly coresUsed: number;
  readonly updates: number;
  /** Changes times subscribers; more than `updates` when two changes of a market fell into one tick. */
  readonly published: number;
  readonly dropped: number;
  /** Including heartbeats. */
  readonly bytesPerUpdate: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Sequences of each market's book. */
type Sequences = ReadonlyMap<number, number>;

/** Received messages of the sampled clients, as chains of sequences. */
class Chains {
  /** Messages that did not start at the end of the previous one. */
  readonly broken: number;
  /** Chains that did not end at the newest change. */
  readonly unfinished: number;
  /** Most messages of one client, without heartbeats. */
  readonly messagesEach: number;

  /** `from` and `to`: sequence of every book at the start and at the end of the count. */
  constructor(samples: readonly Sample[], from: Sequences, to: Sequences) {
    const lastSeq = new Map<string, number>();
    const messages = new Map<number, number>();
    let broken = 0;
    for (const { client, market, seq, prevSeq } of samples) {
      if (Number.isNaN(prevSeq)) continue; // a heartbeat
      messages.set(client, (messages.get(client) ?? 0) + 1);
      const chain = `${client}/${market}`;
      if ((lastSeq.get(chain) ?? from.get(market)) !== prevSeq) broken += 1;
      lastSeq.set(chain, seq);
    }
    this.broken = broken;
    const chains = [...messages.keys()].flatMap((client) => [...to].map(([market, seq]) => ({ client, market, seq })));
    this.unfinished =
      chains.filter(({ client, market, seq }) => lastSeq.get(`${client}/${market}`) !== seq).length +
      (SAMPLED_CLIENTS - messages.size) * to.size;
    this.messagesEach = Math.max(0, ...messages.values());
  }
}

/** Arrival minus append, milliseconds, in order. */
function latenciesOf(samples: readonly Sample[], appendedMs: ReadonlyMap<string, number>): number[] {
  const latencies: number[] = [];
  for (const { market, seq, prevSeq, atMs } of samples) {
    if (Number.isNaN(prevSeq)) continue;
    const startedMs = appendedMs.get(`${market}/${seq}`);
    if (startedMs !== undefined) latencies.push(atMs - startedMs);
  }
  return latencies.sort((a, b) => a - b);
}

async function measureOurs(): Promise<Ours> {
  const markets = makeMarkets();
  const stage = await Stage.start(markets);
  const crowd = new Crowd(CLIENT_PROCESSES);
  const appendedMs = new Map<string, number>();
  const newest = new Map<number, number>();
  const round = async (): Promise<void> => {
    const changes = markets.map((market) => ({ market, diff: market.change() }));
    const atMs = nowMs();
    for (const { market, diff } of changes) {
      appendedMs.set(`${market.marketIndex}/${diff.seq}`, atMs);
      newest.set(market.marketIndex, diff.seq);
    }
    await stage.publish(changes);
  };
  const run = async (rounds: number): Promise<void> => {
    const startedMs = performance.now();
    for (let done = 0; done < rounds; done += 1) {
      await sleep(Math.max(0, startedMs + done * EVERY_MS - performance.now()));
      await round();
    }
  };
  try {
    await crowd.open({
      url: stage.gateway,
      clients: SUBSCRIBERS,
      deflate: true,
      says: markets.map(subscribeToBook),
      framesEach: MARKETS * ACKNOWLEDGEMENT_AND_BOOK,
      sampleEvery: SAMPLE_EVERY,
    });
    await run(WARM_UP_ROUNDS);
    await sleep(SETTLE_MS);
    await crowd.mark();
    const marked = new Map(newest);
    const [usedBefore, startedMs] = [cpuSeconds(stage.server.pid), performance.now()];
    await run(ROUNDS);
    const seconds = (performance.now() - startedMs) / 1000;
    await sleep(SETTLE_MS);
    const used = cpuSeconds(stage.server.pid) - usedBefore;
    const { diffs, bytes, samples } = await crowd.counts();
    const chains = new Chains(samples, marked, newest);
    const latencies = latenciesOf(samples, appendedMs);
    const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN;
    return {
      perCpuSecond: diffs / used,
      coresUsed: used / seconds,
      updates: diffs,
      published: ROUNDS * PER_ROUND,
      dropped: chains.broken + chains.unfinished + Math.abs(SUBSCRIBERS * chains.messagesEach - diffs),
      bytesPerUpdate: bytes / diffs,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
    };
  } finally {
    await crowd.stop();
    await stage.stop();
  }
}

async function measurePeer() {
  const markets = makeMarkets();
  const peer = await Predecessor.start(markets);
  const crowd = new Crowd(CLIENT_PROCESSES);
  try {
    const says = markets.map(subscribeTo);
    await crowd.open({
      url: peer.gateway,
      clients: SUBSCRIBERS,
      deflate: true,
      says,
      framesEach: MARKETS * ACKNOWLEDGEMENT_AND_BOOK,
    });
    const run = async (rounds: number): Promise<void> => {
      await crowd.mark();
      for (let round = 1; round <= rounds; round += 1) {
        peer.publish(markets.map((market) => ({ market, diff: market.change() })));
        await crowd.received(round * PER_ROUND);
      }
    };
    await run(WARM_UP_ROUNDS);
    const usedBefore = cpuSeconds(peer.pid);
    await run(PEER_ROUNDS);
    const used = cpuSeconds(peer.pid) - usedBefore;
    const { frames, bytes } = await crowd.counts();
    return { perCpuSecond: frames / used, bytesPerUpdate: bytes / frames };
  } finally {
    await crowd.stop();
    await peer.stop();
  }
}

const ours = await measureOurs();
const predecessor = await measurePeer();
const shape = { subscribers: SUBSCRIBERS, markets: MARKETS, everyMs: EVERY_MS, tickMs: TICK_MS };
const beside = { ours, predecessor, ...shape, ...machine() };
const { perCpuSecond, dropped, p99Ms } = ours;
report({ name: 'fanout-diff: updates dropped', value: dropped, unit: 'updates', bar: { atMost: 0 }, ...beside });
report({
  name: 'fanout-diff: p99 of append to client',
  value: p99Ms,
  unit: 'ms',
  bar: { atMost: BAR_P99_MS },
  ...beside,
});
report({ name: 'fanout-diff: updates', value: perCpuSecond, unit: 'updates/CPU-s', ...beside });
const ratio = perCpuSecond / predecessor.perCpuSecond;
report({
  name: 'fanout-diff: ratio to the predecessor',
  value: ratio,
  unit: 'x',
  bar: { atLeast: BAR_RATIO },
  ...beside,
});
