// Sends generated inputs to a running order-book server and says what it answered that it must not.

import { Agent, request } from 'node:http';
import fc from 'fast-check';
import { ORDERBOOK_ERRORS } from '../../api/errors.ts';
import { RawSocket } from '../bench/harness/raw-socket.ts';
import { type RestInput, restInput, type SocketInput, socketInput } from './inputs.ts';

const AT_ONCE = 16;
const CHUNK = 1_000;
/** Messages of the server looked at after one input; a book with many markets may bring more. */
const HEARD_KEPT = 50;
const PROBE = JSON.stringify({ type: 'unsubscribe', channel: 'still-there', market: '', marketType: '' });
const PROBE_TIMEOUT_MS = 20_000;
/** A server says this only of itself: no input may lead there. */
const UNSPECIFIED = ORDERBOOK_ERRORS.internal.text;
const SPECIFIED = new Set<string>(
  Object.values(ORDERBOOK_ERRORS).flatMap(({ status, text }) => (status >= 500 && text !== UNSPECIFIED ? [text] : [])),
);

export interface InputsResult {
  readonly inputs: number;
  /** REST answers by status, socket closes by code. */
  readonly answers: Readonly<Record<string, number>>;
  /** What must not happen, with the input that led to it; the first few. */
  readonly faults: readonly string[];
}

const FAULTS_KEPT = 10;

class Tally {
  readonly answers: Record<string, number> = {};
  readonly faults: string[] = [];
  inputs = 0;

  answered(kind: string): void {
    this.answers[kind] = (this.answers[kind] ?? 0) + 1;
  }

  fault(what: string, input: unknown): void {
    if (this.faults.length < FAULTS_KEPT) this.faults.push(`${what}: ${JSON.stringify(input).slice(0, 2_000)}`);
  }
}

/** Inputs of one kind in chunks, the same for the same seed. */
function* generated<T>(arbitrary: fc.Arbitrary<T>, count: number, seed: number): Generator<T> {
  for (let made = 0; made < count; made += CHUNK) {
    yield* fc.sample(arbitrary, { numRuns: Math.min(CHUNK, count - made), seed: seed + made });
  }
}

/** REST requests, several at a time over kept connections. */
export async function runRestInputs(url: string, count: number, seed: number): Promise<InputsResult> {
  const tally = new Tally();
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const inputs = generated(restInput, count, seed);
  const worker = async (): Promise<void> => {
    for (const input of inputs) {
      tally.inputs += 1;
      const { status, body } = await send(url, agent, input);
      tally.answered(String(status));
      if (status >= 500 && !(input.method === 'HEAD' || SPECIFIED.has(body))) tally.fault(`${status} ${body}`, input);
      if (status === 0) tally.fault(`no answer (${body})`, input);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  agent.destroy();
  return tally;
}

/** Status 0 when the connection broke; the body then says how. Error bodies are read whole, others are thrown away. */
function send(url: string, agent: Agent, input: RestInput): Promise<{ status: number; body: string }> {
  const { method, path, headers, body } = input;
  const carries = body !== null && method !== 'GET' && method !== 'HEAD';
  return new Promise((resolve) => {
    const sent = request(`${url}/`, {
      method,
      path,
      agent,
      headers: { ...headers, ...(carries ? { 'content-length': Buffer.byteLength(body) } : {}) },
    });
    sent.on('response', (response) => {
      const status = response.statusCode ?? 0;
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => {
        if (status >= 500) parts.push(part);
      });
      response.on('end', () => resolve({ status, body: Buffer.concat(parts).toString() }));
      response.on('error', (error) => resolve({ status: 0, body: String(error) }));
    });
    sent.on('error', (error) => resolve({ status: 0, body: String(error) }));
    sent.end(carries ? body : undefined);
  });
}

/** Socket messages one by one, each followed by a question that tells whether it is still answered; on several sockets. */
export async function runSocketInputs(url: string, count: number, seed: number): Promise<InputsResult> {
  const tally = new Tally();
  const inputs = generated(socketInput, count, seed);
  const worker = async (): Promise<void> => {
    let talk: Conversation | null = null;
    for (const input of inputs) {
      tally.inputs += 1;
      talk ??= await Conversation.open(url);
      const end = await talk.say(input);
      tally.answered(end);
      const unsound = talk.heard.splice(0).filter((text) => !isSound(text));
      if (unsound.length > 0) tally.fault('answer', { unsound, input: readable(input) });
      if (end === SILENT) tally.fault('no answer any more', readable(input));
      if (end !== OPEN) talk.end();
      if (end !== OPEN) talk = null;
    }
    talk?.end();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return tally;
}

const OPEN = 'open';
const SILENT = 'silent';

/** One connection, kept for as long as the server keeps it. */
class Conversation {
  readonly heard: string[] = [];
  #client: RawSocket | null = null;
  #closed: string | null = null;
  #over: (how: string) => void = () => {};

  static async open(url: string): Promise<Conversation> {
    const { hostname: host, port } = new URL(url);
    const talk = new Conversation();
    talk.#client = await RawSocket.open({
      host,
      port: Number(port),
      wantsText: true,
      onFrame: (_bytes, payload) => {
        const text = payload?.toString() ?? '';
        if (text.startsWith('{"channel":"still-there"')) talk.#over(OPEN);
        else if (talk.heard.length < HEARD_KEPT) talk.heard.push(text);
      },
      onClose: (code) => {
        talk.#closed = `closed ${code ?? 'without a code'}`;
        talk.#over(talk.#closed);
      },
    });
    return talk;
  }

  /** How it ended: still open, closed with a code, or silent. */
  async say({ bytes, isText }: SocketInput): Promise<string> {
    if (this.#closed !== null) return this.#closed;
    const end = new Promise<string>((resolve) => {
      this.#over = resolve;
    });
    this.#client?.sendFrame(bytes, isText);
    this.#client?.send(PROBE);
    const timer = setTimeout(() => this.#over(SILENT), PROBE_TIMEOUT_MS);
    const how = await end;
    clearTimeout(timer);
    return how;
  }

  end(): void {
    this.#client?.end();
  }
}

/** Whatever the input, answers are JSON objects that name a channel or are an acknowledgement. */
function isSound(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && ('channel' in value || 'message' in value);
  } catch {
    return false;
  }
}

function readable({ bytes, isText }: SocketInput): string {
  return isText ? bytes.toString().slice(0, 200) : bytes.toString('hex').slice(0, 200);
}
