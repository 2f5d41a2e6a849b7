// The adapter of each device, by the settings.

import { type Config, type Logger, parseNetworks } from '../../platform/index.ts';
import type { NotificationDevice } from '../../schemas/index.ts';
import { logAdapter } from './log.ts';
import type { PushAdapter } from './port.ts';
import { checkVapid, webPushAdapter } from './web-push.ts';
import { gatewayAdapter, webhookAdapter } from './webhook.ts';

export type PushConfig = Pick<
  Config,
  | 'pushDelivery'
  | 'pushGatewayUrl'
  | 'vapidSubject'
  | 'vapidPublicKey'
  | 'vapidPrivateKey'
  | 'webhookSecret'
  | 'webhookNetworks'
>;

/** The adapter of a device; null for one that gets no pushes. */
export type FindAdapter = (device: NotificationDevice) => PushAdapter | null;

/** The operator's gateway may be anywhere: no client chose its URL. */
const EVERYWHERE = '0.0.0.0/0,::/0';

/** Throws ConfigError for bad networks and keys. */
export function pushAdapters(config: PushConfig, logger: Logger, now: () => number): FindAdapter {
  const allowed = parseNetworks('webhookNetworks', config.webhookNetworks);
  const { pushDelivery, pushGatewayUrl: url, webhookSecret: secret } = config;
  const vapid = {
    subject: config.vapidSubject,
    publicKey: config.vapidPublicKey,
    privateKey: config.vapidPrivateKey,
  };
  if (vapid.publicKey !== '') checkVapid(vapid);
  const log = pushDelivery === 'log' ? logAdapter(logger) : null;
  const web = vapid.publicKey === '' ? null : webPushAdapter(vapid, allowed);
  const hook = secret === '' ? null : webhookAdapter({ secret, allowed, now });
  const gateway =
    url === '' || secret === ''
      ? null
      : gatewayAdapter({ url, secret, allowed: parseNetworks('pushGatewayUrl', EVERYWHERE), now });
  return ({ platform, token }) => {
    if (token === '') return null;
    if (log) return log;
    if (platform === 'web') return web;
    return platform === '' ? hook : gateway;
  };
}
