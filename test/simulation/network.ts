// The network between the process under test and its nodes: requests and PubSub over virtual time, without sockets.

import type { OpenStream, StreamUpdate } from '../../ingest/grpc/index.ts';
import { AccountReads } from '../../ingest/rpc/account-read.ts';
import type { HttpAnswer } from '../../ingest/rpc/http-post.ts';
import type { AccountWorker, PubSubSocket, Transport } from '../../ingest/rpc/transport.ts';
import type { WorkerAnswer, WorkerRequest } from '../../ingest/rpc/worker-messages.ts';
import type { Node } from '../../localnet/node/node.ts';
import { answer, type Methods } from '../../localnet/rpc/dispatch.ts';
import {
  type Subscriber,
  type Subscriptions,
  subscriptionRequest,
  type TopicKind,
} from '../../localnet/rpc/subscriptions.ts';
import { geyserMessages } from '../../schemas/index.ts';
import { type GrpcServer, SimulatedStream } from './grpc.ts';
import type { Trace } from './trace.ts';
import type { Dice, VirtualTime } from './virtual-time.ts';

const KINDS: readonly TopicKind[] = ['program', 'account', 'logs', 'slot', 'slotsUpdates'];
/** A node's frame with an account; its slot stands in front. */
const ACCOUNT_FRAME = /^.{0,80}programNotification.{0,60}"slot":(\d+)/;
/** Characters of a frame in which that stands. */
const FRAME_HEAD = 200;
const CLOSE_LOST = 1006;
/** Share of arrivals that bring a part of what is on its way. */
const PARTLY_SHARE = 0.2;
/** Longest wait of the other part: a slot. */
const REST_MS_MAX = 400;
/** The same of a gRPC stream, whose order stays: longer than a block counts as sent (ingest/grpc/block-end.ts). */
const STREAM_REST_MS_MAX = 1_000;
/** Longest handshake of a WebSocket. */
const CONNECT_TIMEOUT_MS = 10_000;

export interface NodePort {
  readonly node: Node;
  readonly methods: Methods;
}

export interface NetworkParts {
  readonly time: VirtualTime;
  readonly dice: Dice;
  readonly trace: Trace;
  /** By host. */
  readonly nodes: ReadonlyMap<string, NodePort>;
  readonly subscriptions: Subscriptions;
  /** By host. */
  readonly grpcServers: ReadonlyMap<string, GrpcServer>;
  /** Milliseconds from one end to the other. */
  readonly latencyMs: () => number;
  /** Milliseconds that a PubSub socket is late; the order of its frames stays. */
  readonly socketLatencyMs: () => number;
  /** Whether a stream breaks after a part of what was on its way. */
  readonly cuts: () => boolean;
  /** A slot of which an update at `processed` arrived, and whether the block died. */
  readonly news: (slot: number, isDead: boolean) => void;
  /** Called at each end of a request: the process may crash there. */
  readonly effect: () => void;
  /** Number of the next connection. */
  readonly nextConnection: () => number;
  /** Whether the next connection is refused. */
  readonly refuses: () => boolean;
}

/** The network of one process. It is dead with its process: nothing comes out of it any more. */
export class Network implements Transport {
  readonly #parts: NetworkParts;
  readonly #sockets = new Set<SimulatedSocket>();
  readonly #streams = new Set<SimulatedStream>();
  #isAlive = true;

  constructor(parts: NetworkParts) {
    this.#parts = parts;
  }

