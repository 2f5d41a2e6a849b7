// The newest notifications, which the store may not have yet. The log may contain one twice; this list has it once.

import { decodeMessage, type Notification } from '../../schemas/index.ts';

/** About 12 MB. The store has a notification about a second after the log. */
const RECENT_MAX = 20_000;

export interface RecentNotification {
  /** Grows by one with each notification. */
  readonly number: number;
  /** Wallet, base58; empty for every wallet. */
  readonly authority: string;
  readonly notification: Notification;
}

export class RecentNotifications {
  /** In the order of arrival. */
  readonly #byId = new Map<string, RecentNotification>();
  readonly #max: number;
  #next = 0;

  constructor(max = RECENT_MAX) {
    this.#max = max;
  }

  /** Number of the next notification. */
  get next(): number {
    return this.#next;
  }

  /** Number of the oldest notification that is still here. */
  get oldest(): number {
    return this.#next - this.#byId.size;
  }

  /** Takes a record of topic `notifications`; null for one that is here already. Throws SchemaError. */
  take(authority: string, bytes: Uint8Array): RecentNotification | null {
    const { name, value } = decodeMessage(bytes);
    if (name !== 'Notification' || this.#byId.has(value.id)) return null;
    const recent = { number: this.#next++, authority, notification: value };
    this.#byId.set(value.id, recent);
    for (const oldest of this.#byId.keys()) {
      if (this.#byId.size <= this.#max) break;
      this.#byId.delete(oldest);
    }
    return recent;
  }

  /** Whether the wallet has this notification here. */
  has(authority: string, id: string): boolean {
    const found = this.#byId.get(id);
    return found !== undefined && (found.authority === authority || found.authority === '');
  }

  /** Notifications of a wallet, and those of every wallet, in the order of arrival. */
  of(authority: string): readonly RecentNotification[] {
    return [...this.#byId.values()].filter((recent) => recent.authority === authority || recent.authority === '');
  }
}
