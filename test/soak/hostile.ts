// What polite clients notice of four thousand hostile ones: `node test/soak/hostile.ts [clients of
// each kind] [one kind]`. Two hundred
// polite clients hold a book that changes twenty times a second; their latency is taken before and during each attack, and the
// server's memory all along. Hostile clients run on the same machine and use its cores too, so part of what the polite notice
// is theirs and not the server's. Slow clients make the kernel hold some megabytes each.

import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../bench/harness/clock.ts';
import { Crowd } from '../bench/harness/crowd.ts';
import { machine, residentBytes } from '../bench/harness/processes.ts';
import { report } from '../bench/harness/report.ts';
import { Stage, subscribeTo } from '../bench/harness/stage.ts';
import { SyntheticMarket } from '../bench/harness/synthetic-markets.ts';
import { HOSTILE_KINDS, Hostile, type HostileKind } from '../fuzz/hostile.ts';

const DEFAULT_CLIENTS = 1_000;
const POLITE = 200;
const CHANGE_EVERY_MS = 50;
const TICK_MS = 20;
const WINDOW_MS = 10_000;
const MEMORY_EVERY_MS = 100;
const MESSAGES: Record<HostileKind, number> = { slow: 1_900, silent: 0, flooding: 2_500, malformed: 0 };
const ACKNOWLEDGEMENT_AND_BOOK = 2;
const MB = 1_000_000;

const clients = Number(process.argv[2] ?? DEFAULT_CLIENTS);
const kinds = process.argv[3] ? HOSTILE_KINDS.filter((kind) => kind === process.argv[3]) : HOSTILE_KINDS;
const market = new SyntheticMarket(0);
const stage = await Stage.start([market], { BOOK_TICK_MS: TICK_MS });
const polite = new Crowd();
const asks = subscribeTo(market);
await polite.open({
  url: stage.gateway,
  clients: POLITE,
  says: [
    JSON.stringify({ type: 'subscribe', channel: 'book', market: market.symbol, marketType: 'perp', conflation: 0 }),
  ],
  framesEach: ACKNOWLEDGEMENT_AND_BOOK,
  sampleEvery: 1,
});
let publishFault: string | null = null;
const appendedMs = new Map<number, number>();
const changing = setInterval(() => {
  const diff = market.change();
  appendedMs.set(diff.seq, nowMs());
  stage.publish([{ market, diff }]).catch((error: unknown) => {
    publishFault = String(error);
  });
}, CHANGE_EVERY_MS);
let peakBytes = 0;
const watching = setInterval(() => {
  peakBytes = Math.max(peakBytes, residentBytes(stage.server.pid));
}, MEMORY_EVERY_MS);

interface Window {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly missed: number;
  readonly peakMb: number;
  /** Polite connections that ended, which none should. */
  readonly closes: Readonly<Record<string, number>>;
}

/** What the polite notice while `during` is under way, and for at least ten seconds. */
async function observe(during: Promise<unknown>): Promise<Window> {
  await polite.mark();
  peakBytes = 0;
  const first = market.snapshot().seq;
  await Promise.all([during, sleep(WINDOW_MS)]);
  const last = market.snapshot().seq;
  await sleep(1_000);
  const { samples, closes } = await polite.counts();
  const latencies: number[] = [];
  let heard = 0;
  for (const { seq, prevSeq, atMs } of samples) {
    if (Number.isNaN(prevSeq) || seq <= first || seq > last) continue;
    heard += 1;
    latencies.push(atMs - (appendedMs.get(seq) ?? Number.NaN));
  }
  latencies.sort((left, right) => left - right);
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), missed: (last - first) * POLITE - heard, peakMb: peakBytes / MB, closes };
}

let faults = 0;
try {
  await observe(Promise.resolve());
  for (const kind of kinds) {
    const calm = await observe(Promise.resolve());
    const hostile = new Hostile();
    const attacked = await observe(
      hostile.attack({ url: stage.gateway, kind, clients, messages: MESSAGES[kind], asks, seed: 1 }),
    );
    await hostile.read();
    await sleep(1_000);
    const { closes, refused } = await hostile.state();
    await hostile.stop();
    faults += attacked.missed;
    const beside = { calm, attacked, clients, closes, refused, publishFault, ...machine() };
    report({ name: `hostile: p99 beside ${kind} clients`, value: attacked.p99Ms, unit: 'ms', ...beside });
  }
} finally {
  clearInterval(changing);
  clearInterval(watching);
  await polite.stop();
  await stage.stop();
}
process.exit(faults === 0 ? 0 : 1);
