// From a message of the node to the WebSocket frame of a client, at 2,000 account updates a second. Each update gives one order
// a size that nothing else has. Its latency ends with the first frame that shows this size or a later one of the same order.
// Over gRPC the updates at processed leave evenly over slots of 400 ms, and the block that is confirmed then at once. The roles
// run in three processes, as deployed, and all in one. Time starts when ingest has received the message; `fromNode` begins
// before the node serialises it, so pauses of the node are in it. The node has a low priority while it is measured: it shares
// the cores, and a real one would not. Over PubSub at confirmed a small block leaves at once, a hundred times a second, to all
// roles in one process. Time starts as `fromNode`.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { createExchange } from '../../localnet/exchange/index.ts';
import {
  type AccountVersion,
  type Exchange,
  type FeedMessage,
  type LedgerAccount,
  type LedgerBlock,
  startLocalnet,
} from '../../localnet/index.ts';
import { fieldOf, loadDefinition } from '../../schemas/index.ts';
import { percentile } from '../support/platform/percentile.ts';
import { eventually, type Running, startRoles, temporaryDirectory } from '../support/processes/processes.ts';
import { nowMs } from './harness/clock.ts';
import { type Arrival, LatencyClient, priceOf, sizeOf } from './harness/latency-client.ts';
import { machine } from './harness/processes.ts';
import { startPromptGeyser } from './harness/prompt-geyser.ts';
import { RECEIVED_FILE } from './harness/received.ts';
import { report } from './harness/report.ts';
import { NODE_NICENESS } from './harness/update-node.ts';

const UPDATES_PER_SECOND = 2_000;
/** Over PubSub a block is sent at once, so it must be small. */
const SLOTS_PER_SECOND = 100;
/** Over gRPC updates leave over a slot, as from a node that sends while it executes. */
const SLOTS_PER_SECOND_OF_CHAIN = 2.5;
/** The last update of a slot leaves before the next slot begins. */
const PACE_SHARE = 0.95;
const SLOT_MS_AT_SPEED_1 = 400;
const MARKETS = [
  { index: 0, symbol: 'SOL-PERP' },
  { index: 1, symbol: 'BTC-PERP' },
  { index: 2, symbol: 'ETH-PERP' },
  { index: 3, symbol: 'HYPE-PERP' },
];
/** Below the 20 levels that a grouped message shows. */
const ORDERS_PER_MARKET = 16;
const WARM_UP_MS = 4_000;
const MEASURE_MS = 10_000;
/** Of a gateway that publishes every change. */
const BAR_MS = { p50: 5, p99: 25 } as const;
/** Of books at processed, over gRPC, with the `book` channel. */
const PROCESSED_BAR_MS = { p50: 3, p99: 20 } as const;
/** Blocks that the chain confirms later than it processes them, as a real one does. */
const CONFIRMED_LATER_SLOTS = 2;
const ACCOUNT_TYPE_OFFSET = 8;

/** Milliseconds on the clock of `nowMs`. */
type Span = readonly [fromMs: number, toMs: number];

interface Tracked {
  readonly account: Buffer;
  readonly pubkey: string;
  readonly sizeOffset: number;
  /** Start of each state, on the clock of `nowMs`: that of `seq` 1 comes first. */
  readonly startedMs: number[];
  /** Number of the newest state that has left the node, where updates leave over a slot. */
  left: number;
  /** Write versions of the states, in the same order, of those that left. */
  readonly writeVersions: number[];
}

const definition = loadDefinition('velocity').programs[0];
const layout = definition?.accounts.get('User')?.layout;
if (!definition || !layout) throw new Error('no User layout');
const at = (path: string) => {
  const field = fieldOf(layout, path);
  if (!field) throw new Error(`no field ${path}`);
  return field.offset;
};

