// A node that only sends: prebuilt updates at a given rate over gRPC and PubSub, as one process that `update-node.ts` starts. Calls of
// JSON-RPC are answered by a paused simulated cluster, except for what the stream itself decides: slots, times and signatures.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocketServer } from 'ws';
import { encodeBody, withFilters } from '../../../localnet/grpc/messages.ts';
import { type RunningLocalnet, type StoredBlock, startLocalnet } from '../../../localnet/index.ts';
import { subscriptionRequest, type TopicKind } from '../../../localnet/rpc/subscriptions.ts';
import { geyserMessages, loadDefinition } from '../../../schemas/index.ts';
import { type ManyUsers, manyUsers } from './many-users.ts';
import { SentSignatures } from './sent-signatures.ts';
import {
  type Frame,
  grpcMessage,
  grpcWire,
  notification,
  type PubSubTopic,
  pubsubWire,
  type Recording,
  recordExchange,
  type Signature,
  signatureOf,
  type Wire,
} from './update-frames.ts';

export interface Rate {
  readonly accountsPerSecond: number;
  readonly transactionsPerSecond: number;
}

export interface SenderReady {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly grpcUrl: string;
}

/** The sender's further work, as JSON in its first argument. */
export interface SenderOptions {
  /** User accounts that a full read brings beside those of the exchange. */
  readonly users?: number;
  /** Whether the node answers in pages. */
  readonly hasPages?: boolean;
}

export type SenderCommand = Rate | 'counts' | 'drop';

/** Counts of a connection since it began. */
export interface SenderCounts {
  readonly accounts: number;
  readonly transactions: number;
  /** Updates that are due and wait for the socket. */
  readonly waiting: number;
}

const USER_STATES = 8_000;
const TRADING_ACCOUNTS = 800;
/** Nine digits, and a varint of five bytes. */
const FIRST_SLOT = 400_000_000;
const SLOT_MS = 400;
const TICK_MS = 10;
const FINAL_BEHIND_SLOTS = 32;
/** Bytes that may wait in the socket. A server holds back then. */
const WAITING_BYTES_MAX = 8 * 1024 * 1024;
const HTTP2_WINDOW_BYTES = 16 * 1024 * 1024;
/** Subscriptions of a client come at once. */
const SUBSCRIBED_AFTER_MS = 500;
const LOCALHOST = '127.0.0.1';
const FIRST_VERSION = 500_000_000;

/** Where the frames go: a gRPC call, or the socket of a WebSocket. */
interface Sink {
  readonly writableLength: number;
  write(bytes: Buffer): unknown;
  destroy(): unknown;
}

class Sender {
  readonly #net: RunningLocalnet;
  readonly #recording: Recording;
  readonly signatures = new SentSignatures();
  #rate: Rate = { accountsPerSecond: 0, transactionsPerSecond: 0 };
  #connection: Connection | null = null;
  slot = FIRST_SLOT;