  kill(): void {
    this.#isAlive = false;
    for (const socket of [...this.#sockets]) socket.terminate();
    for (const stream of [...this.#streams]) stream.close();
  }

  /** Cuts every PubSub connection and gRPC stream. */
  dropSockets(): void {
    for (const socket of [...this.#sockets]) socket.lose();
    for (const stream of [...this.#streams]) stream.lose();
  }

  readonly openStream: OpenStream = async (url, _token, handlers) => {
    const { trace, effect, grpcServers, latencyMs, socketLatencyMs, refuses } = this.#parts;
    trace.add(`> stream ${url}`);
    effect();
    const server = grpcServers.get(new URL(url).host);
    if (server === undefined) throw new RangeError(`no gRPC server at ${url}`);
    const stream: SimulatedStream = new SimulatedStream(
      {
        server,
        latencyMs,
        streamLatencyMs: socketLatencyMs,
        arriving: (updates) => this.#arriving(updates),
        restMs: () => this.#parts.dice.between(0, STREAM_REST_MS_MAX),
        isCut: this.#parts.cuts,
        news: (update) => this.#grpcNews(update),
        later: (ms, run) => this.#later(ms, run),
        isRefused: refuses(),
        trace: (line) => trace.add(line),
        closed: () => this.#streams.delete(stream),
      },
      handlers,
    );
    this.#streams.add(stream);
    return stream;
  };

  #grpcNews({ slot }: StreamUpdate): void {
    const { SlotStatus } = geyserMessages();
    if (slot?.status === SlotStatus.SLOT_PROCESSED || slot?.status === SlotStatus.SLOT_DEAD)
      this.#parts.news(slot.slot, slot.status === SlotStatus.SLOT_DEAD);
  }

  post(url: string, body: string, signal: AbortSignal): Promise<HttpAnswer> {
    const { latencyMs, trace, effect } = this.#parts;
    trace.add(`> ${new URL(url).host} ${trace.clip(body)}`);
    effect();
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason);
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop, { once: true });
      const deliver = (act: () => void) => {
        signal.removeEventListener('abort', stop);
        if (!signal.aborted) act();
      };
      this.#later(latencyMs(), () => {
        void this.#answered(url, body).then(({ answered, delayMs }) => {
          this.#later(delayMs + latencyMs(), () => {
            effect();
            deliver(() => (answered === null ? reject(new TypeError('fetch failed')) : resolve(answered)));
          });
        });
      });
    });
  }

  async #answered(url: string, body: string): Promise<{ answered: HttpAnswer | null; delayMs: number }> {
    const { trace, nodes } = this.#parts;
    const port = nodes.get(new URL(url).host);
    if (port === undefined) return { answered: null, delayMs: 0 };
    const disturbance = port.node.gate(body);
    trace.add(`  ${disturbance?.kind ?? ''}`);
    if (disturbance?.kind === 'hangUp') return { answered: null, delayMs: 0 };
    if (disturbance?.kind === 'refuse') {
      const retryAfter = disturbance.headers['retry-after'] ?? null;
      return { answered: httpAnswer(disturbance.status, disturbance.body, { retryAfter }), delayMs: 0 };
    }
    const pieces = await answer(body, port.methods);
    const text = pieces === null ? '' : [...pieces].join('');
    trace.add(`< ${text.length} ${trace.clip(text)}`);
    const cutAt = disturbance?.kind === 'cut' ? Math.floor(text.length * disturbance.share) : null;
    return { answered: httpAnswer(200, text, { cutAt }), delayMs: disturbance?.kind === 'slow' ? disturbance.ms : 0 };
  }

  connect(url: string): Promise<PubSubSocket> {
    const { latencyMs, refuses, trace, effect } = this.#parts;
    trace.add(`> connect ${url}`);
    effect();
    return new Promise((resolve, reject) => {
      if (refuses()) {
        this.#later(this.#parts.dice.pick([1, CONNECT_TIMEOUT_MS]), () => reject(new Error('connection refused')));
        return;
      }
      this.#later(2 * latencyMs(), () => {
        const closed = () => this.#sockets.delete(socket);
        const ways = {
          later: this.#later.bind(this),
          arriving: this.#arriving.bind(this),
          restMs: this.#restMs.bind(this),
          closed,
        };
        const socket = new SimulatedSocket(this.#parts, ways);
        this.#sockets.add(socket);
        resolve(socket);
      });
    });
  }

  openWorker(): AccountWorker {
    const listeners: ((answer: WorkerAnswer) => void)[] = [];
    const reads = new AccountReads(this, (answered) => {
      for (const listener of listeners) listener(answered);
    });
    return {
      on: (event: string, listener: (value: never) => void) => {
        if (event === 'message') listeners.push(listener as (answer: WorkerAnswer) => void);
      },
      postMessage: (request: WorkerRequest) => reads.take(request),
      terminate: async () => {},
    };
  }

  #arriving(updates: number): number {
    const { dice } = this.#parts;
    return dice.chance(PARTLY_SHARE) ? dice.integer(0, updates) : updates;
  }

  #restMs(): number {
    return this.#parts.dice.between(0, REST_MS_MAX);
  }

  #later(ms: number, run: () => void): void {
    this.#parts.time.after(ms, () => {
      if (this.#isAlive) run();
    });
  }
}

