// A receiver of pushes: an HTTP server that keeps every request and answers as the test says.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedPush {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export class PushReceiver {
  readonly received: ReceivedPush[] = [];
  /** Status of the next answers. */
  answer: (push: ReceivedPush) => number | null = () => 201;
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const push = { headers: request.headers, body: Buffer.concat(parts) };
      this.received.push(push);
      const status = this.answer(push);
      // Without a status the request gets no answer.
      if (status !== null) response.writeHead(status).end();
      else request.socket.destroy();
    });
  });

  static async start(): Promise<PushReceiver> {
    const receiver = new PushReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/push`;
  }

  /** Idempotency keys in the order of arrival. */
  get keys(): readonly string[] {
    return this.received.map(({ headers }) => String(headers['idempotency-key']));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
