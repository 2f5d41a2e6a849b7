// A Confluent-compatible schema registry for tests.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The documented calls, in memory. Ids begin at 100. */
export class TestRegistry {
  readonly schemas = new Map<number, string>();
  readonly subjects = new Map<string, number[]>();
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response));
  url = '';
  /** Answers every request with 503. */
  isAway = false;
  /** Header of the newest request. */
  authorization: string | undefined;

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  add(subject: string, schema: string): number {
    const known = [...this.schemas].find(([, text]) => text === schema)?.[0];
    const id = known ?? this.schemas.size + 100;
    this.schemas.set(id, schema);
    const versions = this.subjects.get(subject) ?? [];
    if (!versions.includes(id)) this.subjects.set(subject, [...versions, id]);
    return id;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    this.authorization = request.headers.authorization;
    if (this.isAway) {
      response.writeHead(503).end();
      return;
    }
    const reply = this.#route(request.method ?? '', decodeURIComponent(request.url ?? ''), body);
    response.writeHead(reply === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(reply ?? { error_code: 40401, message: 'not found' }));
  }

  #route(method: string, path: string, body: string): unknown {
    const [, kind, name = '', , version] = path.split('/');
    if (kind === 'schemas') {
      const schema = this.schemas.get(Number(path.split('/')[3]));
      return schema === undefined ? undefined : { schema };
    }
    if (method === 'POST') return { id: this.add(name, (JSON.parse(body) as { schema: string }).schema) };
    if (name === '') return [...this.subjects.keys()];
    const ids = this.subjects.get(name) ?? [];
    if (version === undefined) return ids.map((_, index) => index + 1);
    const id = ids[Number(version) - 1];
    return id === undefined ? undefined : { subject: name, version: Number(version), id, schema: this.schemas.get(id) };
  }
}
