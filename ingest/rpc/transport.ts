// Carries requests to a node: HTTP, WebSockets and the thread of large reads. Simulations bring their own.

import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { WebSocket } from 'ws';
import { type HttpAnswer, postJson } from './http-post.ts';
import type { WorkerAnswer, WorkerRequest } from './worker-messages.ts';

/**
 * Half of the young space of the thread of large reads. Buffers of unpacked accounts are freed each time it is collected. A
 * flag of the process wins over a limit of the thread, so it is set while the thread starts. The main loop's heap keeps its
 * size.
 */
const WORKER_SPACE = '--max-semi-space-size=1';
/** Flag of the process; 0 is V8's own choice. */
const OWN_SPACE =
  process.execArgv.findLast((flag) => flag.startsWith('--max-semi-space-size=')) ?? '--max-semi-space-size=0';
const OPEN_TIMEOUT_MS = 10_000;
/** Larger than any account notification. A larger frame closes the connection. */
const FRAME_BYTES_MAX = 64 * 1024 * 1024;

/** The part of a WebSocket that PubSub uses. */
export interface PubSubSocket {
  on(event: 'message', listener: (data: Buffer) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'close', listener: (code: number) => void): unknown;
  send(text: string): void;
  ping(): void;
  terminate(): void;
}

/** The part of a worker thread that large reads use. */
export interface AccountWorker {
  on(event: 'message', listener: (answer: WorkerAnswer) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
  postMessage(request: WorkerRequest): void;
  terminate(): Promise<unknown>;
}

export interface Transport {
  /** Sends JSON text. Rejects when the node does not answer. */
  post(url: string, body: string, signal: AbortSignal): Promise<HttpAnswer>;
  /** Connects. Rejects when the server does not answer in time. */
  connect(url: string): Promise<PubSubSocket>;
  /** Starts the thread that reads and parses large answers. */
  openWorker(): AccountWorker;
}

/** The real network. */
export const NETWORK: Transport = {
  post: postJson,
  connect: (url) =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(url, {
        handshakeTimeout: OPEN_TIMEOUT_MS,
        maxPayload: FRAME_BYTES_MAX,
        perMessageDeflate: false,
      });
      socket.once('error', reject);
      socket.once('open', () => {
        socket.off('error', reject);
        resolve(socket);
      });
    }),
  openWorker: () => {
    setFlagsFromString(WORKER_SPACE);
    const worker = new Worker(new URL('./account-worker.ts', import.meta.url));
    // Other threads that begin later are none of its business.
    worker.once('online', () => setFlagsFromString(OWN_SPACE));
    worker.unref();
    return worker;
  },
};
