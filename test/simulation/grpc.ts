// Yellowstone gRPC over virtual time: localnet's subscriptions behind calls in memory, at servers that lag, restart, or have other blocks.

import { EventEmitter } from 'node:events';
import { readUpdate, type StreamHandlers, type StreamUpdate, type UpdateStream } from '../../ingest/grpc/index.ts';
import type { Faults } from '../../localnet/faults/faults.ts';
import type { FaultRequest } from '../../localnet/faults/kinds.ts';
import type { Feed, FeedListener } from '../../localnet/grpc/feed.ts';
import type { FeedMessage } from '../../localnet/grpc/messages.ts';
import { type SubscribeCall, Subscriber } from '../../localnet/grpc/subscriber.ts';
import type { Commitment } from '../../localnet/ledger.ts';
import { type GeyserRequest, geyserMessages, geyserService, NO_GEYSER_FILTERS } from '../../schemas/index.ts';
import { grouped } from './group.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The commitments that ingest subscribes to, in the order in which a block reaches them. */
const LEVELS = ['processed', 'confirmed'] as const satisfies readonly Commitment[];
/** Status code of gRPC for a slot that is no longer replayed (https://grpc.io/docs/guides/status-codes). */
const OUT_OF_RANGE = 11;
const CONNECT_TIMEOUT_MS = 10_000;
/** A server finds out half a slot later that a block is invalid. */
const DEATH_MS = 200;

export interface GrpcServerPlan {
  /** Milliseconds that this server is behind the first. */
  readonly lagMs: number;
  /** Slots that it can replay. */
  readonly replaySlots: number;
  /** It names other blockhashes than the nodes. */
  readonly isOther: boolean;
  /** Data that it leaves out or alters; empty: it shares the faults of its node. */
  readonly lies: readonly FaultRequest[];
  /** It sends the metadata of a block before the other updates of the block. */
  readonly isMetaFirst: boolean;
}

export interface GrpcServerParts extends GrpcServerPlan {
  readonly feed: Feed;
  readonly faults: Faults;
  readonly time: VirtualTime;
  /** Account updates of a block that turns out to be invalid: a server sends them while it replays the block. */
  readonly deadUpdates: (slot: number) => readonly FeedMessage[];
}

type Sent = readonly [message: FeedMessage, body: () => Buffer, level: Commitment];

/** One server. It keeps a memory of its own for replays, which a restart empties. */
export class GrpcServer {
  readonly #parts: GrpcServerParts;
  readonly #listeners = new Map<Commitment, Set<FeedListener>>(LEVELS.map((level) => [level, new Set()]));
  readonly #subscribers = new Set<Subscriber>();
  #memory: Sent[] = [];
  #coming: Sent[] = [];
  #calls = 0;

  constructor(parts: GrpcServerParts) {
    this.#parts = parts;
    for (const level of LEVELS) {
      parts.feed.subscribe(level, (message, body) => {
        const sent = this.#altered(message, body, level);
        if (message.kind === 'slot' && message.state === 'dead') this.#die(message.slot, sent);
        else this.#come(sent);
      });
    }
  }

  firstAvailable(): number | null {
    return this.#memory[0]?.[0].slot ?? null;
  }

  replay(_level: Commitment, fromSlot: number): FeedMessage[] {
    return this.#memory.map(([message]) => message).filter(({ slot }) => slot >= fromSlot);
  }

  encoder(message: FeedMessage): () => Buffer {
    return this.#parts.feed.encoder(message);
  }

  subscribe(level: Commitment, listener: FeedListener): () => void {
    const listeners = this.#listeners.get(level);
    listeners?.add(listener);
    return () => listeners?.delete(listener);
  }