interface SocketWays {
  /** Runs a step unless the process has died. */
  readonly later: (ms: number, run: () => void) => void;
  /** How many of these frames arrive now; the others follow later. */
  readonly arriving: (frames: number) => number;
  /** Milliseconds until then. */
  readonly restMs: () => number;
  readonly closed: () => void;
}

/** A WebSocket to the PubSub of the cluster. */
class SimulatedSocket implements PubSubSocket {
  readonly #parts: NetworkParts;
  readonly #subscriber: Subscriber;
  readonly #ways: SocketWays;
  readonly #methods: Methods;
  readonly #listeners = new Map<string, ((value: never) => void)[]>();
  readonly #frames: Buffer[] = [];
  #isOpen = true;
  /** Whether accounts come at `processed`. */
  #isProcessed = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: NetworkParts, ways: SocketWays) {
    this.#parts = parts;
    this.#ways = ways;
    this.#subscriber = { connection: parts.nextConnection(), send: (frame) => this.#push(frame) };
    this.#methods = new Map(
      KINDS.map((kind) => [
        `${kind}Subscribe`,
        (params: readonly unknown[]) => {
          const request = subscriptionRequest(kind, params);
          this.#isProcessed ||= kind === 'program' && request.commitment === 'processed';
          return String(parts.subscriptions.add(request, this.#subscriber).id);
        },
      ]),
    );
  }

  on(event: string, listener: (value: never) => void): void {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
  }

  send(text: string): void {
    this.#ways.later(this.#parts.latencyMs(), () => {
      this.#turn = this.#turn.then(async () => {
        if (!this.#isOpen) return;
        const pieces = await answer(text, this.#methods);
        if (pieces !== null) this.#push(Buffer.from([...pieces].join('')));
      });
    });
  }

  ping(): void {}

  terminate(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#parts.subscriptions.removeAll(this.#subscriber);
    this.#ways.closed();
  }

  /** The connection breaks: what is on its way is lost. */
  lose(): void {
    if (!this.#isOpen) return;
    this.terminate();
    this.#parts.trace.add('  connection lost');
    this.#ways.later(this.#parts.latencyMs(), () => this.#emit('close', CLOSE_LOST));
  }

  /** Frames arrive together with those before them, or in parts. */
  #push(frame: Buffer): void {
    if (!this.#isOpen) return;
    this.#frames.push(frame);
    if (this.#frames.length === 1) this.#ways.later(this.#parts.socketLatencyMs(), () => this.#arrive());
  }

  #arrive(isRest = false): void {
    const { later, arriving, restMs } = this.#ways;
    const { length } = this.#frames;
    const frames = this.#frames.splice(0, isRest ? length : arriving(length));
    if (this.#frames.length > 0) later(restMs(), () => this.#arrive(true));
    for (const one of frames) {
      if (!this.#isOpen) return;
      if (this.#isProcessed) this.#news(one);
      this.#emit('message', one);
    }
  }

  #news(frame: Buffer): void {
    const [, slot] = ACCOUNT_FRAME.exec(frame.toString('latin1', 0, FRAME_HEAD)) ?? [];
    if (slot !== undefined) this.#parts.news(Number(slot), false);
  }

  #emit(event: string, value: unknown): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(value as never);
  }
}

function httpAnswer(
  status: number,
  text: string,
  { retryAfter = null, cutAt = null }: { retryAfter?: string | null; cutAt?: number | null },
): HttpAnswer {
  const early = () => new TypeError('terminated');
  return {
    ok: status >= 200 && status < 300,
    status,
    retryAfter,
    text: async () => {
      if (cutAt !== null) throw early();
      return text;
    },
    chunks: async function* () {
      const end = cutAt ?? text.length;
      const middle = Math.floor(end / 2);
      yield Buffer.from(text.slice(0, middle));
      yield Buffer.from(text.slice(middle, end));
      if (cutAt !== null) throw early();
    },
    cancel: async () => {},
  };
}