/** A User account that holds one post-only bid in one market. */
function trackedUser(template: Buffer, market: number, rank: number): Tracked {
  const account = Buffer.from(template);
  const orders = at('orders');
  account.fill(0, orders, at('total_deposits'));
  const order = (name: string) => orders + at(`orders.0.${name}`) - orders;
  account.writeBigUInt64LE(priceOf(rank), order('price'));
  account.writeUInt32LE(1, order('order_id'));
  account.writeUInt16LE(market, order('market_index'));
  for (const [name, value] of [
    ['status', 1],
    ['order_type', 1],
    ['market_type', 1],
    ['post_only', 1],
  ] as const) {
    account.writeUInt8(value, order(name));
  }
  account.writeUInt8(0, at('idle'));
  account.writeUInt8(1, at('has_open_order'));
  const seed = Buffer.alloc(32, market + 1);
  seed.writeUInt32LE(rank + 1, 4);
  seed.copy(account, ACCOUNT_TYPE_OFFSET);
  const tracked = {
    account,
    pubkey: new PublicKey(seed).toBase58(),
    sizeOffset: order('base_asset_amount'),
    startedMs: [],
    left: 0,
    writeVersions: [],
  };
  return tracked;
}

/** The markets of the seeded exchange; its blocks hold our updates alone. */
function loadExchange(tracked: Tracked[], slotsPerSecond: number): Exchange {
  const seeded = createExchange({ seed: 1, genesisTime: Math.floor(Date.now() / 1000) });
  const genesis = seeded.genesis();
  const discriminator = Buffer.from(definition?.accounts.get('User')?.discriminator ?? []);
  const template = genesis.find(({ data }) => Buffer.from(data.subarray(0, 8)).equals(discriminator));
  if (!template) throw new Error('no user in the genesis');
  for (const { index } of MARKETS) {
    for (let rank = 0; rank < ORDERS_PER_MARKET; rank += 1)
      tracked.push(trackedUser(Buffer.from(template.data), index, rank));
  }
  let slot = seeded.nextBlock().slot;
  let turn = 0;
  const write = (user: Tracked): LedgerAccount => {
    const seq = user.startedMs.push(nowMs());
    user.account.writeBigUInt64LE(sizeOf(seq), user.sizeOffset);
    return { pubkey: user.pubkey, owner: definition?.programId ?? '', lamports: 1, data: Buffer.from(user.account) };
  };
  return {
    ...seeded,
    genesis: () => [
      ...genesis.filter(({ data }) => !Buffer.from(data.subarray(0, 8)).equals(discriminator)),
      ...tracked.map(write),
    ],
    nextBlock: (): LedgerBlock => {
      slot += 1;
      const writes = Array.from({ length: UPDATES_PER_SECOND / slotsPerSecond }, () =>
        write(tracked[turn++ % tracked.length] as Tracked),
      );
      const transactions = writes.map((one, index) => ({
        ...{ signature: signatureOf(slot, index), err: null, logMessages: [], accountKeys: [], writes: [one] },
      }));
      return { slot, blockTime: Math.floor(Date.now() / 1000), transactions };
    },
    restingOrders: () => [],
    events: () => [],
    eventCounts: () => ({}),
    snapshot: () => null,
  };
}

function signatureOf(slot: number, index: number): string {
  const bytes = Buffer.alloc(64, 1);
  bytes.writeUInt32LE(slot, 8);
  bytes.writeUInt32LE(index, 16);
  return bs58.encode(bytes);
}

/** The time of a state begins when it leaves for the first time. */
function leftNow(tracked: readonly Tracked[], { pubkey, data, writeVersion }: AccountVersion): void {
  const user = tracked.find((one) => one.pubkey === pubkey);
  if (!user) return;
  const seq = Number(Buffer.from(data).readBigUInt64LE(user.sizeOffset) / sizeOf(1));
  if (seq <= user.left) return;
  user.left = seq;
  user.startedMs[seq - 1] = nowMs();
  user.writeVersions[seq - 1] = writeVersion;
}

/** Times by write version. */
function readReceived(file: string): ReadonlyMap<number, number> {
  const lines = readFileSync(file, 'utf8').split('\n');
  return new Map(lines.map((line) => line.split(' ').map(Number) as [number, number]));
}

