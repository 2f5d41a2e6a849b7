// A notification as REST, the WebSocket and pushes show it (docs/internals/notifications.md, "Records").

import bs58 from 'bs58';
import { type MarketView, type Notification, type NotificationStatus, parseMarketKey } from '../../schemas/index.ts';

export const CHANNELS = ['app', 'push'] as const;
export type NotificationChannelName = (typeof CHANNELS)[number];

export interface NotificationRecord {
  readonly notificationId: string;
  readonly authorityId: string;
  readonly title: string;
  readonly body: string;
  readonly type: string;
  readonly status: NotificationStatus;
  readonly channels: readonly NotificationChannelName[];
  readonly user: string | null;
  readonly data: Readonly<Record<string, unknown>>;
  readonly actions: readonly object[];
  /** Unix seconds. */
  readonly sentAt: number | null;
  readonly createdAt: number;
}

/** State of a notification for one wallet. */
export interface NotificationState {
  readonly status: NotificationStatus;
  readonly isPushed: boolean;
  /** Unix seconds; null before it is sent. */
  readonly sentAt: number | null;
}

/** Finds the market of a key; null when unknown. */
export type FindMarket = (key: string) => Pick<MarketView, 'symbol'> | null;

const MARKET_KEY = /\b(perp|spot)-\d+\b/g;

/** In the feed, and nowhere else. */
export const inFeed = ({ ts }: Pick<Notification, 'ts'>): NotificationState => ({
  status: 'SENT',
  isPushed: false,
  sentAt: ts,
});

/** `authorityId`: the wallet that reads; a notification for every wallet is a record of each. */
export function notificationRecord(
  { id, user, type, title, body, data, ts }: Omit<Notification, 'authority' | 'slot'>,
  authorityId: string,
  { status, isPushed, sentAt }: NotificationState,
  find: FindMarket,
): NotificationRecord {
  return {
    notificationId: id,
    authorityId,
    title,
    body: body.replace(MARKET_KEY, (key) => find(key)?.symbol ?? key),
    type,
    status,
    channels: isPushed ? CHANNELS : ['app'],
    user: user === null ? null : bs58.encode(user),
    data: withSymbol(JSON.parse(data) as Record<string, unknown>, find),
    actions: [],
    sentAt,
    createdAt: ts,
  };
}

function withSymbol(data: Record<string, unknown>, find: FindMarket): Readonly<Record<string, unknown>> {
  const { marketType, marketIndex } = data;
  if (typeof marketType !== 'string' || typeof marketIndex !== 'number') return data;
  const key = `${marketType}-${marketIndex}`;
  return { ...data, symbol: isMarketKey(key) ? (find(key)?.symbol ?? null) : null };
}

function isMarketKey(key: string): boolean {
  try {
    parseMarketKey(key);
    return true;
  } catch {
    return false;
  }
}
