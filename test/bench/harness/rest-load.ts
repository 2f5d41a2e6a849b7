// A process that repeats one GET on each of its HTTP connections, over bare sockets: it must cost less than the measured
// server. Answers need a Content-Length. The bench controls it over IPC.

import { connect, type Socket } from 'node:net';

export interface RestLoad {
  readonly host: string;
  readonly port: number;
  readonly paths: readonly string[];
  readonly connections: number;
  readonly seconds: number;
  /** Value of `Accept-Encoding`; absent: the header is not sent. */
  readonly acceptEncoding?: string;
}

export interface RestResult {
  readonly answers: number;
  readonly bytes: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly seconds: number;
  readonly error?: string;
}

const statuses: Record<string, number> = {};
let answers = 0;
let bytes = 0;

/** Repeats the request on one connection until the stop signal. */
function keepAsking(socket: Socket, requests: readonly Buffer[], first: number, isOver: () => boolean): Promise<void> {
  let at = first;
  let left = 0;
  let head: Buffer | null = null;
  const ask = (): void => {
    socket.write(requests[at++ % requests.length] as Buffer);
  };
  return new Promise((resolve, reject) => {
    const answered = (): void => {
      answers += 1;
      if (!isOver()) {
        ask();
        return;
      }
      socket.destroy();
      resolve();
    };
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (left > 0) {
        left -= chunk.length;
        if (left <= 0) answered();
        return;
      }
      head = head ? Buffer.concat([head, chunk]) : chunk;
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) return;
      const text = head.toString('latin1', 0, end);
      const status = text.slice(9, 12);
      statuses[status] = (statuses[status] ?? 0) + 1;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? Number.NaN);
      if (Number.isNaN(length)) reject(new Error(`no length: ${text}`));
      left = length - (head.length - end - 4);
      head = null;
      if (left <= 0) answered();
    });
    socket.once('connect', ask);
  });
}

async function run({ host, port, paths, connections, seconds, acceptEncoding }: RestLoad): Promise<RestResult> {
  const accepted = acceptEncoding === undefined ? '' : `Accept-Encoding: ${acceptEncoding}\r\n`;
  const requests = paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n${accepted}\r\n`));
  const startedMs = performance.now();
  const isOver = (): boolean => performance.now() - startedMs >= seconds * 1000;
  answers = 0;
  bytes = 0;
  await Promise.all(
    Array.from({ length: connections }, (_, index) =>
      keepAsking(connect({ host, port, noDelay: true }), requests, index, isOver),
    ),
  );
  return { answers, bytes, statuses, seconds: (performance.now() - startedMs) / 1000 };
}

process.on('message', (load: RestLoad) => {
  run(load).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ answers, bytes, statuses, seconds: 0, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
