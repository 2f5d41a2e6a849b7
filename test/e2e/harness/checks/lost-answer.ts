// A proxy to ClickHouse that loses one answer: the server stores the block and dies at once, and the client receives nothing.

import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LostAnswer {
  readonly url: string;
  /** Resolves when the answer was lost. */
  readonly lost: Promise<void>;
  stop(): Promise<void>;
}

/** Loses the first answer to an insert into `table`, after `die` has ended the server. */
export async function loseAnswer(server: string, table: string, die: () => Promise<void>): Promise<LostAnswer> {
  let waiting = true;
  let resolve = () => {};
  let reject: (error: unknown) => void = () => {};
  const lost = new Promise<void>((done, failed) => {
    resolve = done;
    reject = failed;
  });
  const proxy = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', server);
    const isInsert = url.searchParams.get('query')?.startsWith(`INSERT INTO \`${table}\``) ?? false;
    const asked = request(url, { method: incoming.method, headers: incoming.headers }, (answer) => {
      if (waiting && isInsert && answer.statusCode === 200) {
        waiting = false;
        answer.resume().once('end', () => {
          die()
            .then(resolve, reject)
            .finally(() => outgoing.destroy());
        });
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.once('error', () => outgoing.destroy()).pipe(outgoing);
    });
    asked.once('error', () => outgoing.destroy());
    outgoing.once('close', () => asked.destroy());
    incoming.pipe(asked);
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    lost,
    stop: async () => {
      proxy.closeAllConnections();
      await new Promise((done) => proxy.close(done));
    },
  };
}
