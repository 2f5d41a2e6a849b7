// One Subscribe call to a Yellowstone gRPC server: filters, pings, and a pause when the reader cannot follow.

import { type GeyserRequest, geyserService, NO_GEYSER_FILTERS } from '../../schemas/index.ts';
import { type Call, GrpcConnection, STATUS } from './connection.ts';
import { readUpdate, type StreamUpdate } from './wire.ts';

const UNARY_TIMEOUT_MS = 10_000;
/** Number of the pings that answer those of the server. */
export const PING_ID = 1;

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
  /** Asks for a pong with this number, above PING_ID. It comes after everything that the server sent before it. */
  ping(id: number): void;
  /** Stops reading until `resumed` is settled. The server holds back, and ends the call if that lasts. */
  pauseUntil(resumed: Promise<unknown>): void;
  close(): void;
}

/** `url` begins with `https:` for TLS, or with `http:`. An empty `token` is not sent. */
export type OpenStream = (url: string, token: string, handlers: StreamHandlers) => Promise<UpdateStream>;

/** Opens streams over the real network, to servers whose certificates these authorities sign. */
export function openWith(roots?: Buffer): OpenStream {
  return (url, token, handlers) => GeyserStream.open(url, token, handlers, roots);
}

export class GeyserStream implements UpdateStream {
  readonly #connection: GrpcConnection;
  readonly #handlers: StreamHandlers;
  readonly #service = geyserService();
  #call: Call | null = null;
  #isOver = false;

  private constructor(connection: GrpcConnection, handlers: StreamHandlers) {
    this.#connection = connection;
    this.#handlers = handlers;
  }

  /** `roots`: certificates in PEM that sign those of the server; without them, the public authorities that Node knows. */
  static async open(url: string, token: string, handlers: StreamHandlers, roots?: Buffer): Promise<GeyserStream> {
    return new GeyserStream(new GrpcConnection(url, { token, roots }), handlers);
  }

  async firstAvailable(): Promise<number | null> {
    const { path, requestSerialize, responseDeserialize } = this.#service.subscribeReplayInfo;
    const answer = await this.#connection.ask(path, requestSerialize({}), UNARY_TIMEOUT_MS);
    const first = Number(answer && responseDeserialize(answer).firstAvailable);
    return answer === null || !Number.isSafeInteger(first) ? null : first;
  }

  request(request: GeyserRequest): void {
    if (this.#isOver) return;
    this.#call ??= this.#subscribe();
    this.#call.send(this.#service.subscribe.requestSerialize(request));
  }

  ping(id: number): void {
    this.request({ ...emptyRequest(), ping: { id } });
  }

  pauseUntil(resumed: Promise<unknown>): void {
    const call = this.#call;
    if (call === null || call.isPaused) return;
    call.pause();
    const resume = () => {
      if (!this.#isOver) call.resume();
    };
    resumed.then(resume, resume);
  }

  get isPaused(): boolean {
    return this.#call?.isPaused ?? false;
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#connection.close();
  }

  #subscribe(): Call {
    return this.#connection.call(this.#service.subscribe.path, {
      message: (bytes) => this.#take(readUpdate(bytes)),
      ended: (status, details) => {
        const end = status === STATUS.ok ? 'the server ended the stream' : `gRPC status ${status}`;
        this.#ended(details || end, status === STATUS.outOfRange);
      },
    });
  }

  #take(update: StreamUpdate): void {
    if (this.#isOver) return;
    // Load balancers end streams on which a client sends nothing.
    if (update.isPing) this.ping(PING_ID);
    else this.#handlers.update(update);
  }

  #ended(reason: string, isOutOfRange: boolean): void {
    if (this.#isOver) return;
    this.close();
    this.#handlers.ended(reason, isOutOfRange);
  }
}

export function emptyRequest(): GeyserRequest {
  return { ...NO_GEYSER_FILTERS };
}
