// Reads the fields of a SubscribeUpdate that ingest uses (geyser.proto, solana-storage.proto of Yellowstone). The generated codec decodes
// every balance, key and instruction too, which costs several times as much.

import { MessageError } from './frames.ts';

/** An account as a message has it. Numbers beyond 2^53 are not exact. */
export interface WireAccount {
  readonly slot: number;
  readonly pubkey: Uint8Array;
  readonly owner: Uint8Array;
  readonly data: Uint8Array;
  readonly writeVersion: bigint;
  /** Empty when the server names none. */
  readonly txnSignature: Uint8Array;
}

export interface WireTransaction {
  readonly slot: number;
  readonly signature: Uint8Array;
  readonly index: number;
  readonly failed: boolean;
  /** Null when the server does not record logs. */
  readonly logs: readonly string[] | null;
}

export interface WireBlock {
  readonly slot: number;
  readonly blockhash: string;
  readonly parentSlot: number;
  readonly parentBlockhash: string;
  /** Unix seconds; 0 when the server does not know it. */
  readonly ts: number;
}

export interface WireSlot {
  readonly slot: number;
  readonly parent: number | null;
  /** SlotStatus. */
  readonly status: number;
}

/** One update. Null parts belong to other kinds of update. */
export interface StreamUpdate {
  /** Names of the filters that it passed. */
  readonly filters: readonly string[];
  readonly account: WireAccount | null;
  readonly transaction: WireTransaction | null;
  readonly block: WireBlock | null;
  readonly slot: WireSlot | null;
  readonly isPing: boolean;
  /** Number of the ping that it answers. */
  readonly pong: number | null;
  /** The whole message. The parts share its memory. */
  readonly bytes: Buffer;
}

const NO_BYTES: Uint8Array = new Uint8Array(0);
const VARINT = 0;
const BYTES_8 = 1;
const LENGTH_DELIMITED = 2;
const BYTES_4 = 5;
const VARINT_BYTES_MAX = 10;
const WRITE_VERSION_BITS = 64;

/** Reads one message. Throws a MessageError for bytes that are none. */
export function readUpdate(bytes: Buffer): StreamUpdate {
  const at = new Cursor(bytes, 0, bytes.length);
  const filters: string[] = [];
  const found: { -readonly [K in keyof StreamUpdate]: StreamUpdate[K] } = {
    filters,
    account: null,
    transaction: null,
    block: null,
    slot: null,
    isPing: false,
    pong: null,
    bytes,
  };
  while (at.next()) {
    if (at.type !== LENGTH_DELIMITED) at.skip();
    else if (at.field === 1) filters.push(at.text());
    else if (at.field === 2) found.account = account(at.message());
    else if (at.field === 3) found.slot = slot(at.message());
    else if (at.field === 4) found.transaction = transaction(at.message());
    else if (at.field === 7) found.block = block(at.message());
    else if (at.field === 9) found.pong = pong(at.message());
    else {
      if (at.field === 6) found.isPing = true;
      at.skip();
    }
  }
  return found;
}

/** SubscribeUpdateAccount, with its SubscribeUpdateAccountInfo. */
function account(at: Cursor): WireAccount {
  const found = {
    slot: 0,
    pubkey: NO_BYTES,
    owner: NO_BYTES,
    data: NO_BYTES,
    writeVersion: 0n,
    txnSignature: NO_BYTES,
  };
  while (at.next()) {
    if (at.field === 2 && at.type === VARINT) found.slot = at.number();
    else if (at.field !== 1 || at.type !== LENGTH_DELIMITED) at.skip();
    else {
      const info = at.message();
      while (info.next()) {
        if (info.field === 7 && info.type === VARINT) found.writeVersion = info.bigint();
        else if (info.type !== LENGTH_DELIMITED) info.skip();
        else if (info.field === 1) found.pubkey = info.slice();
        else if (info.field === 3) found.owner = info.slice();
        else if (info.field === 6) found.data = info.slice();
        else if (info.field === 8) found.txnSignature = info.slice();
        else info.skip();
      }
    }
  }
  return found;
}

/** SubscribeUpdateTransaction, with its SubscribeUpdateTransactionInfo. */
function transaction(at: Cursor): WireTransaction {
  const found = { slot: 0, signature: NO_BYTES, index: 0, failed: false, logs: null as readonly string[] | null };
  while (at.next()) {
    if (at.field === 2 && at.type === VARINT) found.slot = at.number();
    else if (at.field !== 1 || at.type !== LENGTH_DELIMITED) at.skip();
    else {
      const info = at.message();
      while (info.next()) {
        if (info.field === 5 && info.type === VARINT) found.index = info.number();
        else if (info.field === 1 && info.type === LENGTH_DELIMITED) found.signature = info.slice();
        else if (info.field === 4 && info.type === LENGTH_DELIMITED) Object.assign(found, meta(info.message()));
        else info.skip();
      }
    }
  }
  return found;
}

