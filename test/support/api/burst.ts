// A process that connects many clients at once: `node burst.ts FOLDER PORT COUNT`. It opens a connection to the REST port
// and waits for the file `go`. Then it opens COUNT WebSockets there, sends another REST request and writes the file `sent`,
// without waiting for answers.

import { existsSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';

const [folder = '', port, count] = process.argv.slice(2);
const LOOK_MS = 5;
const REQUEST = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';
const UPGRADE =
  'GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n';

function open(to: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: to }, () => resolve(socket));
    socket.once('error', reject);
  });
}

const polite = await open(Number(port));
await new Promise((resolve) => polite.once('data', resolve).write(REQUEST));
writeFileSync(path.join(folder, 'ready'), '');
while (!existsSync(path.join(folder, 'go'))) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
const sockets = await Promise.all(Array.from({ length: Number(count) }, () => open(Number(port))));
for (const socket of sockets) socket.write(UPGRADE);
await new Promise((resolve) => polite.write(REQUEST, resolve));
writeFileSync(path.join(folder, 'sent'), '');
// Runs until the test kills it.
setInterval(() => {}, 1000);
