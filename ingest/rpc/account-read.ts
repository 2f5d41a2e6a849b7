// A large read of accounts: requests them, parses the answer while it streams, and packs their bytes. It runs in the worker thread, whose
// bundle has no files beside it, so it imports no entry file of a room.

import { decodeAccountData } from './account-data.ts';
import { AccountScanner } from './account-scanner.ts';
import { Packing } from './packed-accounts.ts';
import type { Transport } from './transport.ts';
import type { WorkerAnswer, WorkerRequest } from './worker-messages.ts';

const DETAIL_CHARACTERS = 300;

interface Element {
  readonly pubkey: string;
  readonly account: { readonly owner: string; readonly data: readonly [string, string]; readonly space?: unknown };
}

/** Receives an answer, and the buffers that it may take over. */
type Post = (answer: WorkerAnswer, buffers?: readonly ArrayBuffer[]) => void;

export class AccountReads {
  readonly #transport: Pick<Transport, 'post'>;
  readonly #post: Post;
  readonly #running = new Map<number, AbortController>();

  constructor(transport: Pick<Transport, 'post'>, post: Post) {
    this.#transport = transport;
    this.#post = post;
  }

  take(request: WorkerRequest): void {
    if (request.kind === 'cancel') this.#running.get(request.id)?.abort();
    else void this.#read(request);
  }

  async #read({ id, url, body, timeoutMs }: Extract<WorkerRequest, { kind: 'read' }>): Promise<void> {
    const cancel = new AbortController();
    this.#running.set(id, cancel);
    try {
      const signal = AbortSignal.any([cancel.signal, AbortSignal.timeout(timeoutMs)]);
      const answer = await this.#transport.post(url, body, signal);
      if (!answer.ok) {
        await answer.cancel();
        this.#post({ kind: 'refused', id, status: answer.status, retryAfter: answer.retryAfter });
        return;
      }
      const packing = new Packing((pack) => this.#post({ kind: 'pack', id, pack }, [pack.words.buffer]));
      const scanner = new AccountScanner((element) => {
        const { pubkey, account } = element as Element;
        packing.add(pubkey, account.owner, decodeAccountData(account.data, account.space));
      });
      const decoder = new TextDecoder();
      for await (const chunk of answer.chunks()) scanner.write(decoder.decode(chunk, { stream: true }));
      scanner.write(decoder.decode());
      packing.flush();
      this.#post({ kind: 'end', id, envelope: scanner.end() });
    } catch (error) {
      // Not `errorText`: the entry of platform/ brings modules that a thread cannot load.
      const text = error instanceof Error ? error.message : String(error);
      this.#post({ kind: 'failed', id, message: text.slice(0, DETAIL_CHARACTERS) });
    } finally {
      this.#running.delete(id);
    }
  }
}