/** Latencies of the states that frames showed between two times: a frame shows all states of an order up to its own. */
function latenciesOf(
  tracked: readonly Tracked[],
  arrivals: readonly Arrival[],
  [fromMs, toMs]: Span,
  startedMs: (user: Tracked, state: number) => number | undefined = (user, state) => user.startedMs[state],
): number[] {
  const latencies: number[] = [];
  const newest = new Map<Tracked, number>();
  for (const { market, rank, seq, atMs } of arrivals) {
    const user = tracked[market * ORDERS_PER_MARKET + rank];
    if (!user) continue;
    const before = newest.get(user) ?? 0;
    newest.set(user, seq);
    if (atMs < fromMs || atMs > toMs) continue;
    for (let state = before; state < seq; state += 1) {
      const beganMs = startedMs(user, state);
      if (beganMs !== undefined) latencies.push(atMs - beganMs);
    }
  }
  return latencies;
}

/** Resolves after the time to measure, with its span. */
async function measuredSpan(): Promise<Span> {
  await pause(WARM_UP_MS);
  const fromMs = nowMs();
  await pause(MEASURE_MS);
  return [fromMs, nowMs()];
}

function say(
  name: string,
  latencies: number[],
  bars: { readonly p50: number; readonly p99: number } | null,
  beside: object,
) {
  const sorted = latencies.sort((a, b) => a - b);
  const updatesPerSecond = Math.round(latencies.length / (MEASURE_MS / 1000));
  for (const [part, share] of [
    ['p50', 0.5],
    ['p99', 0.99],
  ] as const) {
    const bar = bars ? { bar: { atMost: bars[part] } } : {};
    const value = percentile(sorted, share);
    report({
      name: name.replace('PART', part),
      value,
      unit: 'ms',
      updatesPerSecond,
      log: 'embedded',
      nodeNiceness: NODE_NICENESS,
      ...beside,
      ...bar,
    });
  }
}

/** The roles of each process. */
const LAYOUTS = {
  'three processes': [['ingest'], ['book', 'trades'], ['orderbook']],
  'one process': [['ingest', 'book', 'trades', 'orderbook']],
} as const;

/** The `book` channel at processed and at confirmed, from one gRPC source. */
async function measureProcessed(layout: keyof typeof LAYOUTS): Promise<void> {
  const { dir, remove } = temporaryDirectory();
  const tracked: Tracked[] = [];
  const leaves = (message: FeedMessage): void => {
    if (message.kind === 'account') leftNow(tracked, message.account);
  };
  const cluster = await startLocalnet({
    createExchange: () => loadExchange(tracked, SLOTS_PER_SECOND_OF_CHAIN),
    speed: (SLOTS_PER_SECOND_OF_CHAIN * SLOT_MS_AT_SPEED_1) / 1000,
    lags: { processed: 0, confirmed: CONFIRMED_LATER_SLOTS, finalized: 32 },
    grpcPace: { slotMs: PACE_SHARE * SLOT_MS_AT_SPEED_1, leaves },
    ...{ rpcPort: 0, wsPort: 0, grpcPort: 0 },
  });
  if (!cluster.feed) throw new Error('the cluster has no gRPC server');
  const geyser = await startPromptGeyser(cluster.feed);
  const receivedFile = join(dir, 'received.txt');
  process.env[RECEIVED_FILE] = receivedFile;
  process.env.NODE_OPTIONS = `--import=${new URL('harness/received.ts', import.meta.url).href}`;
  const settings = {
    DATA_DIR: dir,
    RPC_URL: cluster.rpcUrl,
    SOURCE: 'grpc',
    GRPC_URL: geyser.url,
    PROCESSED_BOOKS: 'on',
    BOOK_TICK_MS: 0,
  };
  const processes: Running[] = [];
  for (const roles of LAYOUTS[layout]) processes.push(await startRoles([...roles], settings));
  delete process.env.NODE_OPTIONS;
  const endpoints = processes.at(-1)?.endpoints ?? {};
  for (const { symbol } of MARKETS) {
    await eventually(`a book of ${symbol} at processed`, async () => {
      const response = await fetch(`${endpoints.orderbook}/l3?marketName=${symbol}&commitment=processed`);
      return response.ok;
    });
  }
  const requests = MARKETS.flatMap(({ symbol }) =>
    ['processed', 'confirmed'].map((commitment) => ({
      ...{ type: 'subscribe', channel: 'book', market: symbol, marketType: 'perp', commitment },
    })),
  );
  const client = await LatencyClient.start({ url: endpoints.gateway ?? '', requests });
  // The node is a part of this process.
  setPriority(NODE_NICENESS);
  const span = await measuredSpan();
  const arrivals = await client.stop();
  for (const one of processes.reverse()) await one.stop();
  geyser.close();
  await cluster.stop();
  const received = readReceived(receivedFile);
  remove();
  // The chain's own distance is part of what a reader of confirmed books waits for.
  const chainDistanceMs = (CONFIRMED_LATER_SLOTS * 1000) / SLOTS_PER_SECOND_OF_CHAIN;
  const of = (commitment: Arrival['stream']) => arrivals.filter(({ stream }) => stream === commitment);
  const parts = (latencies: number[]) => {
    const sorted = latencies.sort((a, b) => a - b);
    return { p50: Math.round(percentile(sorted, 0.5)), p99: Math.round(percentile(sorted, 0.99)) };
  };
  const receivedMs = ({ writeVersions }: Tracked, state: number) => received.get(writeVersions[state] ?? -1);
  const beside = { source: 'grpc', layout, chainDistanceMs, ...machine() };
  const name = layout === 'one process' ? 'latency-processed-one-process-PART' : 'latency-processed-PART';
  say(name, latenciesOf(tracked, of('processed'), span, receivedMs), PROCESSED_BAR_MS, {
    ...beside,
    fromNode: parts(latenciesOf(tracked, of('processed'), span)),
    confirmed: parts(latenciesOf(tracked, of('confirmed'), span)),
  });
}

