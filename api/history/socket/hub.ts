// Subscribers of each channel. A message is encoded once for all of them.

import type { SocketClient } from './client.ts';

export class Hub {
  readonly #listeners = new Map<string, Set<SocketClient>>();

  /** Whether the channel has any subscriber, or this one. */
  has(channel: string, client?: SocketClient): boolean {
    const listeners = this.#listeners.get(channel);
    return listeners !== undefined && (client === undefined || listeners.has(client));
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
