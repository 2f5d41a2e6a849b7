// Notifications, their delivery, and what wallets decide about them. Units: see index.ts.

import { createHash } from 'node:crypto';

export const NOTIFICATION_TYPES = [
  'PRICE_ALERT',
  'RECORD_UPDATE',
  'ACCOUNT_UPDATE',
  'TEST',
  'NEW_MARKET',
  'PRODUCT_UPDATE',
  'ANNOUNCEMENT',
  'REDUCE_ONLY',
  'CUSTOM',
] as const;
export type NotificationType = (typeof NOTIFICATION_TYPES)[number];

export const NOTIFICATION_STATUSES = ['PENDING', 'SENT', 'FAILED', 'READ'] as const;
export type NotificationStatus = (typeof NOTIFICATION_STATUSES)[number];

/** Account health, best first (docs/internals/notifications.md, "Account health"). */
export const HEALTH_BUCKETS = ['HEALTHY', 'MODERATE', 'AT_RISK', 'CRITICAL', 'LIQUIDATABLE'] as const;
export type HealthBucket = (typeof HEALTH_BUCKETS)[number];

/** One thing that happened, for one wallet or for all. */
export interface Notification {
  /** Time-ordered UUID of the cause: the same cause, the same id. */
  readonly id: string;
  /** Wallet; empty for every wallet. */
  readonly authority: Uint8Array;
  /** User account; null when the cause concerns none. */
  readonly user: Uint8Array | null;
  readonly type: string;
  readonly title: string;
  /** Names a market by its key (`perp-0`). */
  readonly body: string;
  /** JSON object. Amounts are raw integers as text. */
  readonly data: string;
  readonly slot: number;
  /** Unix seconds of the block. */
  readonly ts: number;
}

/** A wallet read a notification. */
export interface NotificationRead {
  readonly id: string;
  readonly authority: Uint8Array;
  /** Wall-clock milliseconds. */
  readonly atMs: number;
}

/** State of the push of a notification to one wallet's devices: `PENDING`, then `SENT` or `FAILED`. */
export interface NotificationDelivery {
  readonly id: string;
  readonly authority: Uint8Array;
  readonly status: string;
  /** 0 for `PENDING`, 1 for an outcome; the higher one counts. */
  readonly version: number;
  /** Wall-clock milliseconds. */
  readonly atMs: number;
}

/** Types that a wallet does not want pushed; replaces its earlier preferences. */
export interface NotificationPreferences {
  readonly authority: Uint8Array;
  readonly pushOptOutTypes: readonly string[];
  /** Wall-clock milliseconds. */
  readonly atMs: number;
}

/** A device of a wallet as it is now. */
export interface NotificationDevice {
  readonly authority: Uint8Array;
  readonly deviceId: string;
  /** `ios`, `android`, `web`, or empty for a webhook. */
  readonly platform: string;
  /** Push token, Web Push subscription as JSON, or webhook URL; empty: none. */
  readonly token: string;
  readonly isRemoved: boolean;
  /** Wall-clock milliseconds of the first registration. */
  readonly createdAtMs: number;
}

/** A time-ordered UUID (version 7) from the block time and the identity of the cause. */
export function notificationId(ts: number, cause: string): string {
  const time = (ts * 1000).toString(16).padStart(12, '0');
  const hash = createHash('sha256').update(cause).digest('hex');
  const variant = ((Number.parseInt(hash.slice(3, 4), 16) & 0x3) | 0x8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}

/** Unix seconds inside an id; null for a text that is no such UUID. */
export function timeOfNotification(id: string): number | null {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)) return null;
  return Math.floor(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) / 1000);
}

/** Key of a device in topic `wallet-settings`, and of the wallet's preferences when the device is empty. */
export function walletSettingKey(authority: string, deviceId: string | null): string {
  return deviceId === null ? `preferences:${authority}` : `device:${authority}:${deviceId}`;
}