async function measure(tickMs: number): Promise<void> {
  const { dir, remove } = temporaryDirectory();
  const tracked: Tracked[] = [];
  const cluster = await startLocalnet({
    createExchange: () => loadExchange(tracked, SLOTS_PER_SECOND),
    speed: (SLOTS_PER_SECOND * SLOT_MS_AT_SPEED_1) / 1000,
    rpcPort: 0,
    wsPort: 0,
  });
  const pipeline = await startRoles(['ingest', 'book', 'trades', 'orderbook'], {
    DATA_DIR: dir,
    RPC_URL: cluster.rpcUrl,
    RPC_WS_URL: cluster.wsUrl,
    BOOK_TICK_MS: tickMs,
  });
  for (const { symbol } of MARKETS) {
    await eventually(`a book of ${symbol}`, async () => {
      const response = await fetch(`${pipeline.endpoints.orderbook}/l3?marketName=${symbol}`);
      return response.ok;
    });
  }
  const requests = MARKETS.map(({ symbol }) => ({
    ...{ type: 'subscribe', channel: 'orderbook', market: symbol, marketType: 'perp', grouping: 1 },
  }));
  const client = await LatencyClient.start({ url: pipeline.endpoints.gateway ?? '', requests });
  // The node is a part of this process.
  setPriority(NODE_NICENESS);
  const span = await measuredSpan();
  const arrivals = await client.stop();
  await pipeline.stop();
  await cluster.stop();
  remove();
  say(`latency-PART-tick-${tickMs}`, latenciesOf(tracked, arrivals, span), tickMs === 0 ? BAR_MS : null, { tickMs });
}

/** Each in a process of its own: one whose priority is low cannot start others with a normal one. */
const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  'three processes': () => measureProcessed('three processes'),
  'one process': () => measureProcessed('one process'),
  'tick 0': () => measure(0),
  'tick 50': () => measure(50),
};

async function measureApart(part: string): Promise<number> {
  const child = fork(fileURLToPath(import.meta.url), [part]);
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

const part = PARTS[process.argv[2] ?? ''];
if (part) {
  await part();
  process.exit();
}
const codes: number[] = [];
for (const name of Object.keys(PARTS)) codes.push(await measureApart(name));
process.exit(Math.max(...codes));