/** TransactionStatusMeta: whether it has an error, its log lines, and whether it says that it has none. */
function meta(at: Cursor): Pick<WireTransaction, 'failed' | 'logs'> {
  const logs: string[] = [];
  let failed = false;
  let hasNone = false;
  while (at.next()) {
    if (at.field === 6 && at.type === LENGTH_DELIMITED) logs.push(at.text());
    else {
      if (at.field === 11 && at.type === VARINT) {
        hasNone = at.number() !== 0;
        continue;
      }
      if (at.field === 1) failed = true;
      at.skip();
    }
  }
  return { failed, logs: hasNone ? null : logs };
}

function block(at: Cursor): WireBlock {
  const found = { slot: 0, blockhash: '', parentSlot: 0, parentBlockhash: '', ts: 0 };
  while (at.next()) {
    if (at.field === 1 && at.type === VARINT) found.slot = at.number();
    else if (at.field === 6 && at.type === VARINT) found.parentSlot = at.number();
    else if (at.type !== LENGTH_DELIMITED) at.skip();
    else if (at.field === 2) found.blockhash = at.text();
    else if (at.field === 7) found.parentBlockhash = at.text();
    else if (at.field === 4) {
      const time = at.message();
      while (time.next()) {
        if (time.field === 1 && time.type === VARINT) found.ts = time.number();
        else time.skip();
      }
    } else at.skip();
  }
  return found;
}

function slot(at: Cursor): WireSlot {
  const found = { slot: 0, parent: null as number | null, status: 0 };
  while (at.next()) {
    if (at.type !== VARINT || at.field > 3) at.skip();
    else if (at.field === 1) found.slot = at.number();
    else if (at.field === 2) found.parent = at.number();
    else found.status = at.number();
  }
  return found;
}

/** SubscribeUpdatePong. */
function pong(at: Cursor): number {
  let id = 0;
  while (at.next()) {
    if (at.field === 1 && at.type === VARINT) id = at.number();
    else at.skip();
  }
  return id;
}

/** Reads the fields of a message one after the other. */
class Cursor {
  /** Number and wire type of the current field. */
  field = 0;
  type = 0;
  readonly #bytes: Buffer;
  readonly #end: number;
  #at: number;

  constructor(bytes: Buffer, at: number, end: number) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  /** Steps to the next field; false at the end. Its value must then be read or skipped. */
  next(): boolean {
    if (this.#at >= this.#end) return false;
    const tag = this.number();
    this.field = Math.floor(tag / 8);
    this.type = tag % 8;
    if (this.field === 0) throw new MessageError('field 0');
    return true;
  }

  /** A varint. Beyond 2^53 it is not exact. */
  number(): number {
    const bytes = this.#bytes;
    let value = 0;
    let scale = 1;
    for (let read = 0; read < VARINT_BYTES_MAX; read++) {
      if (this.#at >= this.#end) break;
      const byte = bytes[this.#at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    throw new MessageError('varint without an end');
  }

  /** A varint of up to 64 bits. */
  bigint(): bigint {
    const from = this.#at;
    const value = this.number();
    if (Number.isSafeInteger(value)) return BigInt(value);
    const bytes = this.#bytes.subarray(from, this.#at);
    let exact = 0n;
    for (let index = bytes.length - 1; index >= 0; index--)
      exact = (exact << 7n) | BigInt((bytes[index] as number) & 0x7f);
    return BigInt.asUintN(WRITE_VERSION_BITS, exact);
  }

  slice(): Uint8Array {
    const end = this.#valueEnd();
    const value = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return value;
  }

  text(): string {
    const end = this.#valueEnd();
    const value = this.#bytes.toString('utf8', this.#at, end);
    this.#at = end;
    return value;
  }

  message(): Cursor {
    const end = this.#valueEnd();
    const inner = new Cursor(this.#bytes, this.#at, end);
    this.#at = end;
    return inner;
  }

  skip(): void {
    if (this.type === VARINT) this.number();
    else if (this.type === LENGTH_DELIMITED) this.#at = this.#valueEnd();
    else if (this.type === BYTES_8) this.#at += 8;
    else if (this.type === BYTES_4) this.#at += 4;
    else throw new MessageError(`wire type ${this.type}`);
    if (this.#at > this.#end) throw new MessageError('the message ends inside a field');
  }

  #valueEnd(): number {
    const length = this.number();
    const end = this.#at + length;
    if (end > this.#end) throw new MessageError('the message ends inside a field');
    return end;
  }
}
