// A client of the latency bench in a process of its own, because a pause of the node must not count as latency of the server.
// It notes when each frame showed which size of which order.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import WebSocket from 'ws';
import { nowMs } from './clock.ts';

/** Best price of the orders, and the distance from each to the next. PRICE_PRECISION. */
const TOP_PRICE = 900_000_000_000n;
const PRICE_STEP = 1_000_000n;
/** Size of an order's first state, and the growth with each state. BASE_PRECISION. */
const SIZE_STEP = 1_000_000n;

export const priceOf = (rank: number): bigint => TOP_PRICE - BigInt(rank) * PRICE_STEP;
export const sizeOf = (seq: number): bigint => BigInt(seq) * SIZE_STEP;
const rankOf = (price: string): number => Number((TOP_PRICE - BigInt(price)) / PRICE_STEP);
const seqOf = (size: string): number => Number(BigInt(size) / SIZE_STEP);

/** A state of an order, in the first frame that showed it. */
export interface Arrival {
  readonly stream: 'compatible' | 'confirmed' | 'processed';
  readonly market: number;
  readonly rank: number;
  readonly seq: number;
  /** On the clock of the machine, see `nowMs`. */
  readonly atMs: number;
}

export interface ClientOptions {
  readonly url: string;
  readonly requests: readonly object[];
}

interface FeedMessage {
  /** Number of the stream, in a diff of the `book` channel. */
  readonly diff?: number;
  readonly streamId?: number;
  /** Name of the stream: market type, market index, level, and what else was chosen. */
  readonly stream?: string;
  readonly bids?: readonly (readonly [price: string, size: string])[];
  /** Of the compatible channels. */
  readonly channel?: string;
  readonly data?: string;
}

/** Starts and drives the process of this file. */
export class LatencyClient {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** Resolves when all requests are sent. */
  static async start(options: ClientOptions): Promise<LatencyClient> {
    const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(options)], {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      serialization: 'advanced',
    });
    await once(child, 'message');
    return new LatencyClient(child);
  }

  /** Ends the process. Resolves to everything that it saw, in order. */
  async stop(): Promise<readonly Arrival[]> {
    this.#child.send('stop');
    const [arrivals] = (await once(this.#child, 'message')) as [readonly Arrival[]];
    const exited = once(this.#child, 'exit');
    this.#child.disconnect();
    await exited;
    return arrivals;
  }
}

async function run({ url, requests }: ClientOptions): Promise<void> {
  const arrivals: Arrival[] = [];
  const streams = new Map<number, string>();
  const newest = new Map<string, number>();
  const see = (stream: Arrival['stream'], market: number, bids: Iterable<readonly [string, string]>, atMs: number) => {
    for (const [price, size] of bids) {
      const [key, seq] = [`${stream} ${market} ${price}`, seqOf(size)];
      if (seq <= (newest.get(key) ?? 0)) continue;
      newest.set(key, seq);
      arrivals.push({ stream, market, rank: rankOf(price), seq, atMs });
    }
  };
  const socket = new WebSocket(url);
  socket.on('message', (bytes) => {
    const atMs = nowMs();
    const { channel, data, ...message } = JSON.parse(String(bytes)) as FeedMessage;
    if (channel?.startsWith('orderbook_perp_') && data !== undefined) {
      const { bids } = JSON.parse(data) as { readonly bids: readonly { price: string; size: string }[] };
      see(
        'compatible',
        Number(channel.split('_')[2]),
        bids.map(({ price, size }) => [price, size]),
        atMs,
      );
    }
    const id = message.diff ?? message.streamId;
    if (id === undefined || !message.bids) return;
    if (message.stream !== undefined) streams.set(id, message.stream);
    const name = streams.get(id) ?? '';
    see(name.endsWith('_processed') ? 'processed' : 'confirmed', Number(name.split('_')[1]), message.bids, atMs);
  });
  await once(socket, 'open');
  for (const request of requests) socket.send(JSON.stringify(request));
  process.send?.('ready');
  process.once('message', () => {
    socket.terminate();
    process.send?.(arrivals);
  });
  process.once('disconnect', () => process.exit(0));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await run(JSON.parse(process.argv[2] ?? '{}') as ClientOptions);