  constructor(net: RunningLocalnet, recording: Recording) {
    this.#net = net;
    this.#recording = recording;
    setInterval(() => this.#connection?.tick(this.#rate), TICK_MS);
    setInterval(() => this.#nextSlot(), SLOT_MS);
  }

  get counts(): SenderCounts {
    return this.#connection?.counts ?? { accounts: 0, transactions: 0, waiting: 0 };
  }

  set rate(rate: Rate) {
    this.#rate = rate;
  }

  /** Cuts the connection. */
  drop(): void {
    this.#connection?.drop();
    this.#connection = null;
  }

  connect(wire: Wire, sink: Sink, announce: (slot: number) => Buffer): void {
    const frames = framesOf(this.#recording, wire);
    this.#connection = new Connection({ sender: this, frames, wire, sink, announce });
  }

  #nextSlot(): void {
    this.#connection?.endSlot();
    this.slot += 1;
  }

  /** The block of a slot, empty: the stream has its contents. */
  block(slot: number): StoredBlock {
    const blockTime = Math.floor(Date.now() / 1000);
    const hashes = { blockhash: hashOf(slot), previousBlockhash: hashOf(slot - 1) };
    return { slot, parentSlot: slot - 1, height: slot, blockTime, ...hashes, transactions: [] };
  }

  get lookups() {
    return this.#net.ledger.lookups;
  }
}

interface Frames {
  readonly users: readonly Frame[];
  readonly others: readonly (readonly Frame[])[];
  readonly transactions: readonly (readonly Frame[])[];
}

function framesOf({ users, others, transactions }: Recording, wire: Wire): Frames {
  const accounts = (states: Recording['users']) => states.map(wire.account).filter((frame) => frame !== null);
  return {
    users: accounts(users),
    others: others.map(accounts).filter((frames) => frames.length > 0),
    transactions: transactions.map(wire.transaction).filter((frames) => frames.length > 0),
  };
}

interface ConnectionParts {
  readonly sender: Sender;
  readonly frames: Frames;
  readonly wire: Wire;
  readonly sink: Sink;
  /** The message at the end of a slot. */
  announce(slot: number): Buffer;
}

/** Each slot begins with a new state of every market, oracle and order account, as a node sends them; the rest are users. */
class Connection {
  readonly #parts: ConnectionParts;
  #atMs = performance.now();
  #dueAccounts = 0;
  #dueTransactions = 0;
  #accounts = 0;
  #transactions = 0;
  #users = 0;
  #slots = 0;
  #others: Frame[] = [];
  #version = FIRST_VERSION;
  #signature = signatureOf(0);

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    parts.sink.write(parts.announce(parts.sender.slot));
  }

  get counts(): SenderCounts {
    const waiting = Math.max(0, Math.floor(this.#dueAccounts) - this.#accounts);
    return { accounts: this.#accounts, transactions: this.#transactions, waiting };
  }

  tick({ accountsPerSecond, transactionsPerSecond }: Rate): void {
    const nowMs = performance.now();
    this.#dueAccounts += (accountsPerSecond * (nowMs - this.#atMs)) / 1000;
    this.#dueTransactions += (transactionsPerSecond * (nowMs - this.#atMs)) / 1000;
    this.#atMs = nowMs;
    if (this.#parts.sink.writableLength < WAITING_BYTES_MAX) this.#send();
  }

  drop(): void {
    this.#parts.sink.destroy();
  }

  endSlot(): void {
    const { sender, frames, sink, announce } = this.#parts;
    sink.write(announce(sender.slot));
    this.#slots += 1;
    this.#others = frames.others.flatMap((states) => states[this.#slots % states.length] ?? []);
  }

  #send(): void {
    const chosen: { readonly frame: Frame; readonly version: number; readonly signature: Signature }[] = [];
    let bytes = 0;
    const add = (frame: Frame): void => {
      chosen.push({ frame, version: this.#version++, signature: this.#signature });
      bytes += frame.bytes.length;
    };
    const { sender, frames, wire, sink } = this.#parts;
    const each = (this.#dueAccounts - this.#accounts) / Math.max(1, this.#dueTransactions - this.#transactions);
    while (this.#accounts < Math.floor(this.#dueAccounts) || this.#transactions < Math.floor(this.#dueTransactions)) {
      if (bytes > WAITING_BYTES_MAX) break;
      if (this.#transactions < Math.floor(this.#dueTransactions)) {
        this.#signature = sender.signatures.next(sender.slot);
        for (const frame of frames.transactions[this.#transactions % frames.transactions.length] ?? []) add(frame);
        this.#transactions += 1;
      }
      for (let written = 0; written < each && this.#accounts < Math.floor(this.#dueAccounts); written++) {
        const frame = this.#others.pop() ?? frames.users[this.#users++ % frames.users.length];
        if (frame) add(frame);
        this.#accounts += 1;
      }
    }
    if (bytes === 0) return;
    const all = Buffer.allocUnsafe(bytes);
    let at = 0;
    for (const { frame, version, signature } of chosen) {
      at = wire.write(frame, all, at, { slot: sender.slot, version, signature });
    }
    sink.write(all);
  }
}

const hashOf = (slot: number): string => `Sender${String(slot).replaceAll('0', 'z')}`;

async function listen(server: { listen(port: number, host: string, done: () => void): unknown; address(): unknown }) {
  await new Promise<void>((resolve) => server.listen(0, LOCALHOST, resolve));
  return `${LOCALHOST}:${(server.address() as AddressInfo).port}`;
}

function serveGrpc(sender: Sender, net: RunningLocalnet) {
  const server = createHttp2Server({ settings: { initialWindowSize: HTTP2_WINDOW_BYTES } });
  const { SubscribeRequest } = geyserMessages();
  const announce = (slot: number): Buffer => {
    const block = encodeBody({ kind: 'blockMeta', slot, block: sender.block(slot) }, sender.lookups);
    return grpcMessage(withFilters(['blocks'], block));
  };
  const subscribe = (stream: ServerHttp2Stream): void => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' });
    let received = Buffer.alloc(0);
    let isOpen = false;
    stream.on('data', (part: Buffer) => {
      received = Buffer.concat([received, part]);
      const length = received.length < 5 ? Number.POSITIVE_INFINITY : received.readUInt32BE(1);
      if (isOpen || received.length < 5 + length) return;
      isOpen = true;
      sender.connect(grpcWire(SubscribeRequest.decode(received.subarray(5, 5 + length)), net), stream, announce);
    });
    stream.on('error', () => {});
  };
  server.on('stream', (stream, headers) => {
    if (headers[':path'] === '/geyser.Geyser/Subscribe') subscribe(stream);
    else {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' }, { endStream: true });
    }
  });
  return server;
}

function announcer(topics: readonly PubSubTopic[]): (slot: number) => Buffer {
  const subscription = topics.find(({ topic }) => topic.kind === 'slot')?.id ?? 0;
  return (slot) =>
    notification('slotNotification', `{"parent":${slot},"root":${slot - 1},"slot":${slot + 1}}`, subscription);
}

/** The library reads requests and writes answers. Notifications are written past it, each a whole frame. */
function servePubSub(sender: Sender): Server {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    sockets.handleUpgrade(request, socket, head, (client) => {
      const topics: PubSubTopic[] = [];
      const begin = () => sender.connect(pubsubWire(topics), socket, announcer(topics));
      let beginning: NodeJS.Timeout | undefined;
      client.on('message', (text) => {
        const { id, method, params } = JSON.parse(String(text)) as { id: number; method: string; params: unknown[] };
        // Libraries also send pings.
        if (!method.endsWith('Subscribe')) return;
        const number = topics.length + 1;
        topics.push({
          id: number,
          topic: subscriptionRequest(method.replace('Subscribe', '') as TopicKind, params).topic,
        });
        client.send(JSON.stringify({ jsonrpc: '2.0', id, result: number }));
        clearTimeout(beginning);
        beginning = setTimeout(begin, SUBSCRIBED_AFTER_MS);
      });
      client.on('error', () => {});
    });
  });
  return server;
}

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The answer to a call that the stream decides; undefined for all others. */
function ownAnswer(sender: Sender, { method, params }: Call): unknown {
  const [first, second] = params as [unknown, { before?: string; limit?: number } | undefined];
  switch (method) {
    case 'getSlot': {
      const isFinal = (first as { commitment?: string } | undefined)?.commitment === 'finalized';
      return sender.slot - (isFinal ? FINAL_BEHIND_SLOTS : 0);
    }
    case 'getBlockTime':
      return Math.floor(Date.now() / 1000);
    case 'getSignaturesForAddress':
      return sender.signatures.page(second?.before, second?.limit ?? 1_000);
    case 'getSignatureStatuses':
      return {
        context: { slot: sender.slot },
        value: (first as string[]).map((text) => sender.signatures.status(text)),
      };
    default:
      return undefined;
  }
}

/** Writes a prebuilt answer as fast as the reader takes it. */
async function stream(response: ServerResponse, parts: Iterable<string | Buffer>): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  for (const part of parts) if (!response.write(part)) await once(response, 'drain');
  response.end();
}

function serveRpc(sender: Sender, net: RunningLocalnet, users: ManyUsers | null, hasPages: boolean): Server {
  const noPages = ({ id }: Call) =>
    JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
  const usersOf = (call: Call): Iterable<string | Buffer> | null => {
    if (users === null || !users.asksFor(call.params)) return null;
    if (call.method === 'getProgramAccountsV2' && hasPages) return users.page(call, sender.slot);
    return call.method === 'getProgramAccounts' ? users.answer(call, sender.slot) : null;
  };
  const forward = async (call: Call): Promise<string> => {
    // The cluster stands still, far behind the slots of the stream.
    const params = call.params.map((one) =>
      typeof one === 'object' && one !== null && !Array.isArray(one) ? { ...one, minContextSlot: undefined } : one,
    );
    const body = JSON.stringify({ jsonrpc: '2.0', ...call, params });
    const answer = await fetch(net.rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return (await answer.text()).replace(/("context":\{[^}]*"slot":)\d+/, `$1${sender.slot}`);
  };
  const one = async (call: Call): Promise<string> => {
    if (call.method === 'getProgramAccountsV2' && !hasPages) return noPages(call);
    const result = ownAnswer(sender, call);
    return result === undefined ? forward(call) : JSON.stringify({ jsonrpc: '2.0', id: call.id, result });
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const calls = JSON.parse(Buffer.concat(parts).toString()) as Call | Call[];
    const prebuilt = Array.isArray(calls) ? null : usersOf(calls);
    if (prebuilt !== null) return stream(response, prebuilt);
    const text = Array.isArray(calls) ? `[${(await Promise.all(calls.map(one))).join(',')}]` : await one(calls);
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  };
  return createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
}

const userHead = Buffer.from(loadDefinition('velocity').programs[0]?.accounts.get('User')?.discriminator ?? []);
const net = await startLocalnet({
  ...{ rpcPort: 0, wsPort: 0, speed: 0, profile: 'calm', seed: 1, activity: 4 },
  accounts: TRADING_ACCOUNTS,
  lags: { processed: 0, confirmed: 0, finalized: 0 },
});
const { users = 0, hasPages = true } = JSON.parse(process.argv[2] ?? '{}') as SenderOptions;
const recording = await recordExchange(net, userHead, USER_STATES);
const sender = new Sender(net, recording);
const many =
  users === 0
    ? null
    : manyUsers(
        recording.users.map(({ data }) => data),
        users,
      );
const rpc = serveRpc(sender, net, many, hasPages);
const [pubsub, grpc] = [servePubSub(sender), serveGrpc(sender, net)];
const ready: SenderReady = {
  rpcUrl: `http://${await listen(rpc)}`,
  wsUrl: `ws://${await listen(pubsub)}`,
  grpcUrl: `http://${await listen(grpc)}`,
};
process.on('message', (command: SenderCommand) => {
  if (command === 'counts') process.send?.(sender.counts);
  else if (command === 'drop') sender.drop();
  else sender.rate = command;
});
process.on('disconnect', () => process.exit(0));
process.send?.(ready);
