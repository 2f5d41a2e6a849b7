// From a message of the node to the WebSocket frame of a client, over PubSub at confirmed and over gRPC at processed:
// 2,000 account updates a second through ingest, log, book engine
// and gateway in a process of their own. Each update gives one order a size that nothing else has; its latency ends with the
// first frame that shows this size or a later one of the same order. Time starts before the cluster serialises the message,
// so the figure is an upper bound of the bar's span. Pauses of the cluster's own collector are in it.

import { setTimeout as pause } from 'node:timers/promises';
import { PublicKey } from '@solana/web3.js';
import { createExchange } from '../../localnet/exchange/index.ts';
import { type Exchange, type LedgerAccount, type LedgerBlock, startLocalnet } from '../../localnet/index.ts';
import { fieldOf, loadDefinition } from '../../schemas/index.ts';
import { eventually, startRoles, temporaryDirectory } from '../e2e/harness/processes/processes.ts';
import { nowMs } from './harness/clock.ts';
import { LatencyClient, priceOf, type Sighting, sizeOf } from './harness/latency-client.ts';
import { machine } from './harness/processes.ts';
import { report } from './harness/report.ts';

const UPDATES_PER_SECOND = 2_000;
const SLOTS_PER_SECOND = 100;
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
  };
  return tracked;
}

/** The markets of the seeded exchange; its blocks hold our updates alone. */
function loadExchange(tracked: Tracked[]): Exchange {
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
      const writes = Array.from({ length: UPDATES_PER_SECOND / SLOTS_PER_SECOND }, () =>
        write(tracked[turn++ % tracked.length] as Tracked),
      );
      const signature = new PublicKey(Buffer.alloc(32, slot % 250)).toBase58();
      return {
        slot,
        blockTime: Math.floor(Date.now() / 1000),
        transactions: [{ signature: `${signature}${signature}`, err: null, logMessages: [], accountKeys: [], writes }],
      };
    },
    restingOrders: () => [],
    events: () => [],
    eventCounts: () => ({}),
    snapshot: () => null,
  };
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Latencies of the states that frames showed between two times: a frame shows all states of an order up to its own. */
function latenciesOf(tracked: readonly Tracked[], sightings: readonly Sighting[], [fromMs, toMs]: Span): number[] {
  const latencies: number[] = [];
  const shown = new Map<Tracked, number>();
  for (const { market, rank, seq, atMs } of sightings) {
    const user = tracked[market * ORDERS_PER_MARKET + rank];
    if (!user) continue;
    const before = shown.get(user) ?? 0;
    shown.set(user, seq);
    if (atMs < fromMs || atMs > toMs) continue;
    for (const startedMs of user.startedMs.slice(before, seq)) latencies.push(atMs - startedMs);
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
      ...beside,
      ...bar,
    });
  }
}

/** The `book` channel at processed and at confirmed, from one gRPC source. */
async function measureProcessed(): Promise<void> {
  const { dir, remove } = temporaryDirectory();
  const tracked: Tracked[] = [];
  const cluster = await startLocalnet({
    createExchange: () => loadExchange(tracked),
    speed: (SLOTS_PER_SECOND * SLOT_MS_AT_SPEED_1) / 1000,
    lags: { processed: 0, confirmed: CONFIRMED_LATER_SLOTS, finalized: 32 },
    ...{ rpcPort: 0, wsPort: 0, grpcPort: 0 },
  });
  const pipeline = await startRoles(['ingest', 'book', 'trades', 'orderbook'], {
    DATA_DIR: dir,
    RPC_URL: cluster.rpcUrl,
    SOURCE: 'grpc',
    GRPC_URL: cluster.grpcUrl,
    PROCESSED_BOOKS: 'on',
    BOOK_TICK_MS: 0,
  });
  for (const { symbol } of MARKETS) {
    await eventually(`a book of ${symbol} at processed`, async () => {
      const response = await fetch(`${pipeline.endpoints.orderbook}/l3?marketName=${symbol}&commitment=processed`);
      return response.ok;
    });
  }
  const requests = MARKETS.flatMap(({ symbol }) =>
    ['processed', 'confirmed'].map((commitment) => ({
      ...{ type: 'subscribe', channel: 'book', market: symbol, marketType: 'perp', commitment },
    })),
  );
  const client = await LatencyClient.start({ url: pipeline.endpoints.gateway ?? '', requests });
  const span = await measuredSpan();
  const sightings = await client.stop();
  await pipeline.stop();
  await cluster.stop();
  remove();
  // The chain's own distance is part of what a reader of confirmed books waits for.
  const chainDistanceMs = (CONFIRMED_LATER_SLOTS * 1000) / SLOTS_PER_SECOND;
  const at = (commitment: Sighting['stream']) =>
    latenciesOf(
      tracked,
      sightings.filter(({ stream }) => stream === commitment),
      span,
    ).sort((a, b) => a - b);
  const confirmed = at('confirmed');
  const beside = { source: 'grpc', chainDistanceMs, ...machine() };
  say('latency-processed-PART', at('processed'), PROCESSED_BAR_MS, {
    ...beside,
    confirmed: { p50: percentile(confirmed, 0.5), p99: percentile(confirmed, 0.99) },
  });
}

async function measure(tickMs: number): Promise<void> {
  const { dir, remove } = temporaryDirectory();
  const tracked: Tracked[] = [];
  const cluster = await startLocalnet({
    createExchange: () => loadExchange(tracked),
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
  const span = await measuredSpan();
  const sightings = await client.stop();
  await pipeline.stop();
  await cluster.stop();
  remove();
  say(`latency-PART-tick-${tickMs}`, latenciesOf(tracked, sightings, span), tickMs === 0 ? BAR_MS : null, { tickMs });
}

await measureProcessed();
for (const tickMs of [0, 50]) await measure(tickMs);
process.exit();
