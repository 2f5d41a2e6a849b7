// A process of WebSocket clients, controlled by crowd.ts over IPC. It runs apart from the measured server, whose CPU seconds
// count.

import { nowMs } from './clock.ts';
import type { Answer, Command } from './crowd.ts';
import { RawSocket } from './raw-socket.ts';
import { SampleRows } from './sample-rows.ts';

/** Payload of `{"channel":"heartbeat"}`, which no server deflates; nothing else is as long. */
const HEARTBEAT_BYTES = 23;
const [DIFF, STREAM, SEQ, PREV_SEQ, SLOT, MARKET] = ['{"diff', '"streamId', '"seq', '"prevSeq', '"slot', 'perp_'].map(
  (name) => Buffer.from(name),
) as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];
/** The text between a member's name and its number. */
const BETWEEN = new Set(Buffer.from('\\":'));
const ZERO = 0x30;
/** Third byte of a diff; all other messages begin with their channel. */
const D = 'd'.charCodeAt(0);
/** Handshakes at the same time. */
const OPENING_AT_ONCE = 200;

const clients: RawSocket[] = [];
const received: number[] = [];
const samples = new SampleRows();
/** Markets by the number that diffs have instead of the name; all clients of a process use one server. */
const markets = new Map<number, number>();
const closes: Record<string, number> = {};
let frames = 0;
let diffs = 0;
let bytes = 0;
let goal = Number.POSITIVE_INFINITY;
let reached: () => void = () => {};
/** Ends the wait for messages: a client that is gone gets none. */
let lost: (error: Error) => void = () => {};
let behind = 0;
let everybodyServed: () => void = () => {};

function counted(index: number, due: number, size: number): void {
  bytes += size;
  frames += 1;
  received[index] = (received[index] ?? 0) + 1;
  if (received[index] === due) {
    behind -= 1;
    if (behind === 0) everybodyServed();
  }
  if (frames >= goal) {
    goal = Number.POSITIVE_INFINITY;
    reached();
  }
}

/** Opens sockets, sends each the same messages and waits until each has received `framesEach` messages. */
async function open(command: Extract<Command, { do: 'open' }>): Promise<void> {
  const { host, port, count, deflate, saysInTurn, framesEach, sampleEvery } = command;
  const first = received.length;
  behind = framesEach > 0 ? count : 0;
  const served = new Promise<void>((resolve, reject) => {
    everybodyServed = resolve;
    lost = reject;
    if (behind === 0) resolve();
  });
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const index = first + next++;
      const sampled = sampleEvery > 0 && index % sampleEvery === 0;
      received[index] = 0;
      const client = await RawSocket.open({
        host,
        port,
        deflate,
        wantsText: sampled,
        onFrame: (size, payload, isDeflated, third) => {
          if (size === HEARTBEAT_BYTES && !isDeflated) return;
          counted(index, framesEach, size);
          if (third === D && !isDeflated) diffs += 1;
          if (sampled && payload) sample(index, payload);
        },
        onClose: (code) => {
          closes[String(code)] = (closes[String(code)] ?? 0) + 1;
          lost(new Error(`a client was closed with ${code} while its messages were awaited`));
        },
      });
      clients.push(client);
      client.sendAll(saysInTurn[index % saysInTurn.length] ?? []);
    }
  };
  await Promise.all(Array.from({ length: Math.min(OPENING_AT_ONCE, count) }, worker));
  await served;
  lost = () => {};
}

/** Market, sequences and arrival of a message. */
function sample(client: number, payload: Buffer): void {
  const atMs = nowMs();
  const market = numberAfter(payload, MARKET);
  // Diffs name their stream by the number that its snapshot gave.
  const stream = numberAfter(payload, payload.indexOf(DIFF) === 0 ? DIFF : STREAM);
  if (!Number.isNaN(market)) markets.set(stream, market);
  const seq = numberAfter(payload, SEQ);
  const prevSeq = numberAfter(payload, PREV_SEQ);
  samples.add([client, markets.get(stream) ?? Number.NaN, seq, prevSeq, numberAfter(payload, SLOT), atMs]);
}

/** The number that follows a member's name, whether its message is encoded once or twice; NaN without it. */
function numberAfter(payload: Buffer, name: Buffer): number {
  const found = payload.indexOf(name);
  if (found < 0) return Number.NaN;
  let at = found + name.length;
  while (BETWEEN.has(payload[at] ?? 0)) at += 1;
  let value = Number.NaN;
  for (;;) {
    const digit = (payload[at++] ?? 0) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return value;
    value = (Number.isNaN(value) ? 0 : value) * 10 + digit;
  }
}

async function obey(command: Command): Promise<Omit<Answer, 'id'>> {
  if (command.do === 'open') await open(command);
  if (command.do === 'mark') {
    frames = 0;
    diffs = 0;
    bytes = 0;
    samples.take();
  }
  if (command.do === 'await' && frames < command.frames) {
    await new Promise<void>((resolve, reject) => {
      goal = command.frames;
      reached = resolve;
      lost = reject;
    });
    lost = () => {};
  }
  if (command.do === 'close') for (const client of clients.splice(0)) client.end();
  if (command.do === 'say') for (const client of clients) client.sendAll(command.says);
  const taken = command.do === 'counts' ? samples.take() : new Float64Array();
  return { frames, diffs, bytes, closes, samples: taken };
}

process.on('message', ({ id, command }: { id: number; command: Command }) => {
  obey(command).then(
    (answer) => process.send?.({ id, ...answer }),
    (error: unknown) =>
      process.send?.({ id, frames, diffs, bytes, closes, samples: new Float64Array(), error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
