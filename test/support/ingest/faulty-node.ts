// A node with faults: forwards JSON-RPC to a real server, and lets a test replace the answer of each item.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Item {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A JSON-RPC answer without id. */
export type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } };

/** Replaces the answer of a method. `next` is the answer of the real server. */
export type Fault = (params: readonly unknown[], next: () => Promise<Answer>) => Promise<Answer> | Answer;

interface Waiting {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

interface ForwardedAnswer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/** The answer to a whole HTTP request. */
export interface HttpFault {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly text?: string;
}

export class FaultyNode {
  /** Number of requested items by method. */
  readonly asked = new Map<string, number>();
  /** HTTP requests, batches counted once. */
  requests = 0;
  /** Answers a whole HTTP request with this body; null: as usual. */
  http: ((body: string) => HttpFault | null) | null = null;
  readonly #faults = new Map<string, Fault>();
  readonly #server: Server;
  readonly #target: string | null;
  /** Items that the next request to the real server takes. */
  #waiting: Waiting[] = [];

  private constructor(target: string | null) {
    this.#target = target;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  /** `target` null: methods without a fault are unknown. */
  static async open(target: string | null): Promise<FaultyNode> {
    const node = new FaultyNode(target);
    node.#server.listen(0, '127.0.0.1');
    await once(node.#server, 'listening');
    return node;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  on(method: string, fault: Fault): void {
    this.#faults.set(method, fault);
  }

  heal(method: string): void {
    this.#faults.delete(method);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    this.requests += 1;
    const text = Buffer.concat(chunks).toString();
    const fault = this.http?.(text) ?? null;
    if (fault) {
      response.writeHead(fault.status, fault.headers ?? {}).end(fault.text ?? 'refused');
      return;
    }
    const body = JSON.parse(text) as Item | Item[];
    const answers = await Promise.all((Array.isArray(body) ? body : [body]).map((item) => this.#answer(item)));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
  }

  async #answer({ id, method, params }: Item): Promise<object> {
    this.asked.set(method, (this.asked.get(method) ?? 0) + 1);
    const next = () => this.#forward(method, params);
    const fault = this.#faults.get(method);
    return { jsonrpc: '2.0', id, ...(await (fault ? fault(params, next) : next())) };
  }

  #forward(method: string, params: readonly unknown[]): Promise<Answer> {
    if (this.#target === null) return Promise.resolve({ error: { code: -32601, message: 'Method not found' } });
    return new Promise((resolve, reject) => {
      this.#waiting.push({ method, params, resolve, reject });
      if (this.#waiting.length === 1) queueMicrotask(() => void this.#forwardAll(this.#target ?? ''));
    });
  }

  /** Items that came together go together. */
  async #forwardAll(target: string): Promise<void> {
    const items = this.#waiting;
    this.#waiting = [];
    const body = JSON.stringify(items.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params })));
    try {
      const response = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      for (const { id, result, error } of (await response.json()) as ForwardedAnswer[]) {
        items[id]?.resolve(error ? { error } : { result: result ?? null });
      }
    } catch (error) {
      for (const { reject } of items) reject(error);
    }
  }
}
