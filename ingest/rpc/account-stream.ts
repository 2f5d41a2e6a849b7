// Large account reads in a worker thread: the main loop only receives packs of accounts.

import type { Endpoint, RequestOptions } from './endpoint.ts';
import { RpcError } from './errors.ts';
import type { Pack } from './packed-accounts.ts';
import { type AccountWorker, NETWORK, type Transport } from './transport.ts';
import type { WorkerAnswer, WorkerRequest } from './worker-messages.ts';

/** A full read of a large exchange takes a minute at some providers. */
const READ_TIMEOUT_MS = 300_000;
/**
 * Longer than the time between two reads of the shadow check (`shadowCheckMs`): a start of the thread takes a quarter of a second of the
 * processor (docs/benchmarks/2026-11-29.md). An idle thread keeps some 50 MB, which the next read would take again.
 */
const IDLE_MS = 15_000;

interface Pending {
  readonly worker: AccountWorker;
  readonly pack: (pack: Pack) => void;
  readonly settle: (answer: Exclude<WorkerAnswer, { kind: 'pack' }>) => void;
}

export class AccountStream {
  readonly #transport: Pick<Transport, 'openWorker'>;
  #worker: AccountWorker | null = null;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #idle: NodeJS.Timeout | null = null;

  constructor(transport: Pick<Transport, 'openWorker'> = NETWORK) {
    this.#transport = transport;
  }

  /** Sends the request, hands over each pack, and resolves with the answer without its accounts. Throws RpcError. */
  async read(endpoint: Endpoint, body: unknown, take: (pack: Pack) => void, options: RequestOptions): Promise<unknown> {
    const { signal } = options;
    await endpoint.admit(options);
    const id = this.#nextId++;
    const cancel = () => this.#worker?.postMessage({ kind: 'cancel', id } satisfies WorkerRequest);
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const answer = await new Promise<Exclude<WorkerAnswer, { kind: 'pack' }>>((settle) => {
        const worker = this.#open();
        this.#pending.set(id, { worker, pack: take, settle });
        const request: WorkerRequest = {
          kind: 'read',
          id,
          url: endpoint.url,
          body: JSON.stringify(body),
          timeoutMs: READ_TIMEOUT_MS,
        };
        worker.postMessage(request);
      });
      signal.throwIfAborted();
      if (answer.kind === 'refused') endpoint.settle(answer.status, answer.retryAfter);
      if (answer.kind !== 'end') {
        endpoint.settle(null, null);
        throw new RpcError('account read ended early', null, { isTransport: true });
      }
      endpoint.settle(200, null);
      return answer.envelope;
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#pending.delete(id);
      if (this.#pending.size === 0) this.#endWhenIdle();
    }
  }

  /** Ends the thread. A later read starts a new one. */
  async close(): Promise<void> {
    this.#stopIdling();
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  #endWhenIdle(): void {
    this.#stopIdling();
    this.#idle = setTimeout(() => void this.close(), IDLE_MS);
    this.#idle.unref();
  }

  #stopIdling(): void {
    if (this.#idle) clearTimeout(this.#idle);
    this.#idle = null;
  }

  #open(): AccountWorker {
    this.#stopIdling();
    if (this.#worker) return this.#worker;
    const worker = this.#transport.openWorker();
    worker.on('message', (answer) => {
      const pending = this.#pending.get(answer.id);
      if (answer.kind === 'pack') pending?.pack(answer.pack);
      else pending?.settle(answer);
    });
    const lost = (message: string) => {
      if (this.#worker === worker) this.#worker = null;
      // A thread that ended when it was idle may report so after the next one has begun to read.
      for (const [id, { worker: reader, settle }] of this.#pending)
        if (reader === worker) settle({ kind: 'failed', id, message });
    };
    worker.on('error', (error) => lost(String(error)));
    worker.on('exit', () => lost('the worker ended'));
    this.#worker = worker;
    return worker;
  }
}
