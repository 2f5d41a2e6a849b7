// Normalises request paths of the REST ports before routing.

import type { IncomingMessage } from 'node:http';

const PATH_PREFIX = '/dlob';
/** A request line may contain the whole URL instead of the path (RFC 9112, 3.2.2). */
const ORIGIN = /^https?:\/\/[^/?]*/i;
const GATEWAY_PATHS: ReadonlySet<string> = new Set(['/ws', '/quotes/ws']);

/** Paths match in any letter case, with or without a trailing slash. Path parameters keep their case. */
export const LENIENT_PATHS = { ignoreTrailingSlash: true, caseSensitive: false } as const;

/** Path and query of a request line, without scheme and host. */
export function originForm(target: string): string {
  return target.startsWith('/') ? target : target.replace(ORIGIN, '') || '/';
}

/** Removes a leading `/dlob` path segment. An empty rest becomes `/`. */
export function stripPrefix(target: string): string {
  const url = originForm(target);
  if (url.slice(0, PATH_PREFIX.length).toLowerCase() !== PATH_PREFIX) return url;
  const rest = url.slice(PATH_PREFIX.length);
  if (rest === '') return '/';
  if (rest.startsWith('/')) return rest;
  return rest.startsWith('?') ? `/${rest}` : url;
}

/** The path of a gateway's socket, with the unchanged query; null for any other path. */
export function gatewayTarget(target: string): string | null {
  const url = stripPrefix(target);
  const query = url.includes('?') ? url.slice(url.indexOf('?')) : '';
  const path = url
    .slice(0, url.length - query.length)
    .toLowerCase()
    .replace(/\/$/, '');
  return GATEWAY_PATHS.has(path) ? path + query : null;
}

/**
 * True for a WebSocket upgrade that the gateway serves. The server ignores any other upgrade offer, such as HTTP/2, and
 * answers the plain request.
 */
export function isGatewayUpgrade({ url, headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket' && gatewayTarget(url ?? '/') !== null;
}
