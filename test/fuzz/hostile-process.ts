// Hostile clients, commanded by hostile.ts over IPC.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientFrame, RawSocket } from '../bench/harness/raw-socket.ts';
import { seededRandom } from '../support/platform/chance.ts';
import type { HostileCommand, HostileKind, HostileOptions, HostileState } from './hostile.ts';

const OPENING_AT_ONCE = 100;
const MESSAGES_PER_WRITE = 100;
/** Attempts of a malformed client, each on a new connection. */
const MALFORMED_TRIES = 5;
/** Books of other depths that one client requests. */
const DEPTHS_ASKED = 40;
const TRY_TIMEOUT_MS = 500;
const JUNK_MAX_BYTES = 400;

const closes: Record<string, number> = {};
let refused = 0;
let returns = 0;
const slow: RawSocket[] = [];
const kept = new Set<RawSocket | Socket>();
/** Start of the current attack, on the monotonic clock. */
let beganMs = 0;

type Attack = (address: { host: string; port: number }, options: HostileOptions, random: () => number) => Promise<void>;

const onClose = (code: number | null): void => {
  closes[String(code)] = (closes[String(code)] ?? 0) + 1;
};

const ATTACKS: Record<HostileKind, Attack> = {
  /** Requests data that it never reads. */
  slow: async (address, { asks }) => {
    const client = await RawSocket.open({ ...address, onClose });
    slow.push(client);
    client.socket.pause();
    client.sendAll(asks);
  },
  /** Half of them upgrade and send nothing, half never finish the upgrade. */
  silent: async (address, _options, random) => {
    if (random() < 0.5) {
      kept.add(await RawSocket.open({ ...address, onClose }));
      return;
    }
    const socket = connect(address);
    socket.on('error', () => {});
    socket.on('close', () => onClose(null));
    kept.add(socket);
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write('GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: webs');
  },
  /** Sends as fast as its socket takes it, and reads. */
  flooding: async (address, options) => {
    const burst = Array.from({ length: MESSAGES_PER_WRITE }, (_, index) =>
      index === 0 ? (options.asks[0] ?? '') : `{"type":"junk","n":${index}}`,
    );
    await pourAgain(address, burst, options);
  },
  /** Requests the same book as fast as its socket takes it, and reads the answers. */
  replaying: async (address, options) => {
    await pourAgain(address, new Array<string>(MESSAGES_PER_WRITE).fill(options.asks[0] ?? ''), options);
  },
  /** Requests sequenced books of one market in more depths than the limit, and reads them all. */
  depths: async (address, { asks }, random) => {
    const client = await RawSocket.open({ ...address, onClose });
    kept.add(client);
    const book = { ...JSON.parse(asks[0] ?? '{}'), channel: 'book', checksum: 100 };
    client.sendAll(
      Array.from({ length: DEPTHS_ASKED }, () => JSON.stringify({ ...book, depth: 1 + Math.floor(random() * 1000) })),
    );
  },
  /** Breaks the protocol: the request, the frames, the text. */
  malformed: async (address, _options, random) => {
    for (let tried = 0; tried < MALFORMED_TRIES; tried += 1) {
      const size = 1 + Math.floor(random() * JUNK_MAX_BYTES);
      const junk = Buffer.from(Uint8Array.from({ length: size }, () => Math.floor(random() * 256)));
      if (random() < 0.3) await speakTo(connect(address), junk);
      else await breakFrames(address, junk, random);
    }
  },
};

/** Sends until the server closes the connection; with `comesBack` it then connects and sends again. */
async function pourAgain(
  address: { host: string; port: number },
  burst: readonly string[],
  { messages, comesBack }: HostileOptions,
): Promise<void> {
  const bytes = Buffer.concat(burst.map((text) => clientFrame(Buffer.from(text))));
  for (;;) {
    const client = await RawSocket.open({ ...address, onClose });
    kept.add(client);
    client.socket.once('close', () => kept.delete(client));
    for (let sent = 0; sent < messages && !client.socket.destroyed; sent += burst.length) {
      await new Promise<void>((resolve) => client.socket.write(bytes, () => resolve()));
    }
    if (!comesBack || performance.now() - beganMs + comesBack.afterMs > comesBack.forMs) return;
    // A client that the server did not close has sent everything, and stays.
    if (!client.socket.destroyed && (await staysOpen(client, comesBack.afterMs))) return;
    await sleep(comesBack.afterMs);
    returns += 1;
  }
}

/** True when a connection is still open after this time. */
async function staysOpen(client: RawSocket, forMs: number): Promise<boolean> {
  await Promise.race([once(client.socket, 'close'), sleep(forMs)]);
  return !client.socket.destroyed;
}

/** Sends bytes that are not a request and waits for the end. */
function speakTo(socket: Socket, junk: Buffer): Promise<void> {
  return new Promise((resolve) => {
    socket.on('error', () => {});
    socket.once('close', () => {
      onClose(null);
      resolve();
    });
    socket.setTimeout(TRY_TIMEOUT_MS, () => socket.destroy());
    socket.once('connect', () => socket.end(Buffer.concat([junk, Buffer.from('\r\n\r\n')])));
    socket.resume();
  });
}

async function breakFrames(address: { host: string; port: number }, junk: Buffer, random: () => number): Promise<void> {
  let ended: () => void = () => {};
  const end = new Promise<void>((resolve) => {
    ended = resolve;
  });
  const client = await RawSocket.open({
    ...address,
    onClose: (code) => {
      onClose(code);
      ended();
    },
  });
  const dice = random();
  if (dice < 0.25) client.socket.write(junk);
  else if (dice < 0.5) client.sendFrame(junk, true);
  else if (dice < 0.75) client.sendFrame(Buffer.alloc(65 * 1024, 'x'), true);
  else client.send('{"type":"subscribe","channel":{"toString":1},"market":[],"marketType":null}');
  const timer = setTimeout(() => client.end(), TRY_TIMEOUT_MS * random());
  await end;
  clearTimeout(timer);
}

async function attack(options: HostileOptions): Promise<void> {
  const { hostname: host, port } = new URL(options.url);
  const { clients, arriveOverMs = 0 } = options;
  beganMs = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < clients) {
      const random = seededRandom(options.seed + next);
      const dueMs = beganMs + (next++ / clients) * arriveOverMs;
      if (dueMs > performance.now()) await sleep(dueMs - performance.now());
      await ATTACKS[options.kind]({ host, port: Number(port) }, options, random).catch(() => {
        refused += 1;
      });
    }
  };
  // A returning client works until the end, so each needs a worker of its own.
  const workers = options.comesBack ? clients : OPENING_AT_ONCE;
  await Promise.all(Array.from({ length: workers }, worker));
}

async function obey(command: HostileCommand): Promise<HostileState> {
  if (command.do === 'attack') await attack(command.options);
  if (command.do === 'read') for (const client of slow) client.socket.resume();
  return { closes, refused, returns };
}

process.on('message', (command: HostileCommand) => {
  void obey(command).then((state) => process.send?.(state));
});
process.on('disconnect', () => process.exit(0));
