// The work of a server's DDL worker for a cluster of one replica, in front of an engine that has none: an ON CLUSTER statement is
// executed on the replica without those words, one after another, and a new table has the UUID that the initiator
// chooses. Everything else passes as it comes. What it leaves unproven: the queue itself, and waiting for other replicas.

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface DdlWorker {
  readonly url: string;
  stop(): Promise<void>;
}

const NEW_TABLE = /^\s*CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS \S+/;

export async function startDdlWorker(engine: string, cluster: string): Promise<DdlWorker> {
  const words = new RegExp(` ON CLUSTER ${cluster}\\b`);
  let last: Promise<unknown> = Promise.resolve();
  const server = createServer(async (incoming, outgoing) => {
    // With the statement in the address, the body is rows.
    if (new URL(incoming.url ?? '/', engine).searchParams.has('query')) {
      forward(engine, incoming, outgoing).catch(() => outgoing.destroy());
      return;
    }
    const text = String(await buffer(incoming));
    if (!words.test(text)) {
      forward(engine, incoming, outgoing, text).catch(() => outgoing.destroy());
      return;
    }
    const statement = text.replace(NEW_TABLE, (start) => `${start} UUID '${randomUUID()}'`).replace(words, '');
    last = last.then(() => forward(engine, incoming, outgoing, statement)).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Resolves when the answer is through; rejects when the engine or the asker is gone, and ends the other one's connection. */
function forward(engine: string, incoming: IncomingMessage, outgoing: ServerResponse, text?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { ...incoming.headers };
    if (text !== undefined) headers['content-length'] = String(Buffer.byteLength(text));
    const asked = request(new URL(incoming.url ?? '/', engine), { method: incoming.method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
      answer.once('error', reject);
      outgoing.once('finish', () => resolve());
    });
    asked.once('error', reject);
    outgoing.once('close', () => {
      asked.destroy();
      resolve();
    });
    if (text === undefined) incoming.pipe(asked);
    else asked.end(text);
  });
}
