// `npm run soak hostile [clients of each kind] [rounds] [kind | together]`: polite clients beside a thousand hostile ones of each
// kind. 200 polite clients follow a book with 100 changes a second. Windows of ten seconds with and without an attack alternate,
// so that other load on the machine affects both.
//
// Attackers arrive evenly over the window (`ARRIVE_MS=0`: all at once). A client that the server closes returns after a second.
// Slow clients arrive first: the window begins when the server closes the first of them, because the kernel buffers megabytes
// for each before the server can notice.
//
// The server's loop has a core of its own, and attackers run with idle priority: the latency is the server's, not a scheduler's
// with too few cores. `INBOX=none` runs a server whose clients have a token bucket each instead of the fair inbox. On a shared machine `ATTACKERS=other chrt --rr 1 npm run soak hostile` gives server and polite clients
// priority over everything else.

import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../bench/harness/clock.ts';
import { Crowd } from '../bench/harness/crowd.ts';
import { cpuSeconds, keepOn, machine, residentBytes } from '../bench/harness/processes.ts';
import { report } from '../bench/harness/report.ts';
import type { Sample } from '../bench/harness/sample-rows.ts';
import { Stage, subscribeTo } from '../bench/harness/stage.ts';
import { SyntheticMarket } from '../bench/harness/synthetic-markets.ts';
import { HOSTILE_KINDS, Hostile, type HostileKind, type HostileState, type SchedulingPolicy } from '../fuzz/hostile.ts';
import { percentile } from '../support/platform/percentile.ts';

const [clientsText = '1000', roundsText = '5', only] = process.argv.slice(2);
const CLIENTS = Number(clientsText);
const ROUNDS = Number(roundsText);
const POLICY: SchedulingPolicy = process.env.ATTACKERS === 'other' ? 'other' : 'idle';
const WINDOW_MS = 10_000;
const ARRIVE_MS = Number(process.env.ARRIVE_MS ?? WINDOW_MS);
const POLITE = 200;
const CHANGE_EVERY_MS = 10;
/** `COMES_BACK=never`: closed clients do not return. */
const COMES_BACK_MS = process.env.COMES_BACK === 'never' ? null : 1_000;
/** Longest time until the kernel buffers for slow clients are full and the server closes one. */
const RIPE_MS = 90_000;
const SETTLE_MS = 1_000;
/** A message that did not come in this time after the window counts as lost. */
const PATIENCE_MS = 20_000;
const MEMORY_EVERY_MS = 100;
const MESSAGES = 2_500;
const ACKNOWLEDGEMENT_AND_BOOK = 2;
const MB = 1_000_000;
const [SERVER_CORE, CLIENT_CORE] = [0, 1];
const TOGETHER = 'together';

type Attack = HostileKind | typeof TOGETHER;
const ATTACKS: readonly Attack[] = [...HOSTILE_KINDS, TOGETHER];
const attacks = ATTACKS.filter((attack) => only === undefined || attack === only);

const market = new SyntheticMarket(0);
const WITHOUT_INBOX = process.env.INBOX === 'none';
const inherited = process.env.NODE_OPTIONS;
if (WITHOUT_INBOX)
  process.env.NODE_OPTIONS = `--import=${new URL('../bench/harness/no-inbox.ts', import.meta.url).href}`;
const stage = await Stage.start([market]);
process.env.NODE_OPTIONS = inherited ?? '';
const isApart = keepOn(SERVER_CORE, stage.server.pid, 'loop') && keepOn(CLIENT_CORE, process.pid, 'all');
const polite = new Crowd();
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
  readonly latencies: readonly number[];
  readonly lost: number;
  readonly peakMb: number;
  /** Share of one core that the server used. */
  readonly serverCpu: number;
  /** Closed polite connections; there should be none. */
  readonly closes: Readonly<Record<string, number>>;
}

/** Messages that polite clients receive in one window. */
async function observe(attack: () => Promise<unknown>): Promise<Window> {
  await polite.mark();
  peakBytes = 0;
  const cpu = cpuSeconds(stage.server.pid);
  const beganMs = nowMs();
  const first = market.snapshot().seq;
  const during = attack();
  await sleep(WINDOW_MS);
  const last = market.snapshot().seq;
  const serverCpu = (cpuSeconds(stage.server.pid) - cpu) / ((nowMs() - beganMs) / 1000);
  await during;
  const due = (last - first) * POLITE;
  const latencies: number[] = [];
  const take = ({ seq, prevSeq, atMs }: Sample): void => {
    if (Number.isNaN(prevSeq) || seq <= first || seq > last) return;
    latencies.push(atMs - (appendedMs.get(seq) ?? Number.NaN));
  };
  const patientUntilMs = nowMs() + PATIENCE_MS;
  for (;;) {
    await sleep(SETTLE_MS);
    const { samples, closes } = await polite.counts();
    for (const sample of samples) take(sample);
    if (latencies.length >= due || nowMs() > patientUntilMs) {
      return { latencies, lost: due - latencies.length, peakMb: peakBytes / MB, serverCpu, closes };
    }
  }
}

