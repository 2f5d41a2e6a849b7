// All numbered streams. Streams of accounts are bounded: the account that is quiet for longest is forgotten first.

import { isAccountStream, streamKey } from '../../schemas/index.ts';
import { type SavedStream, Stream } from './stream.ts';

/** Streams of accounts: two of each of 100,000 accounts, about 800 bytes each. */
const ACCOUNT_STREAMS_MAX = 200_000;

export class Streams {
  readonly #all = new Map<string, Stream>();
  /** Streams of accounts, the one that is quiet for longest first. */
  readonly #accounts = new Set<string>();
  readonly #accountsMax: number;
  readonly #counts = new Map<string, number>();

  constructor(accountsMax = ACCOUNT_STREAMS_MAX) {
    this.#accountsMax = accountsMax;
  }

  get(key: string): Stream | undefined {
    return this.#all.get(key);
  }

  /** Number of accounts with this stream. */
  count(stream: string): number {
    return this.#counts.get(stream) ?? 0;
  }

  /** The stream, begun if it is new. */
  of(subject: string, stream: string): Stream {
    const key = streamKey({ subject, stream });
    const one = this.#all.get(key) ?? this.#add(key, new Stream(subject, stream));
    if (this.#accounts.delete(key)) this.#accounts.add(key);
    return one;
  }

  restore(key: string, saved: SavedStream): Stream {
    const at = key.lastIndexOf('/');
    return this.#add(key, new Stream(key.slice(0, at), key.slice(at + 1), saved));
  }

  /** Removes the streams of accounts beyond the largest number, and returns their keys. */
  forgetQuiet(): readonly string[] {
    const keys: string[] = [];
    for (const key of this.#accounts) {
      if (this.#accounts.size <= this.#accountsMax) break;
      this.#accounts.delete(key);
      this.#change(this.#all.get(key)?.stream ?? '', -1);
      this.#all.delete(key);
      keys.push(key);
    }
    return keys;
  }

  #add(key: string, one: Stream): Stream {
    this.#all.set(key, one);
    if (!isAccountStream(one.stream)) return one;
    this.#accounts.add(key);
    this.#change(one.stream, 1);
    return one;
  }

  #change(stream: string, by: 1 | -1): void {
    this.#counts.set(stream, this.count(stream) + by);
  }
}
