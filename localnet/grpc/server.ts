// The gRPC server of the simulated cluster: service geyser.Geyser, as Yellowstone (Dragon's Mouth) serves it.

import type { Server, ServerUnaryCall, sendUnaryData, UntypedHandleCall } from '@grpc/grpc-js';
import { geyserService, NO_GEYSER_FILTERS } from '../../schemas/index.ts';
import type { Faults } from '../faults/faults.ts';
import type { Ledger } from '../ledger.ts';
import { SOLANA_CORE } from '../rpc/version.ts';
import type { Feed } from './feed.ts';
import { Filters } from './filters.ts';
import { type SubscribeCall, Subscriber } from './subscriber.ts';

const UNAUTHENTICATED = 16;

export interface GrpcServerParts {
  readonly ledger: Ledger;
  readonly feed: Feed;
  readonly faults: Faults;
  /** Token that callers must give; empty: none. */
  readonly token: string;
  readonly host: string;
  readonly port: number;
  /** Waiting updates at which a subscriber that does not read is ended. */
  readonly waitingMax?: number;
}

export class GrpcServer {
  readonly #parts: GrpcServerParts;
  readonly #server: Server;
  readonly #subscribers = new Set<Subscriber>();
  #calls = 0;
  #port = 0;

  private constructor(parts: GrpcServerParts, server: Server) {
    this.#parts = parts;
    this.#server = server;
  }

  /** @throws when the port is taken */
  static async start(parts: GrpcServerParts): Promise<GrpcServer> {
    // Loaded here, because most clusters have no gRPC server.
    const { Server, ServerCredentials } = await import('@grpc/grpc-js');
    const server = new Server();
    const started = new GrpcServer(parts, server);
    server.addService(started.#service(), started.#handlers());
    started.#port = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`${parts.host}:${parts.port}`, ServerCredentials.createInsecure(), (error, port) => {
        if (error) reject(error);
        else resolve(port);
      });
    });
    return started;
  }

  get port(): number {
    return this.#port;
  }

  get subscribers(): number {
    return this.#subscribers.size;
  }

  /** Ends every subscription. Returns how many there were. */
  dropConnections(): number {
    const dropped = [...this.#subscribers];
    for (const subscriber of dropped) subscriber.drop();
    return dropped.length;
  }

  /** Sends nothing to the subscribers for a while. Messages of that time are lost. */
  silence(durationMs: number): void {
    for (const subscriber of this.#subscribers) subscriber.silence(durationMs);
  }

  close(): void {
    this.dropConnections();
    this.#server.forceShutdown();
  }

  /** Updates are encoded once for all subscribers, so they pass as bytes. */
  #service() {
    const { subscribe, ...unary } = geyserService();
    return { ...unary, subscribe: { ...subscribe, responseSerialize: (bytes: Buffer) => bytes } };
  }

  #handlers(): Record<string, UntypedHandleCall> {
    const { ledger, feed } = this.#parts;
    const first = () => feed.firstAvailable('processed');
    return {
      subscribe: (call: SubscribeCall) => this.#subscribe(call),
      subscribeReplayInfo: answer(() => ({ firstAvailable: first() === null ? undefined : String(first()) })),
      ping: answer(({ count }: { count: number }) => ({ count: count + 1 })),
      getVersion: answer(() => ({ version: JSON.stringify({ version: { solana: SOLANA_CORE } }) })),
      getSlot: answer(({ commitment }: { commitment?: number }) => {
        const { level } = new Filters({ ...NO_GEYSER_FILTERS, ...(commitment === undefined ? {} : { commitment }) });
        return { slot: String(ledger.slotAt(level)) };
      }),
    };
  }

  #subscribe(call: SubscribeCall): void {
    const { feed, faults, token, waitingMax } = this.#parts;
    if (token !== '' && call.metadata.get('x-token')[0] !== token) {
      call.emit('error', { code: UNAUTHENTICATED, details: 'No valid auth token' });
      return;
    }
    this.#calls += 1;
    const parts = { feed, faults, number: this.#calls, ...(waitingMax === undefined ? {} : { waitingMax }) };
    const subscriber: Subscriber = new Subscriber(call, parts, () => this.#subscribers.delete(subscriber));
    this.#subscribers.add(subscriber);
  }
}

function answer<Q, A>(make: (request: Q) => A) {
  return (call: ServerUnaryCall<Q, A>, done: sendUnaryData<A>): void => done(null, make(call.request));
}
