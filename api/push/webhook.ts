// Webhooks: a signed POST with the notification as JSON (docs/internals/notifications.md, "Webhooks").

import { createHmac } from 'node:crypto';
import { type Network, sendOutbound } from '../../platform/index.ts';
import { webhookSecretOf } from '../notifications/tokens.ts';
import { checkStatus, type Push, type PushAdapter, pushErrorOf } from './port.ts';

const SIGNATURE_HEADER = 'x-slotbook-signature';
const TIMESTAMP_HEADER = 'x-slotbook-timestamp';

export interface WebhookOptions {
  /** Secret of the service. Each device has a key of its own, made of it. */
  readonly secret: string;
  /** Networks beside the public ones. */
  readonly allowed: readonly Network[];
  /** Wall clock, unix seconds. */
  readonly now: () => number;
}

/** Sends to the URL that the wallet registered. */
export function webhookAdapter({ secret, allowed, now }: WebhookOptions): PushAdapter {
  return {
    name: 'webhook',
    send: ({ device, record, idempotencyKey }, signal) =>
      post(
        { url: device.token, body: JSON.stringify(record), idempotencyKey },
        { key: webhookSecretOf(secret, record.authorityId, device.deviceId), allowed, ts: now(), signal },
      ),
  };
}

export interface GatewayOptions extends WebhookOptions {
  readonly url: string;
}

/**
 * Sends all phones' pushes to the operator's own gateway, which knows Apple's and Google's services. The body also has the
 * device, and the service's secret itself is the key.
 */
export function gatewayAdapter({ url, secret, allowed, now }: GatewayOptions): PushAdapter {
  return {
    name: 'gateway',
    send: ({ device, record, idempotencyKey }: Push, signal) => {
      const { deviceId, platform, token } = device;
      const body = JSON.stringify({ ...record, device: { deviceId, platform, token } });
      return post({ url, body, idempotencyKey }, { key: secret, allowed, ts: now(), signal });
    },
  };
}

interface Signing {
  readonly key: string;
  readonly allowed: readonly Network[];
  readonly ts: number;
  readonly signal: AbortSignal;
}

async function post(
  { url, body, idempotencyKey }: { readonly url: string; readonly body: string; readonly idempotencyKey: string },
  { key, allowed, ts, signal }: Signing,
): Promise<void> {
  const headers = {
    'content-type': 'application/json',
    'idempotency-key': idempotencyKey,
    [TIMESTAMP_HEADER]: String(ts),
    [SIGNATURE_HEADER]: signatureOf(key, ts, body),
  };
  try {
    const { status } = await sendOutbound(
      { url, method: 'POST', headers, body: Buffer.from(body) },
      { allowed, signal },
    );
    checkStatus(status);
  } catch (error) {
    throw pushErrorOf(error);
  }
}

/** `v1=` and the hex HMAC-SHA256 of timestamp, dot and body. */
export function signatureOf(key: string, ts: number, body: string): string {
  return `v1=${createHmac('sha256', key).update(`${ts}.${body}`).digest('hex')}`;
}