  accept(call: SubscribeCall): void {
    const parts = { feed: this, faults: this.#parts.faults, number: ++this.#calls };
    const subscriber: Subscriber = new Subscriber(call, parts, () => this.#subscribers.delete(subscriber));
    this.#subscribers.add(subscriber);
  }

  /** Ends every call and forgets what it could replay. */
  restart(): void {
    this.#memory = [];
    for (const subscriber of [...this.#subscribers]) subscriber.drop();
  }

  /** Writes of a dead block come before the news of its death. */
  #die(slot: number, death: Sent): void {
    if (death[2] !== 'processed') return;
    for (const update of this.#parts.deadUpdates(slot))
      this.#come([update, this.#parts.feed.encoder(update), 'processed']);
    this.#parts.time.after(DEATH_MS, () => this.#come(death));
  }

  #altered(message: FeedMessage, body: () => Buffer, level: Commitment): Sent {
    if (!this.#parts.isOther || message.kind !== 'blockMeta') return [message, body, level];
    const { block } = message;
    const hashes = { blockhash: otherHash(block.blockhash), previousBlockhash: otherHash(block.previousBlockhash) };
    const other = { ...message, block: { ...block, ...hashes } };
    return [other, this.#parts.feed.encoder(other), level];
  }

  /** The data of a block is published together. */
  #come(sent: Sent): void {
    this.#coming.push(sent);
    if (this.#coming.length > 1) return;
    this.#parts.time.after(this.#parts.lagMs, () => this.#publish());
  }

  /** The updates of a slot have no common order, except that blocks come one after the other. */
  #ordered(coming: readonly Sent[]): readonly Sent[] {
    if (!this.#parts.isMetaFirst) return coming;
    const slots = grouped(coming, ([{ slot }, , level]) => `${level} ${slot}`);
    const isMeta = ([{ kind }]: Sent) => kind === 'blockMeta';
    return [...slots.values()].flatMap((sent) => [...sent.filter(isMeta), ...sent.filter((one) => !isMeta(one))]);
  }

  #publish(): void {
    const coming = this.#coming;
    this.#coming = [];
    // A replay repeats whole blocks, with their metadata last, also where the live stream begins with it.
    this.#memory.push(...coming.filter(([, , level]) => level === 'confirmed'));
    const newest = this.#memory.at(-1)?.[0].slot ?? 0;
    this.#memory = this.#memory.filter(([{ slot }]) => slot > newest - this.#parts.replaySlots);
    for (const [message, body, level] of this.#ordered(coming))
      for (const listener of [...(this.#listeners.get(level) ?? [])]) listener(message, body);
  }
}

/** The same length and alphabet, so that it passes for a hash. */
function otherHash(hash: string): string {
  return [...hash].reverse().join('');
}

export interface StreamParts {
  readonly server: GrpcServer;
  readonly latencyMs: () => number;
  /** Milliseconds that the stream is late; the order of its updates stays. */
  readonly streamLatencyMs: () => number;
  /** How many of these updates arrive now; the others follow later. */
  readonly arriving: (updates: number) => number;
  /** Milliseconds until then. */
  readonly restMs: () => number;
  /** Whether the connection breaks now that a part has arrived: often inside a block. */
  readonly isCut: () => boolean;
  /** Sees each update at `processed` when it arrives. */
  readonly news: (update: StreamUpdate) => void;
  /** Runs a step unless the process has died. */
  readonly later: (ms: number, run: () => void) => void;
  readonly isRefused: boolean;
  readonly trace: (line: string) => void;
  readonly closed: () => void;
}

interface StreamEnd {
  readonly reason: string;
  readonly isOutOfRange: boolean;
}

type Arrival = Buffer | StreamEnd;

const { subscribe } = geyserService();

/** The client's end of a Subscribe call. */
export class SimulatedStream implements UpdateStream {
  readonly #parts: StreamParts;
  readonly #handlers: StreamHandlers;
  readonly #call = new SimulatedCall((arrival) => this.#push(arrival));
  #way: Arrival[] = [];
  #waiting: Arrival[] = [];
  #requests: Buffer[] = [];
  #isAccepted = false;
  #isPaused = false;
  #isOver = false;
  #isProcessed = false;

  constructor(parts: StreamParts, handlers: StreamHandlers) {
    this.#parts = parts;
    this.#handlers = handlers;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  firstAvailable(): Promise<number | null> {
    const { later, latencyMs, isRefused, server } = this.#parts;
    return new Promise((resolve) => {
      later(isRefused ? CONNECT_TIMEOUT_MS : 2 * latencyMs(), () =>
        resolve(isRefused ? null : server.firstAvailable()),
      );
    });
  }

  request(request: GeyserRequest): void {
    if (this.#isOver) return;
    this.#isProcessed = request.commitment === geyserMessages().CommitmentLevel.PROCESSED;
    this.#ask(request);
  }

  ping(id: number): void {
    if (!this.#isOver) this.#ask({ ...NO_GEYSER_FILTERS, ping: { id } });
  }

  #ask(request: GeyserRequest): void {
    this.#requests.push(subscribe.requestSerialize(request));
    if (this.#requests.length === 1) this.#parts.later(this.#parts.latencyMs(), () => this.#send());
  }

  pauseUntil(resumed: Promise<unknown>): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    const resume = () => {
      this.#isPaused = false;
      this.#take();
    };
    resumed.then(resume, resume);
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#call.emit('cancelled');
    this.#parts.closed();
  }

  /** The connection breaks: what is on its way is lost. */
  lose(): void {
    if (this.#isOver) return;
    this.close();
    this.#parts.trace('  stream lost');
    this.#parts.later(this.#parts.latencyMs(), () => this.#handlers.ended('the connection was lost', false));
  }

  #send(): void {
    const requests = this.#requests;
    this.#requests = [];
    if (this.#isOver) return;
    if (this.#parts.isRefused) {
      this.#push({ reason: 'connection refused', isOutOfRange: false });
      return;
    }
    if (!this.#isAccepted) this.#parts.server.accept(this.#call as unknown as SubscribeCall);
    this.#isAccepted = true;
    for (const bytes of requests) this.#call.emit('data', subscribe.requestDeserialize(bytes));
  }

  /** Updates arrive together with those before them, or in parts. */
  #push(arrival: Arrival): void {
    if (this.#isOver) return;
    this.#way.push(arrival);
    if (this.#way.length === 1) this.#parts.later(this.#parts.streamLatencyMs(), () => this.#arrive());
  }

  #arrive(isRest = false): void {
    const { later, restMs, arriving, trace } = this.#parts;
    const { length } = this.#way;
    const arrived = this.#way.splice(0, isRest ? length : arriving(length));
    const isPart = this.#way.length > 0;
    if (isPart) later(restMs(), () => this.#arrive(true));
    trace(`  stream ${arrived.length}`);
    this.#waiting.push(...arrived);
    this.#take();
    if (isPart && this.#parts.isCut()) this.lose();
  }

  #take(): void {
    while (!this.#isPaused && !this.#isOver) {
      const arrival = this.#waiting.shift();
      if (arrival === undefined) return;
      if ('reason' in arrival) this.#ended(arrival);
      else this.#update(arrival);
    }
  }

  #update(frame: Buffer): void {
    const update = readUpdate(frame);
    if (update.isPing) return;
    if (this.#isProcessed) this.#parts.news(update);
    this.#handlers.update(update);
  }

  #ended({ reason, isOutOfRange }: StreamEnd): void {
    this.close();
    this.#handlers.ended(reason, isOutOfRange);
  }
}

/** The server's end: as much of a call of @grpc/grpc-js as the subscriber uses. */
class SimulatedCall extends EventEmitter {
  readonly #push: (arrival: Arrival) => void;

  constructor(push: (arrival: Arrival) => void) {
    super();
    this.#push = push;
    this.on('error', ({ code, details }: { code: number; details: string }) =>
      push({ reason: details, isOutOfRange: code === OUT_OF_RANGE }),
    );
  }

  write(frame: Buffer): boolean {
    this.#push(frame);
    return true;
  }

  end(): void {
    this.#push({ reason: 'the server ended the stream', isOutOfRange: false });
  }
}
