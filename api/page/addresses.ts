// Where the page finds the services: the named public addresses, else the configured ports at the host of the request.

import { type Config, readEndpoints } from '../../platform/index.ts';

/** Absolute addresses; null for a service whose address is unknown. */
export interface PageAddresses {
  /** Order-book REST. */
  readonly orderbook: string | null;
  /** Gateway socket. */
  readonly gateway: string | null;
  /** History REST. Its socket is at `/ws` of the same address. */
  readonly history: string | null;
}

type AddressSettings = Pick<
  Config,
  'dataDir' | 'orderbookPort' | 'gatewayPort' | 'historyPort' | 'pageOrderbookUrl' | 'pageGatewayUrl' | 'pageHistoryUrl'
>;

/** A host name, or an address in brackets. Anything else could smuggle a directive into the policy header. */
const HOST = /^(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])$/i;
const FALLBACK_HOST = '127.0.0.1';

/** The host of a `Host` header without its port. */
export function hostOf(header: string | undefined): string {
  const host = (header ?? '').replace(/:\d+$/, '');
  return HOST.test(host) ? host : FALLBACK_HOST;
}

/** `hostHeader` is the `Host` header of the request for the page. */
export function pageAddresses(settings: AddressSettings, hostHeader: string | undefined): PageAddresses {
  const host = hostOf(hostHeader);
  const { dataDir, orderbookPort, gatewayPort, historyPort } = settings;
  const at = (named: string, port: number, endpoint: string, scheme: string, path = ''): string | null => {
    if (named !== '') return named.replace(/\/$/, '');
    const known = port === 0 ? portOf(readEndpoints(dataDir)[endpoint]) : port;
    return known === null ? null : `${scheme}://${host}:${known}${path}`;
  };
  return {
    orderbook: at(settings.pageOrderbookUrl, orderbookPort, 'orderbook', 'http'),
    gateway: at(settings.pageGatewayUrl, gatewayPort, 'gateway', 'ws', '/ws'),
    history: at(settings.pageHistoryUrl, historyPort, 'history', 'http'),
  };
}

function portOf(url: string | undefined): number | null {
  return url !== undefined && URL.canParse(url) ? Number(new URL(url).port) : null;
}

/** The content security policy: files of our own, connections to the named services, no inline script or style. */
export function contentPolicy({ orderbook, gateway, history }: PageAddresses): string {
  const sockets = history === null ? [] : [history.replace(/^http/, 'ws')];
  const connect = [orderbook, gateway, history, ...sockets].flatMap((url) => (url === null ? [] : [originOf(url)]));
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src ${["'self'", ...new Set(connect)].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function originOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
