// How the paths of a REST port are read before any route sees them.

import type { IncomingMessage } from 'node:http';

const PATH_PREFIX = '/dlob';
/** A request line may hold the whole address instead of the path (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?]*/i;
const GATEWAY_PATHS: ReadonlySet<string> = new Set(['/ws', '/quotes/ws']);

/** Removes a leading `/dlob` path segment; what becomes empty is `/`. */
export function stripPrefix(target: string): string {
  const url = target.startsWith('/') ? target : target.replace(ORIGIN, '') || '/';
  if (!url.startsWith(PATH_PREFIX)) return url;
  const rest = url.slice(PATH_PREFIX.length);
  if (rest === '') return '/';
  if (rest.startsWith('/')) return rest;
  return rest.startsWith('?') ? `/${rest}` : url;
}

/**
 * True for the upgrade to a WebSocket that the gateway serves. Whatever else offers an upgrade, as HTTP libraries do that would
 * rather speak HTTP/2, is answered as if it had not.
 */
export function isGatewayUpgrade({ url, headers }: IncomingMessage): boolean {
  const path = stripPrefix(url ?? '/').split('?', 1)[0] ?? '';
  return headers.upgrade?.toLowerCase() === 'websocket' && GATEWAY_PATHS.has(path);
}
