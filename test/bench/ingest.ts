// From a socket to the log: account updates and transactions a second through one ingester in a process of its own, over gRPC
// and over PubSub. The process that sends them costs little and has a low priority. Three quarters of the updates and more are
// user accounts; each slot has one state of every market, oracle and order account, as a node sends them. Audits come as often
// as in production: end-to-end tests ask for five times as many. CPU time is that of all threads, so a busy machine does not
// change it much.

import { setTimeout as delay } from 'node:timers/promises';
import { readConfig } from '../../platform/index.ts';
import { eventually, type Running, startRoles, temporaryDirectory } from '../support/processes/processes.ts';
import { anonymousBytes, cpuSeconds, machine } from './harness/processes.ts';
import { report } from './harness/report.ts';
import { NaiveReader, NODE_NICENESS, UpdateNode } from './harness/update-node.ts';

const TRANSACTIONS_PER_SECOND = 2_000;
const SOURCES = {
  grpc: { bar: 20_000, rates: [5_000, 10_000, 15_000, 20_000, 25_000, 30_000, 40_000] },
  pubsub: { bar: 6_000, rates: [2_000, 4_000, 6_000, 8_000, 10_000, 12_000] },
} as const;
type Kind = keyof typeof SOURCES;
const STEP_MS = 10_000;
const LAST_MS = 3_000;
const SAMPLE_MS = 500;
/** A backlog that stays below half a second of updates does not grow. */
const BACKLOG_SECONDS = 0.5;
const MEMORY_WARM_UP_MS = 40_000;
const MEMORY_MS = 40_000;
const MEMORY_GROWTH_BAR = 1.1;
/** Of the naive reader, which manages no more. */
const NAIVE_RATE = { accountsPerSecond: 500, transactionsPerSecond: 50 };

interface Sample {
  readonly atMs: number;
  readonly processed: number;
  readonly backlog: number;
  readonly cpuSeconds: number;
  readonly anonymousBytes: number;
}

class Run {
  readonly kind: Kind;
  readonly node: UpdateNode;
  readonly ingest: Running;
  readonly #remove: () => void;
  #base = 0;

  private constructor(kind: Kind, node: UpdateNode, ingest: Running, remove: () => void) {
    this.kind = kind;
    this.node = node;
    this.ingest = ingest;
    this.#remove = remove;
  }

  static async start(kind: Kind): Promise<Run> {
    const { dir, remove } = temporaryDirectory();
    const node = await UpdateNode.start();
    const { rpcUrl, wsUrl, grpcUrl } = node.urls;
    const source = kind === 'grpc' ? { SOURCE: 'grpc', GRPC_URL: grpcUrl } : { RPC_WS_URL: wsUrl };
    const settings = {
      DATA_DIR: dir,
      RPC_URL: rpcUrl,
      // The states of its full reads are not those of the stream, which the cluster behind the sender does not follow.
      SHADOW_CHECK_MS: 0,
      AUDIT_MS: readConfig({}).auditMs,
      ...source,
    };
    const run = new Run(kind, node, await startRoles(['ingest'], settings), remove);
    node.rate = { accountsPerSecond: 100, transactionsPerSecond: 10 };
    await eventually('all accounts read and the stream followed', async () => (await run.metric('slot')) > 0);
    await delay(STEP_MS / 2);
    node.rate = { accountsPerSecond: 0, transactionsPerSecond: 0 };
    await delay(SAMPLE_MS * 2);
    run.#base = (await run.metric('account_updates_total')) - (await node.counts()).accounts;
    return run;
  }

