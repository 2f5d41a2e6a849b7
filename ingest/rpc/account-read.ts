// A large read of accounts: requests them, parses the answer while it streams, and decodes their bytes.

import { decodeAccountData } from './account-data.ts';
import { AccountScanner } from './account-scanner.ts';
import type { Pack, WorkerAnswer, WorkerRequest } from './account-stream.ts';
import type { Transport } from './transport.ts';

/** Accounts and bytes in one message to the main thread. */
const PACK_ACCOUNTS = 256;
const PACK_BYTES = 512 * 1024;
const DETAIL_CHARACTERS = 300;

interface Element {
  readonly pubkey: string;
  readonly account: { readonly owner: string; readonly data: readonly [string, string] };
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
      const pack = new Packing(id, this.#post);
      const scanner = new AccountScanner((element) => pack.add(element as Element));
      const decoder = new TextDecoder();
      for await (const chunk of answer.chunks()) scanner.write(decoder.decode(chunk, { stream: true }));
      scanner.write(decoder.decode());
      pack.flush();
      this.#post({ kind: 'end', id, envelope: scanner.end() });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#post({ kind: 'failed', id, message: text.slice(0, DETAIL_CHARACTERS) });
    } finally {
      this.#running.delete(id);
    }
  }
}

/** Collects accounts into one buffer, which moves to the main thread without a copy. */
class Packing {
  readonly #id: number;
  readonly #post: Post;
  #keys: string[] = [];
  #owners: string[] = [];
  #data: Buffer[] = [];
  #bytes = 0;

  constructor(id: number, post: Post) {
    this.#id = id;
    this.#post = post;
  }

  add({ pubkey, account }: Element): void {
    const data = decodeAccountData(account.data);
    this.#keys.push(pubkey);
    this.#owners.push(account.owner);
    this.#data.push(data);
    this.#bytes += data.length;
    if (this.#keys.length >= PACK_ACCOUNTS || this.#bytes >= PACK_BYTES) this.flush();
  }

  flush(): void {
    if (this.#keys.length === 0) return;
    const bytes = new Uint8Array(this.#bytes);
    const lengths: number[] = [];
    let at = 0;
    for (const data of this.#data) {
      bytes.set(data, at);
      at += data.length;
      lengths.push(data.length);
    }
    const pack: Pack = { keys: this.#keys, owners: this.#owners, lengths, bytes };
    this.#post({ kind: 'pack', id: this.#id, pack }, [bytes.buffer]);
    this.#keys = [];
    this.#owners = [];
    this.#data = [];
    this.#bytes = 0;
  }
}
