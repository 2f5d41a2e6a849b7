// Parts that the notification routes and the socket share in a process.

import { type Config, type EventLog, type Logger, parseNetworks } from '../../platform/index.ts';
import { RecentMarks } from './recent-marks.ts';
import { RecentNotifications } from './recent-notifications.ts';
import type { TokenRules } from './tokens.ts';
import { WalletSettings } from './wallet-settings.ts';

export interface NotificationServices {
  readonly settings: WalletSettings;
  readonly marks: RecentMarks;
  /** The socket fills it. */
  readonly recent: RecentNotifications;
  readonly tokens: TokenRules;
  /** Wall clock, milliseconds. */
  readonly nowMs: () => number;
}

export interface RunningNotifications extends NotificationServices {
  /** Settles when following ends. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

export interface NotificationParts {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly config: Pick<Config, 'webhookNetworks' | 'webhookSecret'>;
}

function tokenRules({ webhookNetworks, webhookSecret }: NotificationParts['config']): TokenRules {
  return { allowed: parseNetworks('webhookNetworks', webhookNetworks), webhookSecret };
}

/** Rejects when the log cannot be read; throws ConfigError for bad networks. */
export async function startNotificationServices(
  parts: NotificationParts,
  nowMs: () => number,
): Promise<RunningNotifications> {
  const tokens = tokenRules(parts.config);
  const settings = new WalletSettings(parts);
  const marks = new RecentMarks(parts);
  await Promise.all([settings.start(), marks.start()]);
  return {
    settings,
    marks,
    recent: new RecentNotifications(),
    tokens,
    nowMs,
    done: Promise.all([settings.done, marks.done]).then(() => {}),
    stop: async () => {
      await Promise.all([settings.stop(), marks.stop()]);
    },
  };
}