  async metric(name: string): Promise<number> {
    const text = await (await fetch(this.ingest.endpoints.metrics ?? '')).text();
    return Number(new RegExp(`^slotbook_ingest_${name}(?:{[^}]*})? (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
  }

  async sample(): Promise<Sample> {
    const processed = (await this.metric('account_updates_total')) - this.#base;
    const { accounts, waiting } = await this.node.counts();
    const { pid } = this.ingest;
    return {
      atMs: performance.now(),
      processed,
      backlog: Math.max(0, accounts + waiting - processed),
      cpuSeconds: cpuSeconds(pid),
      anonymousBytes: anonymousBytes(pid),
    };
  }

  async during(ms: number): Promise<readonly [Sample, ...Sample[]]> {
    const samples: [Sample, ...Sample[]] = [await this.sample()];
    const untilMs = performance.now() + ms;
    while (performance.now() < untilMs) {
      await delay(SAMPLE_MS);
      samples.push(await this.sample());
    }
    return samples;
  }

  async stop(): Promise<void> {
    await this.ingest.stop();
    await this.node.stop();
    this.#remove();
  }
}

const rateOf = (accountsPerSecond: number) => ({ accountsPerSecond, transactionsPerSecond: TRANSACTIONS_PER_SECOND });
const least = (values: readonly number[]) => Math.min(...values);

interface Step {
  readonly keptUp: boolean;
  /** Updates by second of processor time. */
  readonly perCpuSecond: number;
  readonly cpuShare: number;
  readonly perSecond: number;
  readonly backlog: number;
}

async function step(run: Run, rate: number): Promise<Step> {
  run.node.rate = rateOf(rate);
  await delay(SAMPLE_MS);
  const samples = await run.during(STEP_MS);
  const [first] = samples;
  const last = samples.at(-1) ?? first;
  const seconds = (last.atMs - first.atMs) / 1_000;
  const backlog = least(samples.filter(({ atMs }) => atMs > last.atMs - LAST_MS).map((one) => one.backlog));
  const cpu = last.cpuSeconds - first.cpuSeconds;
  return {
    keptUp: backlog < rate * BACKLOG_SECONDS,
    perCpuSecond: (last.processed - first.processed) / cpu,
    cpuShare: cpu / seconds,
    perSecond: (last.processed - first.processed) / seconds,
    backlog,
  };
}

async function catchUp(run: Run): Promise<void> {
  run.node.rate = { accountsPerSecond: 0, transactionsPerSecond: 0 };
  await eventually('an empty backlog', async () => (await run.sample()).backlog === 0);
}

/** Growth of memory at the rate of the bar: the least of the end over the least of the beginning, which garbage does not change. */
async function memory(run: Run, rate: number) {
  run.node.rate = rateOf(rate);
  await delay(MEMORY_WARM_UP_MS);
  const samples = (await run.during(MEMORY_MS)).map((one) => one.anonymousBytes);
  const third = Math.ceil(samples.length / 3);
  return { before: least(samples.slice(0, third)), after: least(samples.slice(-third)) };
}

async function measure(kind: Kind): Promise<void> {
  const { bar, rates } = SOURCES[kind];
  const run = await Run.start(kind);
  let sustained = 0;
  for (const rate of rates) {
    const taken = await step(run, rate);
    const beside = {
      transactionsPerSecond: TRANSACTIONS_PER_SECOND,
      log: 'embedded',
      nodeNiceness: NODE_NICENESS,
      ...machine(),
    };
    report({ name: `ingest-${kind}-cpu-at-${rate}`, value: taken.cpuShare, unit: 'cores', ...taken, ...beside });
    if (rate === bar) {
      report({
        name: `ingest-${kind}-one-core`,
        value: taken.perCpuSecond,
        unit: 'account updates/CPU s',
        bar: { atLeast: bar },
        ...beside,
      });
    }
    if (taken.keptUp) sustained = rate;
    else if (rate >= bar) break;
    await catchUp(run);
  }
  report({ name: `ingest-${kind}-sustained`, value: sustained, unit: 'account updates/s', bar: { atLeast: bar } });
  await catchUp(run);
  const { before, after } = await memory(run, Math.min(bar, sustained));
  report({
    name: `ingest-${kind}-memory`,
    value: after / before,
    unit: 'x',
    bar: { atMost: MEMORY_GROWTH_BAR },
    ...{ before, after, rate: Math.min(bar, sustained), reconnects: await run.metric('reconnects_total') },
  });
  await run.stop();
}

/** The predecessor's way: the SDK's subscriptions, every account decoded in full by Anchor's coder, nothing written. */
async function naive(): Promise<void> {
  const node = await UpdateNode.start();
  const reader = new NaiveReader();
  reader.follow(node.urls);
  node.rate = NAIVE_RATE;
  await eventually('updates at the naive reader', async () => (await reader.counts()).accounts > 0);
  reader.mark();
  await delay(STEP_MS);
  const { accounts, cpuSeconds: cpu } = await reader.counts();
  report({
    name: 'ingest-naive-pubsub',
    value: accounts / cpu,
    unit: 'account updates/CPU s',
    accounts,
    ...NAIVE_RATE,
  });
  await reader.stop();
  await node.stop();
}

/** One source alone, for a profile. */
const wanted = process.env.BENCH_SOURCE;
if (wanted === undefined) await naive();
for (const kind of Object.keys(SOURCES) as Kind[]) if (wanted === undefined || wanted === kind) await measure(kind);
process.exit();
