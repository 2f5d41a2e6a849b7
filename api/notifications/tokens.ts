// Push tokens by platform, and their checks: a token decides where the service sends requests.

import { createHmac } from 'node:crypto';
import { checkOutboundUrl, type Network, OutboundError } from '../../platform/index.ts';
import { AUTH_BYTES, P256DH_BYTES, TOKEN_CHARS_MAX } from './limits.ts';

/** The empty platform is a webhook. */
export const PLATFORMS = ['ios', 'android', 'web', ''] as const;
export type Platform = (typeof PLATFORMS)[number];

export interface WebSubscription {
  readonly endpoint: string;
  readonly keys: { readonly p256dh: string; readonly auth: string };
}

export interface TokenRules {
  /** Networks beside the public ones that a token may name. */
  readonly allowed: readonly Network[];
  /** Webhooks are signed with it; empty: no webhooks. */
  readonly webhookSecret: string;
}

/** The fault of a token in words; null for a good one. An empty token registers a device without pushes. */
export function tokenFault(platform: Platform, token: string, { allowed, webhookSecret }: TokenRules): string | null {
  if (token === '') return null;
  if (token.length > TOKEN_CHARS_MAX) return `token must have at most ${TOKEN_CHARS_MAX} characters`;
  if (platform === 'web') {
    const subscription = webSubscription(token);
    if (!subscription) return 'token must be a Web Push subscription as JSON: endpoint and keys (p256dh, auth)';
    return urlFault('endpoint', subscription.endpoint, allowed);
  }
  if (platform !== '') return /^[\x21-\x7e]+$/.test(token) ? null : 'token must be ASCII without spaces';
  if (webhookSecret === '') return 'this service sends no webhooks';
  return urlFault('token', token, allowed);
}

function urlFault(name: string, url: string, allowed: readonly Network[]): string | null {
  try {
    checkOutboundUrl(url, { allowed });
    return null;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return `${name} must be an https URL with a public address`;
  }
}

/** Null for text that is no subscription. */
export function webSubscription(token: string): WebSubscription | null {
  try {
    const { endpoint, keys } = JSON.parse(token) as WebSubscription;
    const isWhole = typeof endpoint === 'string' && sizeOf(keys.p256dh) === P256DH_BYTES;
    return isWhole && sizeOf(keys.auth) === AUTH_BYTES ? { endpoint, keys } : null;
  } catch {
    return null;
  }
}

/** Bytes of base64url text; -1 for other values. */
function sizeOf(text: unknown): number {
  return typeof text === 'string' && /^[\w-]+={0,2}$/.test(text) ? Buffer.from(text, 'base64url').length : -1;
}

/** The secret of one device's webhook. It follows from the service's own secret, so nothing is stored. */
export function webhookSecretOf(secret: string, authority: string, deviceId: string): string {
  return createHmac('sha256', secret).update(`slotbook-webhook:${authority}:${deviceId}`).digest('base64url');
}
