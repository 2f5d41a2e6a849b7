// Ports for servers of tests.

import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/** Below the ports that Linux gives to clients and to servers that ask for any (32768 and above). */
const PORTS = { first: 20_000, count: 12_000 };

/** Free loopback ports. Only another call of this function could take one before its use; the start then fails. */
export async function freePorts(count: number): Promise<[number, ...number[]]> {
  const servers: Server[] = [];
  const ports: number[] = [];
  while (ports.length < count) {
    const port = PORTS.first + randomInt(PORTS.count);
    const server = await listening(port);
    if (server === null) continue;
    servers.push(server);
    ports.push(port);
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  const [first, ...rest] = ports;
  if (first === undefined) throw new Error('no free port');
  return [first, ...rest];
}

/** Null when the port is taken. */
function listening(port: number): Promise<Server | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
