// The real network for tests of many sources. They share one thread of large reads, because each start of a thread takes a quarter of a
// second of the processor.

import { type AccountWorker, NETWORK, type Transport } from '../../../ingest/rpc/transport.ts';
import type { WorkerAnswer, WorkerRequest } from '../../../ingest/rpc/worker-messages.ts';

/** Requests of one source that have numbers of their own. */
const REQUESTS_MAX = 2 ** 20;

const sharers = new Map<number, Sharer>();
let sharerCount = 0;
let thread: AccountWorker | null = null;

export const SHARED_NETWORK: Transport = {
  ...NETWORK,
  openWorker: () => {
    sharerCount += 1;
    const sharer = new Sharer(sharerCount * REQUESTS_MAX, () => sharers.delete(sharer.first / REQUESTS_MAX));
    sharers.set(sharerCount, sharer);
    return sharer;
  },
};

function openThread(): AccountWorker {
  const opened = NETWORK.openWorker();
  opened.on('message', (answer) => sharers.get(Math.floor(answer.id / REQUESTS_MAX))?.take(answer));
  opened.on('error', (error) => {
    throw error;
  });
  opened.on('exit', () => {
    thread = null;
    for (const sharer of [...sharers.values()]) sharer.end();
  });
  return opened;
}

/** The thread as one source sees it. */
class Sharer implements AccountWorker {
  /** Number of its first request in the thread. */
  readonly first: number;
  readonly #ended: () => void;
  readonly #running = new Set<number>();
  #message: (answer: WorkerAnswer) => void = () => {};
  #exit: () => void = () => {};

  constructor(first: number, ended: () => void) {
    this.first = first;
    this.#ended = ended;
  }

  on(event: 'message' | 'error' | 'exit', listener: (value: never) => void): void {
    if (event === 'message') this.#message = listener as (answer: WorkerAnswer) => void;
    else if (event === 'exit') this.#exit = listener as () => void;
  }

  postMessage(request: WorkerRequest): void {
    if (request.kind === 'read') this.#running.add(request.id);
    thread ??= openThread();
    thread.postMessage({ ...request, id: this.first + request.id });
  }

  take(answer: WorkerAnswer): void {
    const id = answer.id - this.first;
    if (answer.kind !== 'pack') this.#running.delete(id);
    this.#message({ ...answer, id });
  }

  async terminate(): Promise<void> {
    for (const id of this.#running) this.postMessage({ kind: 'cancel', id });
    this.end();
  }

  end(): void {
    this.#ended();
    this.#exit();
  }
}
