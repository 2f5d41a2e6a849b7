// The work of the predecessor's WebSocket server, on the same `ws` library. It sends whole books only, with a new envelope for
// each subscriber, deflates each message for each socket, and has a timer per socket. Books arrive as lines on standard input
// instead of a cache's channels. `/l2` parses the cached book, cuts it and serialises it again. Prints one JSON line with its
// port.

import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { type WebSocket, WebSocketServer } from 'ws';

const HEARTBEAT_MS = 5_000;
const BUFFER_CHECK_MS = 10_000;
const MAX_BUFFERED_BYTES = 300_000;
const MAX_DEPTH = 100;

const subscribers = new Map<string, Set<WebSocket>>();
const lastSlot = new Map<string, number>();
const cache = new Map<string, string>();

const http = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const cached = cache.get(`l2_${url.searchParams.get('marketName') ?? ''}`);
  if (url.pathname !== '/l2' || !cached) {
    response.writeHead(404).end();
    return;
  }
  const book = JSON.parse(cached) as { bids: unknown[]; asks: unknown[] };
  const depth = Math.min(Number.parseInt(url.searchParams.get('depth') ?? String(MAX_DEPTH), 10), MAX_DEPTH);
  book.bids = book.bids.slice(0, depth);
  book.asks = book.asks.slice(0, depth);
  const body = JSON.stringify(book);
  response.writeHead(200, { 'content-length': Buffer.byteLength(body) }).end(body);
});
const server = new WebSocketServer({ server: http, path: '/ws', perMessageDeflate: true });

server.on('connection', (socket) => {
  const heartbeat = setInterval(() => socket.send(JSON.stringify({ channel: 'heartbeat' })), HEARTBEAT_MS);
  const check = setInterval(() => {
    if (socket.bufferedAmount > MAX_BUFFERED_BYTES) socket.close(1008, 'Buffer overflow');
  }, BUFFER_CHECK_MS);
  const held = new Set<string>();
  socket.on('message', (bytes) => {
    const { type, channel, market, marketType, grouping } = JSON.parse(String(bytes));
    if (type !== 'subscribe') return;
    const name = `${channel}_${String(market).toLowerCase()}_grouped_${grouping ?? 1}`;
    held.add(name);
    const holders = subscribers.get(name) ?? new Set();
    subscribers.set(name, holders);
    holders.add(socket);
    const message = `Subscribe received for channel: ${channel}, market: ${market}, marketType: ${marketType}`;
    socket.send(JSON.stringify({ message }));
    const cached = cache.get(name);
    if (cached) socket.send(JSON.stringify({ channel: name, data: cached }));
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    clearInterval(heartbeat);
    clearInterval(check);
    for (const name of held) subscribers.get(name)?.delete(socket);
  });
});

createInterface({ input: process.stdin }).on('line', (line) => {
  const { channel, message } = JSON.parse(line) as { channel: string; message: string };
  cache.set(channel, message);
  const { slot } = JSON.parse(message) as { slot: number };
  if (slot < (lastSlot.get(channel) ?? 0)) return;
  lastSlot.set(channel, slot);
  for (const socket of subscribers.get(channel) ?? []) {
    if (socket.readyState !== socket.OPEN || socket.bufferedAmount > MAX_BUFFERED_BYTES) continue;
    socket.send(JSON.stringify({ channel, data: message }));
  }
});
process.stdin.on('end', () => process.exit(0));

http.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  const address = http.address();
  process.stdout.write(`${JSON.stringify({ port: typeof address === 'object' ? address?.port : 0 })}\n`);
});
