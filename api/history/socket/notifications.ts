// The notifications channel: records of topic `notifications`. A subscriber gets an `init` of what its wallet has not read, and
// then each notification once.

import { FEED_PAGE_ROWS } from '../../notifications/limits.ts';
import type { RecentMarks } from '../../notifications/recent-marks.ts';
import type { RecentNotification, RecentNotifications } from '../../notifications/recent-notifications.ts';
import { inFeed, type NotificationRecord, notificationRecord } from '../../notifications/record.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import type { FeedRow } from '../queries/notifications.ts';
import type { SocketClient } from './client.ts';
import type { Hub } from './hub.ts';
import type { NotificationChannel } from './requests.ts';

/** Loads the newest unread notifications of a wallet (base58). Rejects when the store is away. */
export type LoadUnread = (authority: string) => Promise<readonly Pick<FeedRow, 'notification'>[]>;

/** More notifications arrived during a query of the store than the list of recent ones holds. */
export class RecentListFull extends Error {
  override readonly name = 'RecentListFull';
}

export interface NotificationParts {
  readonly hub: Hub;
  readonly markets: Pick<MarketRegistry, 'byKey'>;
  readonly loadUnread: LoadUnread;
  readonly recent: RecentNotifications;
  readonly marks: Pick<RecentMarks, 'of'>;
}

export class NotificationChannels {
  readonly #parts: NotificationParts;
  /** Wallets with a subscriber. */
  readonly #wallets = new Set<string>();

  constructor(parts: NotificationParts) {
    this.#parts = parts;
  }

  /**
   * Sends `init` with the newest unread notifications, then those since this call, and subscribes the client, unless
   * `isCurrent` reports that it left. Rejects when the store is away, or when too many notifications arrive meanwhile.
   */
  async subscribe(
    { authority, channel }: NotificationChannel,
    client: SocketClient,
    isCurrent: () => boolean,
  ): Promise<void> {
    const { hub, recent, loadUnread } = this.#parts;
    const from = recent.next;
    const loaded = await loadUnread(authority);
    if (!isCurrent()) return;
    if (recent.oldest > from) throw new RecentListFull('too many notifications during a query');
    // No await until `hub.add`: every notification is either in the list here or sent to the subscription.
    const own = recent.of(authority);
    // A client that is subscribed already has the later ones as updates; this `init` must not lack them.
    const end = hub.has(channel, client) ? recent.next : from;
    const unread = this.#unread(
      authority,
      loaded,
      own.filter(({ number }) => number < end),
    );
    client.send(JSON.stringify({ type: 'init', channelType: 'notifications', channel, data: unread }));
    const known = new Set(unread.map(({ notificationId }) => notificationId));
    for (const one of own) {
      if (one.number >= end && !known.has(one.notification.id))
        client.send(JSON.stringify(this.#update(authority, one)));
    }
    hub.add(channel, client);
    this.#wallets.add(authority);
  }

  /** Takes a record of topic `notifications`; its key is the wallet, empty for every wallet. Throws SchemaError. */
  take(key: string, bytes: Uint8Array): void {
    const one = this.#parts.recent.take(key, bytes);
    if (one === null) return;
    const wallets = key === '' ? this.#wallets : this.#wallets.has(key) ? [key] : [];
    for (const authority of wallets) this.#parts.hub.send(channelName(authority), this.#update(authority, one));
  }

  /** Forgets wallets without subscribers. */
  sweep(): void {
    for (const authority of this.#wallets) {
      if (!this.#parts.hub.has(channelName(authority))) this.#wallets.delete(authority);
    }
  }

  /** Newest first. The store may lack the newest ones. */
  #unread(
    authority: string,
    loaded: Awaited<ReturnType<LoadUnread>>,
    recent: readonly RecentNotification[],
  ): readonly NotificationRecord[] {
    const marks = this.#parts.marks.of(authority);
    const byId = new Map([...loaded, ...recent].map(({ notification }) => [notification.id, notification]));
    return [...byId.values()]
      .filter(({ id }) => marks.get(id)?.isRead !== true)
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, FEED_PAGE_ROWS)
      .map((notification) => this.#record(authority, notification));
  }

  #update(authority: string, { notification }: RecentNotification): object {
    const data = this.#record(authority, notification);
    return { type: 'update', channelType: 'notifications', channel: channelName(authority), data };
  }

  /** The channel is open to everybody: it does not say whether the wallet has devices, and how their pushes went. */
  #record(authority: string, notification: FeedRow['notification']): NotificationRecord {
    return notificationRecord(notification, authority, inFeed(notification), (key) => this.#parts.markets.byKey(key));
  }
}

const channelName = (authority: string): string => `notifications:${authority}`;
