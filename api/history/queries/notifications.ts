// Notifications of a wallet from the store, newest first, with the marks that the store may not have yet.

import bs58 from 'bs58';
import type { Notification, NotificationStatus } from '../../../schemas/index.ts';
import { timeOfNotification } from '../../../schemas/index.ts';
import { FEED_MARKS_MAX } from '../../notifications/limits.ts';
import type { Mark } from '../../notifications/recent-marks.ts';
import type { NotificationState } from '../../notifications/record.ts';
import { type HistoryStore, PAGE_SETTINGS } from '../store.ts';

export interface FeedQuery {
  /** Wallet, base58. */
  readonly authority: string;
  /** Id of the last row of the page before; null for the first page. */
  readonly after: string | null;
  /** Only notifications of these states; null for all. */
  readonly statuses: readonly NotificationStatus[] | null;
  readonly limit: number;
  /** Newest marks by id, the newest at the end. */
  readonly marks: ReadonlyMap<string, Readonly<Mark>>;
}

export interface FeedRow {
  readonly notification: Omit<Notification, 'authority' | 'slot'>;
  readonly state: NotificationState;
}

interface StoredRow {
  readonly id: string;
  readonly user: string | null;
  readonly type: string;
  readonly title: string;
  readonly body: string;
  readonly data: string;
  readonly ts: string;
}

const OWN = `authority IN ('', {authority:String})`;
/** Status of a row: read, else as its push stands, else in the feed. */
const STATUS = `multiIf(
  has({readIds:Array(String)}, id)
    OR id IN (SELECT id FROM {db:Identifier}.notification_read WHERE authority = {authority:String}), 'READ',
  has({pushIds:Array(String)}, id), arrayElement({pushStatuses:Array(String)}, indexOf({pushIds:Array(String)}, id)),
  id IN (SELECT id FROM {db:Identifier}.notification_delivery FINAL
    WHERE authority = {authority:String} AND status = 'FAILED'), 'FAILED',
  id IN (SELECT id FROM {db:Identifier}.notification_delivery FINAL
    WHERE authority = {authority:String} AND status = 'PENDING'), 'PENDING',
  'SENT')`;

export async function feedPage(store: HistoryStore, query: FeedQuery): Promise<readonly FeedRow[]> {
  const { authority, after, statuses, limit, marks } = query;
  const newest = [...marks].slice(-FEED_MARKS_MAX);
  const pushed = newest.filter(([, { delivery }]) => delivery !== null);
  const filters = [OWN];
  if (after !== null) filters.push('ts <= {afterTs:Int64} AND (ts < {afterTs:Int64} OR id < {after:String})');
  if (statuses !== null) filters.push(`${STATUS} IN {statuses:Array(String)}`);
  const rows = await store.rows<StoredRow>(
    `SELECT id, user, type, title, body, data, ts FROM {db:Identifier}.notification
     WHERE ${filters.join(' AND ')}
     ORDER BY ts DESC, id DESC LIMIT 1 BY id LIMIT {limit:UInt32}`,
    {
      authority,
      limit,
      after: after ?? '',
      afterTs: after === null ? 0 : (timeOfNotification(after) ?? 0),
      statuses: statuses ?? [],
      readIds: newest.filter(([, { isRead }]) => isRead).map(([id]) => id),
      pushIds: pushed.map(([id]) => id),
      pushStatuses: pushed.map(([, { delivery }]) => delivery?.status ?? ''),
    },
    PAGE_SETTINGS,
  );
  const states = await statesOf(store, authority, rows, marks);
  return rows.map((row) => ({ notification: notificationOf(row), state: states(row) }));
}

/** Whether the store has this notification of the wallet. */
export async function hasNotification(store: HistoryStore, authority: string, id: string): Promise<boolean> {
  const ts = timeOfNotification(id);
  if (ts === null) return false;
  const [row] = await store.rows(
    `SELECT 1 FROM {db:Identifier}.notification WHERE ${OWN} AND ts = {ts:Int64} AND id = {id:String} LIMIT 1`,
    { authority, ts, id },
    PAGE_SETTINGS,
  );
  return row !== undefined;
}

function notificationOf({ user, ts, ...row }: StoredRow): FeedRow['notification'] {
  return { ...row, user: user === null ? null : bs58.decode(user), ts: Number(ts) };
}

interface DeliveryRow {
  readonly id: string;
  readonly status: string;
  readonly at_ms: string;
}

/** States of the rows of a page: the newest marks, then those of the store. */
async function statesOf(
  store: HistoryStore,
  authority: string,
  rows: readonly StoredRow[],
  marks: FeedQuery['marks'],
): Promise<(row: StoredRow) => NotificationState> {
  const parameters = { authority, ids: rows.map(({ id }) => id) };
  const ofRows = 'authority = {authority:String} AND id IN {ids:Array(String)}';
  const [reads, deliveries] = await Promise.all([
    store.rows<{ id: string }>(`SELECT id FROM {db:Identifier}.notification_read WHERE ${ofRows}`, parameters),
    store.rows<DeliveryRow>(
      `SELECT id, status, at_ms FROM {db:Identifier}.notification_delivery FINAL WHERE ${ofRows}`,
      parameters,
    ),
  ]);
  const read = new Set(reads.map(({ id }) => id));
  const delivered = new Map(deliveries.map(({ id, status, at_ms }) => [id, { status, atMs: Number(at_ms) }]));
  return ({ id, ts }) => {
    const push = marks.get(id)?.delivery ?? delivered.get(id) ?? null;
    const status = read.has(id) || marks.get(id)?.isRead ? 'READ' : ((push?.status ?? 'SENT') as NotificationStatus);
    const sentAt = push === null ? Number(ts) : push.status === 'SENT' ? Math.floor(push.atMs / 1000) : null;
    return { status, isPushed: push !== null, sentAt };
  };
}
