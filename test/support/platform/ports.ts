// Ports for servers of tests.

import { createServer } from 'node:net';

/** Free loopback ports. Another process could take one before its use, which is rare; the start then fails. */
export async function freePorts(count: number): Promise<[number, ...number[]]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports: number[] = [];
  for (const server of servers) {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address !== null && typeof address === 'object') ports.push(address.port);
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  const [first, ...rest] = ports;
  if (first === undefined) throw new Error('no free port');
  return [first, ...rest];
}
