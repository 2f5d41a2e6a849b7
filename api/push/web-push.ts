// Web Push: the notification, encrypted for one browser (RFC 8291), signed with the service's VAPID key (RFC 8292).

import webPush from 'web-push';
import { ConfigError, type Network, sendOutbound } from '../../platform/index.ts';
import { webSubscription } from '../notifications/tokens.ts';
import { checkStatus, type Push, type PushAdapter, PushError, pushErrorOf } from './port.ts';

/** How long a push service keeps a message for a browser that is away: health and fills of yesterday are no news. */
const TTL_S = 4 * 3600;
/** Push services take 4,096 bytes with the encryption's own; a larger notification goes without its data. */
const PAYLOAD_BYTES_MAX = 3_000;

export interface VapidKeys {
  /** Contact of the operator: a mailto or https URL. */
  readonly subject: string;
  readonly publicKey: string;
  readonly privateKey: string;
}

/** Throws ConfigError for keys that cannot sign. */
export function checkVapid({ subject, publicKey, privateKey }: VapidKeys): void {
  try {
    webPush.setVapidDetails(subject, publicKey, privateKey);
  } catch (error) {
    throw new ConfigError(`vapidSubject, vapidPublicKey, vapidPrivateKey: ${(error as Error).message}`);
  }
}

export function webPushAdapter(vapidDetails: VapidKeys, allowed: readonly Network[]): PushAdapter {
  return {
    name: 'web',
    send: async ({ device, record, idempotencyKey }, signal) => {
      const subscription = webSubscription(device.token);
      if (!subscription) throw new PushError('refused', 'the token is no subscription');
      const payload = payloadOf(record, idempotencyKey);
      const options = { vapidDetails, TTL: TTL_S, contentEncoding: 'aes128gcm' } as const;
      const { endpoint, headers, body } = webPush.generateRequestDetails(subscription, payload, options);
      const { 'Content-Length': _, ...others } = headers as Record<string, string | number>;
      const request = { url: endpoint, method: 'POST', headers: texts(others), body: body ?? Buffer.alloc(0) } as const;
      try {
        const { status } = await sendOutbound(request, { allowed, signal });
        checkStatus(status);
      } catch (error) {
        throw pushErrorOf(error);
      }
    },
  };
}

/** The page's service worker drops a notification whose `idempotencyKey` it has shown. */
function payloadOf(record: Push['record'], idempotencyKey: string): string {
  const whole = JSON.stringify({ ...record, idempotencyKey });
  return Buffer.byteLength(whole) <= PAYLOAD_BYTES_MAX
    ? whole
    : JSON.stringify({ ...record, data: {}, idempotencyKey });
}

const texts = (headers: Readonly<Record<string, string | number>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
