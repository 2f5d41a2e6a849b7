// The accounts of a large read, packed by the worker: a read stays whole in memory until it is believed.

import bs58 from 'bs58';
import { Packed, PackRoom } from '../packed.ts';
import { PackedUpdate } from '../packed-update.ts';
import type { AccountUpdate } from '../source.ts';

/** Words of a pack: half a megabyte moves to the main thread at once. */
const PACK_WORDS = 128 * 1024;
const WORD_BYTES = 4;
/** Not from `schemas/`, whose codecs the thread of large reads would load. */
const PUBKEY_BYTES = 32;
const KEY_WORDS = PUBKEY_BYTES / WORD_BYTES;
/** Words of an account before its packed data: their number, its address and its owner. */
const HEAD_WORDS = 1 + 2 * KEY_WORDS;

/** Accounts one after the other. */
export interface Pack {
  readonly count: number;
  readonly words: Int32Array<ArrayBuffer>;
}

/** Fills packs. */
export class Packing {
  readonly #post: (pack: Pack) => void;
  readonly #room = new PackRoom();
  #words = new Int32Array(PACK_WORDS);
  #at = 0;
  #count = 0;
  #owner: { readonly text: string; readonly bytes: Uint8Array } = { text: '', bytes: new Uint8Array(PUBKEY_BYTES) };

  /** `post` receives each full pack, which is its own. */
  constructor(post: (pack: Pack) => void) {
    this.#post = post;
  }

  /** Addresses in base58. Throws for one that has not 32 bytes. */
  add(pubkey: string, owner: string, data: Uint8Array): void {
    const key = keyOf(pubkey);
    if (owner !== this.#owner.text) this.#owner = { text: owner, bytes: keyOf(owner) };
    const packed = this.#room.pack(data);
    const words = HEAD_WORDS + packed.length;
    if (this.#at + words > this.#words.length) this.flush();
    if (words > this.#words.length) this.#words = new Int32Array(words);
    const bytes = new Uint8Array(this.#words.buffer);
    this.#words[this.#at] = words;
    bytes.set(key, (this.#at + 1) * WORD_BYTES);
    bytes.set(this.#owner.bytes, (this.#at + 1 + KEY_WORDS) * WORD_BYTES);
    this.#words.set(packed, this.#at + HEAD_WORDS);
    this.#at += words;
    this.#count += 1;
  }

  flush(): void {
    if (this.#count > 0) this.#post({ count: this.#count, words: this.#words.slice(0, this.#at) });
    this.#at = 0;
    this.#count = 0;
  }
}

export class PackedAccounts {
  #packs: { readonly pack: Pack; readonly slot: number }[] = [];
  #count = 0;
  #newestSlot = -1;

  /** Adds accounts of an answer at a slot. */
  add(packs: readonly Pack[], slot: number): void {
    for (const pack of packs) {
      this.#packs.push({ pack, slot });
      this.#count += pack.count;
      this.#newestSlot = Math.max(this.#newestSlot, slot);
    }
  }

  get count(): number {
    return this.#count;
  }

  /** Newest slot of an account; -1 without any. */
  get newestSlot(): number {
    return this.#newestSlot;
  }

  /** The accounts in the order of the read, made one after the other. */
  *updates(): Generator<AccountUpdate> {
    for (const { pack, slot } of this.#packs) yield* updatesOf(pack, slot);
  }

  /** The same, only once: a pack is freed when its accounts have been passed. */
  *taken(): Generator<AccountUpdate> {
    const packs = this.#packs.reverse();
    this.#packs = [];
    for (let next = packs.pop(); next; next = packs.pop()) yield* updatesOf(next.pack, next.slot);
  }
}

function* updatesOf({ words }: Pack, slot: number): Generator<AccountUpdate> {
  const bytes = new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
  const packed = Buffer.from(words.buffer, words.byteOffset, words.byteLength);
  let owner: Uint8Array = new Uint8Array(0);
  for (let at = 0; at < words.length; at += words[at] ?? 0) {
    const keyAt = (at + 1) * WORD_BYTES;
    const pubkey = bytes.slice(keyAt, keyAt + PUBKEY_BYTES);
    const named = bytes.subarray(keyAt + PUBKEY_BYTES, keyAt + 2 * PUBKEY_BYTES);
    // One object for the owner of many accounts.
    if (Buffer.compare(named, owner) !== 0) owner = named.slice();
    const [from, to] = [(at + HEAD_WORDS) * WORD_BYTES, (at + (words[at] ?? 0)) * WORD_BYTES];
    const head = { slot, writeVersion: null, pubkey, owner };
    yield new PackedUpdate(head, Packed.within(packed, from, to), words[at + HEAD_WORDS] ?? 0);
  }
}

function keyOf(text: string): Uint8Array {
  const key = bs58.decode(text);
  if (key.length !== PUBKEY_BYTES) throw new TypeError(`key has ${key.length} bytes`);
  return key;
}
