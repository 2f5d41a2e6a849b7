// Faults on whole HTTP answers: refused, late, cut or never given.

import type { Faults } from './faults.ts';
import { FAULT_DEFAULTS } from './kinds.ts';

export type Disturbance =
  | {
      readonly kind: 'refuse';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      readonly body: string;
    }
  | { readonly kind: 'hangUp' }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'cut'; readonly share: number };

/** Returns what happens to the answer of a request body; null: nothing. */
export type Gate = (body: string) => Disturbance | null;

/** Calls that no fault touches, so that a test can always switch the faults off. */
const CONTROL_PREFIX = 'localnet_';

export function httpFaults(faults: Faults): Gate {
  return (body) => {
    if (!faults.active('http')) return null;
    const methods = methodsOf(body);
    if (methods.length === 0 || methods.some((method) => method.startsWith(CONTROL_PREFIX))) return null;
    for (const method of new Set(methods)) {
      const struck = disturbance(faults, method, methods.length);
      if (struck !== null) return struck;
    }
    return null;
  };
}

function disturbance(faults: Faults, method: string, calls: number): Disturbance | null {
  const limit = faults.strike('rateLimit', method);
  if (limit !== null) {
    const { retryAfterSeconds } = limit;
    faults.report('rateLimit', method, null, { calls, retryAfterSeconds: retryAfterSeconds ?? null });
    const headers: Record<string, string> =
      retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    return { kind: 'refuse', status: 429, headers, body: TOO_MANY_REQUESTS };
  }
  if (faults.strike('unavailable', method) !== null) {
    faults.report('unavailable', method, null, { calls });
    return { kind: 'refuse', status: 503, headers: { 'content-type': 'text/html' }, body: 'Service Unavailable\n' };
  }
  if (faults.strike('hangUp', method) !== null) {
    faults.report('hangUp', method, null, { calls });
    return { kind: 'hangUp' };
  }
  const cut = faults.strike('cutBody', method);
  if (cut !== null) {
    const share = cut.share ?? FAULT_DEFAULTS.share;
    faults.report('cutBody', method, null, { calls, share });
    return { kind: 'cut', share };
  }
  const slow = faults.strike('slow', method);
  if (slow === null) return null;
  const ms = slow.ms ?? FAULT_DEFAULTS.slowMs;
  faults.report('slow', method, null, { calls, ms });
  return { kind: 'slow', ms };
}

const TOO_MANY_REQUESTS = JSON.stringify({
  jsonrpc: '2.0',
  error: { code: 429, message: 'Too many requests for a specific RPC call' },
  id: null,
});

/** Methods of a request or batch; empty when the body is not one. */
function methodsOf(body: string): string[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return [];
  }
  const requests: readonly unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  return requests.flatMap((one) => {
    const method = typeof one === 'object' && one !== null ? (one as Record<string, unknown>).method : undefined;
    return typeof method === 'string' ? [method] : [];
  });
}
