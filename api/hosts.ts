// Addresses as a client writes them.

import type { Server } from 'node:net';

/** A host that a client can connect to, for one that means every interface. */
export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** The reachable host as it stands in a URL. */
export function urlHost(host: string): string {
  const name = reachable(host);
  return name.includes(':') ? `[${name}]` : name;
}

/** The port a listening server got. */
export function boundPort(address: ReturnType<Server['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('not listening on a TCP port');
  return address.port;
}
