// Notifications in the log.

import bs58 from 'bs58';
import type { EventLog } from '../../../platform/index.ts';
import { encodeMessage, type Notification, TOPICS } from '../../../schemas/index.ts';

export async function publishNotifications(log: EventLog, ...all: readonly Notification[]): Promise<void> {
  await log.append(
    TOPICS.notifications,
    all.map((one) => ({ key: bs58.encode(one.authority), value: encodeMessage('Notification', one) })),
  );
}
