// Pushes of the month's notifications: every wallet has a device, every second one has opted out of record updates.

import bs58 from 'bs58';
import { decodeMessage, encodeMessage, TOPICS, walletSettingKey } from '../../../../schemas/index.ts';
import { openLogAt } from '../../../support/log/open-at.ts';
import { pages } from '../../../support/log/pages.ts';
import { eventually } from '../../../support/processes/processes.ts';
import { unread } from './log.ts';
import type { StoredNotification } from './notifications.ts';

const OPTED_OUT = 'RECORD_UPDATE';
/** An older notification is not pushed (docs/internals/notifications.md, "Pushes"). */
const PUSHED_WITHIN_S = 3_600;
const SENT_WITHIN_MS = 120_000;

/** Registers a device for each wallet and stores the opt-outs. Returns the wallets that opted out. */
export async function registerDevices(dataDir: string, wallets: readonly string[]): Promise<ReadonlySet<string>> {
  const optedOut = new Set(wallets.toSorted().filter((_, index) => index % 2 === 0));
  const log = await openLogAt(dataDir);
  try {
    await log.ensureTopics([TOPICS.walletSettings]);
    const records = wallets.flatMap((wallet) => {
      const authority = bs58.decode(wallet);
      const device = { authority, deviceId: 'hook', platform: '', token: 'any', isRemoved: false, createdAtMs: 1 };
      const value = encodeMessage('NotificationDevice', device);
      const preferences = encodeMessage('NotificationPreferences', {
        authority,
        pushOptOutTypes: [OPTED_OUT],
        atMs: 1,
      });
      return [
        { key: walletSettingKey(wallet, 'hook'), value },
        ...(optedOut.has(wallet) ? [{ key: walletSettingKey(wallet, null), value: preferences }] : []),
      ];
    });
    await log.append(TOPICS.walletSettings, records);
    return optedOut;
  } finally {
    await log.close();
  }
}

/** `id/wallet` of every push, with how often it began and its outcomes. */
export interface Push {
  begun: number;
  readonly outcomes: string[];
}

/** Waits until the push role has read every notification and ended every push. */
export async function pushes(dataDir: string): Promise<ReadonlyMap<string, Push>> {
  const log = await openLogAt(dataDir);
  try {
    const read = async (): Promise<ReadonlyMap<string, Push>> => {
      const found = new Map<string, Push>();
      for (let partition = 0; partition < TOPICS.notificationMarks.partitions; partition += 1) {
        for await (const records of pages(log, TOPICS.notificationMarks, partition)) {
          for (const { value } of records) {
            const mark = decodeMessage(value);
            if (mark.name !== 'NotificationDelivery') continue;
            const key = `${mark.value.id}/${bs58.encode(mark.value.authority)}`;
            const push = found.get(key) ?? { begun: 0, outcomes: [] };
            found.set(key, push);
            if (mark.value.version === 0) push.begun += 1;
            else push.outcomes.push(mark.value.status);
          }
        }
      }
      return found;
    };
    return await eventually(
      'every push ended',
      async () => {
        if ((await unread(log, ['push'])).length > 0) return false;
        const found = await read();
        return [...found.values()].every(({ outcomes }) => outcomes.length > 0) && found;
      },
      SENT_WITHIN_MS,
    );
  } finally {
    await log.close();
  }
}

/** Of the stored notifications those that must be pushed, as keys; `mayLack` were at the edge of their time. */
export function expectedPushes(
  stored: readonly StoredNotification[],
  wallets: readonly string[],
  optedOut: ReadonlySet<string>,
  started: { readonly fromS: number; readonly toS: number },
): { readonly must: ReadonlySet<string>; readonly may: ReadonlySet<string> } {
  const keys = (sinceS: number): ReadonlySet<string> =>
    new Set(
      stored
        .filter(({ ts }) => ts >= sinceS - PUSHED_WITHIN_S)
        .flatMap(({ id, authority, type }) =>
          (authority === '' ? wallets : [authority])
            .filter((wallet) => wallets.includes(wallet) && !(type === OPTED_OUT && optedOut.has(wallet)))
            .map((wallet) => `${id}/${wallet}`),
        ),
    );
  return { must: keys(started.toS), may: keys(started.fromS) };
}