async function besides(attack: Attack): Promise<{ window: Window; states: HostileState[]; ended: number }> {
  const kinds = attack === TOGETHER ? HOSTILE_KINDS : [attack];
  const hostile = kinds.map((kind) => ({ kind, process: new Hostile(POLICY) }));
  const comesBack = COMES_BACK_MS === null ? null : { comesBack: { afterMs: COMES_BACK_MS, forMs: WINDOW_MS } };
  const options = { url: stage.gateway, clients: CLIENTS, messages: MESSAGES, arriveOverMs: ARRIVE_MS, seed: 1 };
  const asks = [subscribeTo(market)];
  // Processes start before the window, so that their start is not measured.
  await Promise.all(hostile.map(({ process }) => process.state()));
  await sleep(SETTLE_MS);
  const endedBefore = await stage.overflows();
  for (const { kind, process } of hostile) {
    if (kind === 'slow') await ripen(process.attack({ ...options, kind, asks }), endedBefore);
  }
  const window = await observe(() =>
    Promise.all(
      hostile
        .filter(({ kind }) => kind !== 'slow')
        .map(({ kind, process }) => process.attack({ ...options, kind, asks, ...comesBack })),
    ),
  );
  const ended = (await stage.overflows()) - endedBefore;
  const states = await Promise.all(hostile.map(({ process }) => process.state()));
  await Promise.all(hostile.map(({ process }) => process.stop()));
  await sleep(SETTLE_MS);
  return { window, states, ended };
}

/** Resolves when all slow clients are connected and the server has closed the first. */
async function ripen(arrival: Promise<unknown>, endedBefore: number): Promise<void> {
  const untilMs = nowMs() + RIPE_MS;
  await arrival;
  while ((await stage.overflows()) === endedBefore && nowMs() < untilMs) await sleep(SETTLE_MS);
}

const rounded = (values: readonly number[], share: number): number => Number(percentile(values, share).toFixed(2));

function summary(windows: readonly Window[]): Record<string, unknown> {
  const all = windows.flatMap(({ latencies }) => latencies);
  return {
    p50Ms: rounded(all, 0.5),
    p99Ms: rounded(all, 0.99),
    p99MsMedianOfRounds: rounded(
      windows.map(({ latencies }) => rounded(latencies, 0.99)),
      0.5,
    ),
    p99MsByRound: windows.map(({ latencies }) => rounded(latencies, 0.99)),
    lost: windows.reduce((sum, { lost }) => sum + lost, 0),
    peakMb: Math.round(Math.max(...windows.map(({ peakMb }) => peakMb))),
    serverCpu: rounded(
      windows.map(({ serverCpu }) => serverCpu),
      0.5,
    ),
  };
}

const calm = new Map<Attack, Window[]>();
const attacked = new Map<Attack, Window[]>();
const ends = new Map<Attack, HostileState[]>();
const laggardsEnded = new Map<Attack, number>();
let lost = 0;
try {
  // One round without measurement warms the server up.
  await observe(async () => {});
  for (const attack of attacks) await besides(attack);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const attack of attacks) {
      calm.set(attack, [...(calm.get(attack) ?? []), await observe(async () => {})]);
      const { window, states, ended } = await besides(attack);
      attacked.set(attack, [...(attacked.get(attack) ?? []), window]);
      ends.set(attack, states);
      laggardsEnded.set(attack, (laggardsEnded.get(attack) ?? 0) + ended);
      lost += window.lost;
    }
  }
  for (const attack of attacks) {
    const [before, beside] = [summary(calm.get(attack) ?? []), summary(attacked.get(attack) ?? [])];
    report({
      name: `hostile: p99 beside ${attack} clients against p99 without them`,
      value: Number(beside.p99MsMedianOfRounds) / Number(before.p99MsMedianOfRounds),
      unit: 'x',
      ofAllRoundsTogether: Number((Number(beside.p99Ms) / Number(before.p99Ms)).toFixed(3)),
      calm: before,
      attacked: beside,
      clientsOfEachKind: CLIENTS,
      arriveOverMs: ARRIVE_MS,
      comeBackAfterMs: COMES_BACK_MS,
      attackers: POLICY,
      inbox: WITHOUT_INBOX ? 'none' : 'fair',
      serverHasItsOwnCore: isApart,
      ends: ends.get(attack),
      laggardsEnded: laggardsEnded.get(attack),
      politeCloses: attacked.get(attack)?.at(-1)?.closes,
      publishFault,
      ...machine(),
    });
  }
} finally {
  clearInterval(changing);
  clearInterval(watching);
  await polite.stop();
  await stage.stop();
}
process.exit(lost === 0 ? 0 : 1);
