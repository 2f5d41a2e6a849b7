// Prebuilt messages of the simulated exchange, real account bytes and real log lines, for a sender that only patches numbers into them.

import bs58 from 'bs58';
import { Filters } from '../../../localnet/grpc/filters.ts';
import { encodeBody, type FeedMessage, withFilters } from '../../../localnet/grpc/messages.ts';
import type { AccountVersion, RunningLocalnet, StoredTransaction } from '../../../localnet/index.ts';
import { accountJson, passes } from '../../../localnet/rpc/account-json.ts';
import type { Topic } from '../../../localnet/rpc/subscriptions.ts';
import { type GeyserRequest, SIGNATURE_BYTES } from '../../../schemas/index.ts';

/** Stand in the prebuilt bytes where the sender writes. Their varints have five bytes, like those of all numbers up to 2^35. */
const SLOT_MARK = 448_585_463;
const VERSION_MARK = 466_480_917;
/** The first byte makes the text 88 characters long, whatever follows. */
const SIGNATURE_HEAD = 0x7f;
const NUMBER_AT = 58;
const VARINT_BYTES = 5;
const GRPC_HEAD_BYTES = 5;
const FRAME_HEAD_BYTES = 4;
const LONG_FRAME_HEAD_BYTES = 10;
const TEXT_FRAME = 0x81;
const BYTES_16 = 126;
const BYTES_64 = 127;
const SLOT_DIGITS = 9;

/** States and transactions of some slots of the exchange. */
export interface Recording {
  /** User accounts, in the order of their writes. */
  readonly users: readonly AccountVersion[];
  /** States of each other account, in order. */
  readonly others: readonly (readonly AccountVersion[])[];
  readonly transactions: readonly StoredTransaction[];
}

/** Steps a paused cluster until there are so many user states. `userHead`: the first bytes of user accounts. */
export async function recordExchange(net: RunningLocalnet, userHead: Buffer, userStates: number): Promise<Recording> {
  const users: AccountVersion[] = [];
  const others = new Map<string, AccountVersion[]>();
  const transactions: StoredTransaction[] = [];
  while (users.length < userStates) {
    await net.step(1);
    for (const transaction of net.ledger.blockAt('processed')?.transactions ?? []) {
      if (transaction.err === null) transactions.push(transaction);
      for (const account of transaction.writes) {
        if (account.data.length === 0) continue;
        if (account.data.subarray(0, userHead.length).equals(userHead)) users.push(account);
        else others.set(account.pubkey, [...(others.get(account.pubkey) ?? []), account]);
      }
    }
  }
  return { users, others: [...others.values()], transactions };
}

/** One message, and where its numbers stand; absent ones are -1. */
export interface Frame {
  readonly bytes: Buffer;
  readonly slotAt: number;
  readonly versionAt: number;
  readonly signatureAt: readonly number[];
}

/** The form in which a socket takes frames. */
export interface Wire {
  account(account: AccountVersion): Frame | null;
  /** One message for each subscription that the transaction concerns. */
  transaction(transaction: StoredTransaction): readonly Frame[];
  /** Copies the frame into a buffer and writes the numbers. Returns the next free byte. */
  write(frame: Frame, into: Buffer, at: number, numbers: Numbers): number;
}

export interface Numbers {
  readonly slot: number;
  readonly version: number;
  readonly signature: Signature;
}

export interface Signature {
  readonly bytes: Buffer;
  readonly text: string;
}

const MARK = signatureOf(0);

/** A signature of its own for each number. */
export function signatureOf(number: number): Signature {
  const bytes = Buffer.alloc(SIGNATURE_BYTES, SIGNATURE_HEAD);
  bytes.writeUIntBE(number, NUMBER_AT, SIGNATURE_BYTES - NUMBER_AT);
  return { bytes, text: bs58.encode(bytes) };
}

