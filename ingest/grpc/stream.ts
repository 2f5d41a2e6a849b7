// One Subscribe call to a Yellowstone gRPC server: filters, pings, and a pause when the reader cannot follow.

import type { ClientDuplexStream, ServiceError } from '@grpc/grpc-js';
import { type GeyserRequest, geyserService, NO_GEYSER_FILTERS } from '../../schemas/index.ts';
import { readUpdate, type StreamUpdate } from './wire.ts';

/** The largest account has 10 MiB; a block's metadata is smaller. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
/** A dead connection is noticed after the sum of both. */
const KEEPALIVE_MS = 10_000;
const KEEPALIVE_TIMEOUT_MS = 5_000;
/** Bytes on their way to this process, so that a fast server does not wait for each acknowledgement. */
const FLOW_WINDOW_BYTES = 4 * 1024 * 1024;
const UNARY_TIMEOUT_MS = 10_000;
/** Status code of gRPC for a `from_slot` that the server no longer has. */
const OUT_OF_RANGE = 11;

export interface StreamHandlers {
  update(update: StreamUpdate): void;
  /** Called once. `isOutOfRange`: the server cannot replay from the slot that was asked for. */
  ended(reason: string, isOutOfRange: boolean): void;
}

/** One Subscribe call. Simulations bring their own. */
export interface UpdateStream {
  /** Whether reading is paused. */
  readonly isPaused: boolean;
  /** First slot that the server can replay; null when it does not say. */
  firstAvailable(): Promise<number | null>;
  /** Starts the subscription, or changes its filters. A change must not name a slot to replay from. */
  request(request: GeyserRequest): void;
  /** Stops reading until `resumed` is settled. The server holds back, and ends the call if that lasts. */
  pauseUntil(resumed: Promise<void>): void;
  close(): void;
}

/** `url` begins with `https:` for TLS, or with `http:`. An empty `token` is not sent. */
export type OpenStream = (url: string, token: string, handlers: StreamHandlers) => Promise<UpdateStream>;

interface Calls {
  subscribe(metadata: unknown): ClientDuplexStream<GeyserRequest, StreamUpdate>;
  subscribeReplayInfo(
    request: object,
    metadata: unknown,
    options: { readonly deadline: number },
    done: (error: ServiceError | null, answer?: { readonly firstAvailable?: string | undefined }) => void,
  ): void;
  close(): void;
}

/** Opens streams over the real network, to servers whose certificates these authorities sign. */
export function openWith(roots?: Buffer): OpenStream {
  return (url, token, handlers) => GeyserStream.open(url, token, handlers, roots);
}

export class GeyserStream implements UpdateStream {
  readonly #calls: Calls;
  readonly #metadata: unknown;
  readonly #handlers: StreamHandlers;
  #call: ClientDuplexStream<GeyserRequest, StreamUpdate> | null = null;
  #isOver = false;

  private constructor(calls: Calls, metadata: unknown, handlers: StreamHandlers) {
    this.#calls = calls;
    this.#metadata = metadata;
    this.#handlers = handlers;
  }

  /** `roots`: certificates in PEM that sign those of the server; without them, the public authorities that Node knows. */
  static async open(url: string, token: string, handlers: StreamHandlers, roots?: Buffer): Promise<GeyserStream> {
    // Loaded here, because most processes read no gRPC.
    const grpc = await import('@grpc/grpc-js');
    const { protocol, host, port } = new URL(url);
    const isSecure = protocol === 'https:';
    const service = geyserService();
    const subscribe = { ...service.subscribe, responseDeserialize: readUpdate };
    const Client = grpc.makeGenericClientConstructor({ ...service, subscribe }, 'Geyser');
    const client = new Client(
      port === '' ? `${host}:${isSecure ? 443 : 80}` : host,
      isSecure ? grpc.credentials.createSsl(roots ?? null) : grpc.credentials.createInsecure(),
      {
        'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
        'grpc.keepalive_time_ms': KEEPALIVE_MS,
        'grpc.keepalive_timeout_ms': KEEPALIVE_TIMEOUT_MS,
        'grpc-node.flow_control_window': FLOW_WINDOW_BYTES,
        // Two sessions must not share a connection: a hung one would take the next one with it.
        'grpc.use_local_subchannel_pool': 1,
      },
    );
    const metadata = new grpc.Metadata();
    if (token !== '') metadata.set('x-token', token);
    return new GeyserStream(client as unknown as Calls, metadata, handlers);
  }

  firstAvailable(): Promise<number | null> {
    return new Promise((resolve) => {
      const options = { deadline: Date.now() + UNARY_TIMEOUT_MS };
      this.#calls.subscribeReplayInfo({}, this.#metadata, options, (error, answer) => {
        const first = Number(answer?.firstAvailable);
        resolve(error || !Number.isSafeInteger(first) ? null : first);
      });
    });
  }

  request(request: GeyserRequest): void {
    if (this.#isOver) return;
    this.#call ??= this.#subscribe();
    this.#call.write(request);
  }

  pauseUntil(resumed: Promise<void>): void {
    const call = this.#call;
    if (call === null || call.isPaused()) return;
    call.pause();
    const resume = () => {
      if (!this.#isOver) call.resume();
    };
    resumed.then(resume, resume);
  }

  get isPaused(): boolean {
    return this.#call?.isPaused() ?? false;
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#call?.cancel();
    this.#calls.close();
  }

  #subscribe(): ClientDuplexStream<GeyserRequest, StreamUpdate> {
    const call = this.#calls.subscribe(this.#metadata);
    call.on('data', (update: StreamUpdate) => this.#take(update));
    call.on('error', (error: ServiceError) => this.#ended(error.details || error.message, error.code === OUT_OF_RANGE));
    call.on('end', () => this.#ended('the server ended the stream', false));
    return call;
  }

  #take(update: StreamUpdate): void {
    if (this.#isOver) return;
    if (update.isPing) this.#call?.write(pingRequest());
    else if (!update.isPong) this.#handlers.update(update);
  }

  #ended(reason: string, isOutOfRange: boolean): void {
    if (this.#isOver) return;
    this.close();
    this.#handlers.ended(reason, isOutOfRange);
  }
}

const PING_ID = 1;

export function emptyRequest(): GeyserRequest {
  return { ...NO_GEYSER_FILTERS };
}

/** Load balancers end streams on which a client sends nothing. A request with a ping changes no filter. */
function pingRequest(): GeyserRequest {
  return { ...emptyRequest(), ping: { id: PING_ID } };
}
