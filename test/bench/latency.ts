// From a message of the node to the WebSocket frame of a client, over PubSub at confirmed and over gRPC at processed:
// 2,000 account updates a second through ingest, log, book engine
// and gateway in a process of their own. Each update gives one order a size that nothing else has; its latency ends with the
// first frame that shows this size or a later one of the same order. Time starts before the cluster serialises the message,
// so the figure is an upper bound of the bar's span.

import { PublicKey } from '@solana/web3.js';
import WebSocket from 'ws';
import { createExchange } from '../../localnet/exchange/index.ts';
import { type Exchange, type LedgerAccount, type LedgerBlock, startLocalnet } from '../../localnet/index.ts';
import { fieldOf, loadDefinition } from '../../schemas/index.ts';
import { eventually, startRoles, temporaryDirectory } from '../e2e/harness/processes/processes.ts';
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
const TOP_PRICE = 900_000_000_000n;
const TICK_STEP = 1_000_000n;
const ACCOUNT_TYPE_OFFSET = 8;

interface Pending {
  readonly seq: number;
  readonly startedMs: number;
}

interface Tracked {
  readonly account: Buffer;
  readonly pubkey: string;
  readonly sizeOffset: number;
  /** Start time by sequence, not yet seen. */
  readonly pending: Pending[];
  /** The same for the stream at confirmed, where both are measured. */
  readonly pendingConfirmed: Pending[];
  seq: number;
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
  account.writeBigUInt64LE(TOP_PRICE - BigInt(rank) * TICK_STEP, order('price'));
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
    pending: [],
    pendingConfirmed: [],
    seq: 0,
  };
  return tracked;
}

const sizeOf = (seq: number) => BigInt(seq) * 1_000_000n;

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
    user.seq += 1;
    user.account.writeBigUInt64LE(sizeOf(user.seq), user.sizeOffset);
    const started = { seq: user.seq, startedMs: performance.now() };
    user.pending.push(started);
    user.pendingConfirmed.push(started);
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

/** Latencies of what a frame shows: the pending changes up to the seen sequence. */
function settle(pending: Pending[], seen: number, receivedMs: number, latencies: number[] | null): void {
  while (pending[0] && pending[0].seq <= seen) {
    const { startedMs } = pending.shift() as Pending;
    latencies?.push(receivedMs - startedMs);
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

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
  const latencies = { processed: [] as number[], confirmed: [] as number[] };
  let measuring = false;
  const streams = new Map<number, string>();
  const socket = new WebSocket(pipeline.endpoints.gateway ?? '');
  socket.on('message', (bytes) => {
    const receivedMs = performance.now();
    const message = JSON.parse(String(bytes)) as BookMessage;
    const id = message.diff ?? message.streamId;
    if (id === undefined || !message.bids) return;
    // A snapshot names its stream, diffs have its number only.
    if (message.stream !== undefined) streams.set(id, message.stream);
    const name = streams.get(id) ?? '';
    const commitment = name.endsWith('_processed') ? 'processed' : 'confirmed';
    const market = Number(name.split('_')[1]);
    for (const [price, size] of message.bids) {
      const rank = Number((TOP_PRICE - BigInt(price)) / TICK_STEP);
      const user = tracked[market * ORDERS_PER_MARKET + rank];
      if (!user) continue;
      const pending = commitment === 'processed' ? user.pending : user.pendingConfirmed;
      settle(pending, Number(BigInt(size) / 1_000_000n), receivedMs, measuring ? latencies[commitment] : null);
    }
  });
  await new Promise((resolve) => socket.once('open', resolve));
  for (const { symbol } of MARKETS) {
    for (const commitment of ['processed', 'confirmed']) {
      socket.send(
        JSON.stringify({ type: 'subscribe', channel: 'book', market: symbol, marketType: 'perp', commitment }),
      );
    }
  }
  await pause(WARM_UP_MS);
  measuring = true;
  await pause(MEASURE_MS);
  measuring = false;
  socket.terminate();
  await pipeline.stop();
  await cluster.stop();
  remove();
  // The chain's own distance is part of what a reader of confirmed books waits for.
  const chainDistanceMs = (CONFIRMED_LATER_SLOTS * 1000) / SLOTS_PER_SECOND;
  const confirmed = latencies.confirmed.sort((a, b) => a - b);
  const beside = { source: 'grpc', chainDistanceMs, ...machine() };
  say('latency-processed-PART', latencies.processed, PROCESSED_BAR_MS, {
    ...beside,
    confirmed: { p50: percentile(confirmed, 0.5), p99: percentile(confirmed, 0.99) },
  });
}

interface BookMessage {
  /** Number of the stream, in a diff. */
  readonly diff?: number;
  readonly streamId?: number;
  /** Name of the stream: market type, market index, level, and what else was chosen. */
  readonly stream?: string;
  readonly bids?: readonly (readonly [price: string, size: string])[];
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
  const latencies: number[] = [];
  let measuring = false;
  let frames = 0;
  const socket = new WebSocket(pipeline.endpoints.gateway ?? '');
  const bySize = (market: number, rank: number) => tracked[market * ORDERS_PER_MARKET + rank];
  socket.on('message', (bytes) => {
    const receivedMs = performance.now();
    const message = JSON.parse(String(bytes)) as { channel?: string; data?: string };
    if (!message.channel?.startsWith('orderbook_perp_') || message.data === undefined) return;
    frames += 1;
    const market = Number(message.channel.split('_')[2]);
    const { bids } = JSON.parse(message.data) as { bids: { price: string; size: string }[] };
    for (const { price, size } of bids) {
      const user = bySize(market, Number((TOP_PRICE - BigInt(price)) / TICK_STEP));
      const seen = Number(BigInt(size) / 1_000_000n);
      if (user) settle(user.pending, seen, receivedMs, measuring ? latencies : null);
    }
  });
  await new Promise((resolve) => socket.once('open', resolve));
  for (const { symbol } of MARKETS) {
    socket.send(
      JSON.stringify({ type: 'subscribe', channel: 'orderbook', market: symbol, marketType: 'perp', grouping: 1 }),
    );
  }
  await pause(WARM_UP_MS);
  measuring = true;
  frames = 0;
  await pause(MEASURE_MS);
  measuring = false;
  const unseen = tracked.reduce((sum, { pending }) => sum + pending.length, 0);
  socket.terminate();
  await pipeline.stop();
  await cluster.stop();
  remove();
  const framesPerSecond = Math.round(frames / (MEASURE_MS / 1000));
  say(`latency-PART-tick-${tickMs}`, latencies, tickMs === 0 ? BAR_MS : null, { tickMs, framesPerSecond, unseen });
}

await measureProcessed();
for (const tickMs of [0, 50]) await measure(tickMs);
process.exit();
