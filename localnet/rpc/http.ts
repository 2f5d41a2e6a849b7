// JSON-RPC over HTTP POST. Large answers are written in pieces, so that one caller cannot fill memory or delay slots.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout, setImmediate as turn } from 'node:timers/promises';
import type { Gate } from '../faults/http.ts';
import { answer, type Methods } from './dispatch.ts';
import type { Post } from './oracle-feed.ts';

/** Larger than a node's limit (50 KiB), because tests inject accounts of any size. */
const REQUEST_BYTES_MAX = 32 * 1024 * 1024;
/** Text collected before each write to the socket. */
const CHUNK_CHARACTERS = 256 * 1024;
/** Longest run of writing one answer. Compressing accounts takes time and adds little text. */
const STRETCH_MS = 10;

const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, GET, OPTIONS',
  'access-control-allow-headers': '*',
  'access-control-max-age': '86400',
};

/** Path of JSON-RPC that no fault touches, so that tests read the truth while the node has faults. It accepts only POST. */
export const FAULTLESS_PATH = '/faultless';

interface HttpParts {
  /** Calls of the node, with its faults. A POST to a path that is not named below is such a call. */
  readonly methods: Methods;
  /** Faults on whole answers of these calls. */
  readonly gate: Gate;
  /** Calls of `FAULTLESS_PATH`. */
  readonly faultlessMethods: Methods;
  /** Operations of other services by path. */
  readonly posts: ReadonlyMap<string, Post>;
}

export function createHttpServer(parts: HttpParts): Server {
  const server = createServer((request, response) => {
    serve(request, response, parts).catch(() => response.destroy());
  });
  // One second more than web3.js keeps an idle connection.
  server.keepAliveTimeout = 20_000;
  return server;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { methods, gate, faultlessMethods, posts }: HttpParts,
): Promise<void> {
  for (const [name, value] of Object.entries(CORS)) response.setHeader(name, value);
  if (request.method === 'OPTIONS') return end(response, 204, '');
  if (request.method === 'GET' && request.url === '/health') return end(response, 200, 'ok');
  if (request.method !== 'POST') {
    return end(response, 405, 'Used HTTP Method is not allowed. POST or OPTIONS is required\n');
  }
  if (!(request.headers['content-type'] ?? '').toLowerCase().startsWith('application/json')) {
    return end(response, 415, 'Supplied content type is not allowed. Content-Type: application/json is required\n');
  }
  const body = await read(request);
  if (body === null) return end(response, 413, 'Request body too large\n');
  const post = posts.get(request.url ?? '');
  if (post) {
    const { status, body: answered } = post(body);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answered));
    return;
  }
  const isFaultless = request.url === FAULTLESS_PATH;
  const disturbance = isFaultless ? null : gate(body);
  if (disturbance?.kind === 'refuse') {
    const { status, headers, body: refusal } = disturbance;
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(refusal);
    return;
  }
  if (disturbance?.kind === 'hangUp') {
    response.destroy();
    return;
  }
  if (disturbance?.kind === 'slow') await setTimeout(disturbance.ms, undefined, { ref: false });
  const answered = await answer(body, isFaultless ? faultlessMethods : methods);
  response.setHeader('content-type', 'application/json; charset=utf-8');
  if (answered === null) response.writeHead(200).end();
  else if (disturbance?.kind === 'cut') writeCut(response, [...answered].join(''), disturbance.share);
  else await write(response, answered);
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
}

/** The body as text, or null when it exceeds the limit. */
async function read(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= REQUEST_BYTES_MAX) chunks.push(chunk);
  }
  return length > REQUEST_BYTES_MAX ? null : Buffer.concat(chunks).toString('utf8');
}

async function write(response: ServerResponse, pieces: Iterable<string>): Promise<void> {
  response.statusCode = 200;
  let chunk = '';
  let sinceMs = performance.now();
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < CHUNK_CHARACTERS && performance.now() - sinceMs < STRETCH_MS) continue;
    if (!response.write(chunk)) await drained(response);
    if (response.destroyed) return;
    chunk = '';
    await turn();
    sinceMs = performance.now();
  }
  response.end(chunk);
}

/** Sends a share of the answer and closes the connection, as a proxy does that gives up. */
function writeCut(response: ServerResponse, text: string, share: number): void {
  response.setHeader('content-length', Buffer.byteLength(text));
  response.write(text.slice(0, Math.floor(text.length * share)), () => response.destroy());
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off('drain', settle);
      response.off('close', settle);
      resolve();
    };
    response.once('drain', settle);
    response.once('close', settle);
  });
}
