// Addresses of servers: where they listen, and how clients reach them.

import { createServer, type Server, type Socket } from 'node:net';

/** Means the loopback addresses of both families. */
const LOCALHOST = 'localhost';
const LOOPBACK = '127.0.0.1';
const LOOPBACK_V6 = '::1';
const ANY = '0.0.0.0';
const ANY_V6 = '::';
/** A port that is free on one address is nearly always free on the other as well. */
const PORT_TRIES = 10;
/** On Linux several sockets can listen at one address; the kernel distributes the connections. */
const CAN_SHARE_PORT = process.platform === 'linux';
/**
 * Node.js accepts one connection per listening socket and turn of the event loop. Eight sockets shorten a queue of thousands
 * of connections to an eighth of the turns; eight connections cost about a millisecond per turn.
 */
const SOCKETS_PER_ADDRESS = CAN_SHARE_PORT ? 8 : 1;
/** Waiting connections per socket. Clients retry any further ones after a second or more. */
const BACKLOG = 511;

/** A host that a client can connect to, for a listen address that means several. A socket on `::` accepts IPv4 as well. */
export function reachable(host: string): string {
  return host === LOCALHOST || host === ANY || host === ANY_V6 ? LOOPBACK : host;
}

/** The reachable host in URL form. */
export function urlHost(host: string): string {
  const name = reachable(host);
  return name.includes(':') ? `[${name}]` : name;
}

/** The port of a listening server. */
export function boundPort(address: ReturnType<Server['address']>): number {
  if (address === null || typeof address === 'string') throw new Error('not listening on a TCP port');
  return address.port;
}

export interface ListenPlaces {
  readonly first: string;
  /** Further addresses for the same port. */
  readonly others: readonly string[];
  /** 0 only when there is one address. */
  readonly port: number;
}

/**
 * Listen addresses for `host` and `port`. `localhost` means 127.0.0.1 and ::1, `::` every address of both families; a machine
 * without IPv6 gets their IPv4 part. For port 0 it picks a port that is free on every address.
 */
export async function listenPlaces(host: string, port: number): Promise<ListenPlaces> {
  if (host === ANY_V6) return { first: (await canListen(ANY_V6, 0)) ? ANY_V6 : ANY, others: [], port };
  if (host !== LOCALHOST || !(await canListen(LOOPBACK_V6, 0))) {
    return { first: host === LOCALHOST ? LOOPBACK : host, others: [], port };
  }
  return { first: LOOPBACK, others: [LOOPBACK_V6], port: port === 0 ? await freeOnBoth() : port };
}

/** Listen options of node:net. */
export interface ListenPlace {
  readonly host: string;
  readonly port: number;
  readonly backlog: number;
  readonly reusePort: boolean;
}

/**
 * Opens every address for a server. `listen` opens the first one; additional sockets pass their connections to the server.
 * Rejects when the port is taken on one address. The caller closes the server, which may listen already by then.
 */
export async function listenEverywhere(
  server: Server,
  places: ListenPlaces,
  listen: (place: ListenPlace) => Promise<unknown>,
): Promise<{ readonly port: number; close(): void }> {
  // Shared ports are also shared with other processes of this user, so this checks for those first.
  for (const host of [places.first, ...places.others]) await listenAlone(host, places.port);
  const shared = { backlog: BACKLOG, reusePort: CAN_SHARE_PORT };
  await listen({ ...shared, host: places.first, port: places.port });
  const port = boundPort(server.address());
  const listeners: Server[] = [];
  const close = (): void => {
    for (const listener of listeners) listener.close();
  };
  try {
    for (const host of [places.first, ...places.others]) {
      for (let count = host === places.first ? 1 : 0; count < SOCKETS_PER_ADDRESS; count += 1) {
        // The same socket options as in node:http.
        const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
          server.emit('connection', socket);
        });
        await listening(listener, { ...shared, host, port });
        listener.unref();
        listeners.push(listener);
      }
    }
  } catch (error) {
    close();
    throw error;
  }
  return { port, close };
}

function listening(server: Server, place: Partial<ListenPlace>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(place, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/** Listens briefly. Rejects when the port is taken. */
async function listenAlone(host: string, port: number): Promise<void> {
  const probe = createServer();
  await listening(probe, { host, port });
  await new Promise((resolve) => probe.close(resolve));
}

function canListen(host: string, port: number): Promise<boolean> {
  return listenAlone(host, port).then(
    () => true,
    () => false,
  );
}

async function freeOnBoth(): Promise<number> {
  for (let tries = 0; tries < PORT_TRIES; tries += 1) {
    const held = createServer();
    await listening(held, { host: LOOPBACK, port: 0 });
    const port = boundPort(held.address());
    const isFree = await canListen(LOOPBACK_V6, port);
    await new Promise((resolve) => held.close(resolve));
    if (isFree) return port;
  }
  throw new Error('no port is free on both loopback addresses');
}