/** Messages of a gRPC stream that passed the filters of a subscription. */
export function grpcWire(request: GeyserRequest, net: RunningLocalnet): Wire {
  const filters = new Filters(request);
  const frameOf = (message: FeedMessage): Frame | null => {
    const names = filters.passed(message);
    if (names.length === 0) return null;
    const bytes = grpcMessage(withFilters(names, encodeBody(message, net.ledger.lookups)));
    return {
      bytes,
      slotAt: only(bytes, varint(SLOT_MARK)),
      versionAt: message.kind === 'account' ? only(bytes, varint(VERSION_MARK)) : -1,
      signatureAt: places(bytes, MARK.bytes),
    };
  };
  return {
    account: (account) => {
      const version = { ...account, slot: SLOT_MARK, writeVersion: VERSION_MARK };
      return frameOf({ kind: 'account', slot: SLOT_MARK, signature: MARK.text, account: version });
    },
    transaction: (transaction) => {
      const frame = frameOf({
        kind: 'transaction',
        slot: SLOT_MARK,
        transaction: { ...transaction, signature: MARK.text },
      });
      return frame ? [frame] : [];
    },
    write: ({ bytes, slotAt, versionAt, signatureAt }, into, at, { slot, version, signature }) => {
      bytes.copy(into, at);
      writeVarint(into, at + slotAt, slot);
      if (versionAt >= 0) writeVarint(into, at + versionAt, version);
      for (const place of signatureAt) signature.bytes.copy(into, at + place);
      return at + bytes.length;
    },
  };
}

/** A subscription over PubSub. */
export interface PubSubTopic {
  readonly id: number;
  readonly topic: Topic;
}

/** Notifications of the subscriptions of a socket. */
export function pubsubWire(subscriptions: readonly PubSubTopic[]): Wire {
  const slotMark = String(SLOT_MARK);
  const frameOf = (method: string, value: string, id: number): Frame => {
    const bytes = notification(method, `{"context":{"slot":${slotMark}},"value":${value}}`, id);
    const signatureAt = places(bytes, Buffer.from(MARK.text));
    return { bytes, slotAt: bytes.indexOf(slotMark), versionAt: -1, signatureAt };
  };
  return {
    account: (account) => {
      const { pubkey, owner, data } = account;
      const found = subscriptions.find(
        ({ topic }) => topic.kind === 'program' && topic.program === owner && passes(data, topic.filters),
      );
      if (!found) return null;
      const json = accountJson(account, { encoding: 'base64', slice: null });
      return frameOf('programNotification', `{"account":${json},"pubkey":"${pubkey}"}`, found.id);
    },
    transaction: ({ accountKeys, logMessages }) => {
      const value = JSON.stringify({ signature: MARK.text, err: null, logs: logMessages });
      return subscriptions
        .filter(({ topic }) => topic.kind === 'logs' && accountKeys.includes(topic.mentions ?? ''))
        .map(({ id }) => frameOf('logsNotification', value, id));
    },
    write: ({ bytes, slotAt, signatureAt }, into, at, { slot, signature }) => {
      bytes.copy(into, at);
      into.write(String(slot), at + slotAt, SLOT_DIGITS, 'latin1');
      for (const place of signatureAt) into.write(signature.text, at + place, 'latin1');
      return at + bytes.length;
    },
  };
}

/** A message with the head that gRPC gives it. */
export function grpcMessage(body: Uint8Array): Buffer {
  const head = Buffer.alloc(GRPC_HEAD_BYTES);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

/** A notification as the frame of a WebSocket server. */
export function notification(method: string, result: string, subscription: number): Buffer {
  const text = `{"jsonrpc":"2.0","method":"${method}","params":{"result":${result},"subscription":${subscription}}}`;
  const body = Buffer.from(text);
  const isLong = body.length > 0xffff;
  const head = Buffer.alloc(isLong ? LONG_FRAME_HEAD_BYTES : FRAME_HEAD_BYTES);
  head[0] = TEXT_FRAME;
  head[1] = isLong ? BYTES_64 : BYTES_16;
  if (isLong) head.writeBigUInt64BE(BigInt(body.length), 2);
  else head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, body]);
}

function varint(value: number): Buffer {
  const bytes = Buffer.alloc(VARINT_BYTES);
  writeVarint(bytes, 0, value);
  return bytes;
}

function writeVarint(into: Buffer, at: number, value: number): void {
  let rest = value;
  for (let byte = 0; byte < VARINT_BYTES; byte++) {
    into[at + byte] = (rest % 0x80) | (byte < VARINT_BYTES - 1 ? 0x80 : 0);
    rest = Math.floor(rest / 0x80);
  }
}

function places(bytes: Buffer, mark: Buffer): readonly number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) found.push(at);
  return found;
}

function only(bytes: Buffer, mark: Buffer): number {
  const [at, second] = places(bytes, mark);
  if (at === undefined || second !== undefined) throw new Error('a mark does not stand in the message once');
  return at;
}
