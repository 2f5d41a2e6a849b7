// A gRPC server over the feed of a simulated cluster, for benches of latency. The library's server lets the event loop turn
// after each message of a call. A burst would then wait in the node and count as latency of the reader. This one writes all
// messages of a turn at once.

import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Frames, frameOf } from '../../../ingest/grpc/frames.ts';
import type { Feed } from '../../../localnet/grpc/feed.ts';
import { Filters } from '../../../localnet/grpc/filters.ts';
import { type FeedMessage, withFilters } from '../../../localnet/grpc/messages.ts';
import { type GeyserRequest, geyserMessages } from '../../../schemas/index.ts';

const LOCALHOST = '127.0.0.1';
const WINDOW_BYTES = 16 * 1024 * 1024;
const REQUEST_BYTES_MAX = 1024 * 1024;
/** Status codes of gRPC (https://grpc.io/docs/guides/status-codes). */
const UNIMPLEMENTED = '12';

export interface PromptGeyser {
  readonly url: string;
  close(): void;
}

export async function startPromptGeyser(feed: Feed): Promise<PromptGeyser> {
  const bodies = new Bodies();
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer({ settings: { initialWindowSize: WINDOW_BYTES } });
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    if (headers[':path'] === '/geyser.Geyser/Subscribe') subscribe(stream, feed, bodies);
    else {
      const refused = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': UNIMPLEMENTED };
      stream.respond(refused, { endStream: true });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, LOCALHOST, resolve));
  return {
    url: `http://${LOCALHOST}:${(server.address() as AddressInfo).port}`,
    close: () => {
      for (const session of sessions) session.destroy();
      server.close();
    },
  };
}

/** The bytes of each update between its two commitments: they are made once. */
class Bodies {
  readonly #made = new Map<FeedMessage, Buffer>();

  of(message: FeedMessage, isFirst: boolean, make: () => Buffer): Buffer {
    const made = this.#made.get(message);
    if (made) {
      if (!isFirst) this.#made.delete(message);
      return made;
    }
    const body = make();
    if (isFirst && message.kind !== 'slot') this.#made.set(message, body);
    return body;
  }
}

function subscribe(stream: ServerHttp2Stream, feed: Feed, bodies: Bodies): void {
  const { SubscribeRequest } = geyserMessages();
  let leave = (): void => {};
  stream.respond({ ':status': 200, 'content-type': 'application/grpc+proto' });
  const send = together(stream);
  const requests = new Frames(REQUEST_BYTES_MAX, (bytes) => {
    const request = SubscribeRequest.decode(bytes);
    if (request.ping) send(pong(request.ping.id));
    else {
      leave();
      leave = follow(request, feed, bodies, send);
    }
  });
  stream.on('data', (part: Buffer) => requests.take(part));
  stream.on('error', () => {});
  stream.on('close', () => leave());
}

function follow(request: GeyserRequest, feed: Feed, bodies: Bodies, send: (message: Buffer) => void): () => void {
  if (request.fromSlot !== undefined) throw new Error('this server replays nothing');
  const filters = new Filters(request);
  const isFirst = filters.level === 'processed';
  return feed.subscribe(filters.level, (message, make) => {
    const names = filters.passed(message);
    if (names.length > 0) send(withFilters(names, bodies.of(message, isFirst, make)));
  });
}

function pong(id: number): Buffer {
  const { SubscribeUpdate } = geyserMessages();
  return Buffer.from(SubscribeUpdate.encode({ filters: [], pong: { id }, createdAt: new Date() }).finish());
}

/** Messages of one turn of the event loop leave in one write. */
function together(stream: ServerHttp2Stream): (message: Buffer) => void {
  let waiting: Buffer[] = [];
  return (message) => {
    if (waiting.length === 0) {
      setImmediate(() => {
        if (!stream.destroyed) stream.write(Buffer.concat(waiting));
        waiting = [];
      });
    }
    waiting.push(frameOf(message));
  };
}
