// Who listens to which channel. A message is made once whatever the number of listeners.

import type { SocketClient } from './client.ts';

export class Hub {
  readonly #listeners = new Map<string, Set<SocketClient>>();

  has(channel: string): boolean {
    return this.#listeners.has(channel);
  }

  add(channel: string, client: SocketClient): void {
    const listeners = this.#listeners.get(channel);
    if (listeners) listeners.add(client);
    else this.#listeners.set(channel, new Set([client]));
  }

  remove(channel: string, client: SocketClient): void {
    const listeners = this.#listeners.get(channel);
    listeners?.delete(client);
    if (listeners?.size === 0) this.#listeners.delete(channel);
  }

  send(channel: string, message: object): void {
    const listeners = this.#listeners.get(channel);
    if (!listeners) return;
    const text = Buffer.from(JSON.stringify(message));
    for (const client of listeners) client.send(text);
  }
}
