// Recent program events. The log may contain an event twice after a restart of ingest; subscribers get it once.

import type { ChainEvent } from '../../../schemas/index.ts';

export class RecentEvents {
  /** In the order of arrival. */
  readonly #ids = new Set<string>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** Remembers the event; true when it is new. */
  add({ signature, eventIndex }: ChainEvent): boolean {
    const id = `${Buffer.from(signature).toString('latin1')}${eventIndex}`;
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    for (const oldest of this.#ids) {
      if (this.#ids.size <= this.#most) break;
      this.#ids.delete(oldest);
    }
    return true;
  }
}
