// Rate limits of the history service: by client address, and by wallet for signed requests. Public reads have none by default.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { HistoryError } from '../http/errors.ts';
import { TokenBucket } from '../http/token-bucket.ts';
import { MINUTE_S } from './seconds.ts';
import { hasWalletHeaders } from './wallet/signed-headers.ts';

export interface LimitSettings {
  /** Requests a minute; 0: no limit. */
  readonly readsPerMinute: number;
  readonly writesPerMinute: number;
  readonly walletRequestsPerMinute: number;
  /** Proxies whose `X-Forwarded-For` counts, separated by commas. */
  readonly trustedProxies: string;
}

/** Clients with a bucket. Beyond that the least recent one starts with a full bucket again. */
const MAX_CLIENTS = 65_536;
const SECOND_MS = 1000;
/** A network of IPv6 gives each customer at least 64 bits of addresses. */
const IPV6_BITS = 64;

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

export class RequestLimits {
  readonly trustedProxies: string;
  readonly #reads: ClientBuckets;
  readonly #writes: ClientBuckets;
  readonly #wallets: ClientBuckets;

  /** `clock`: monotonic milliseconds. */
  constructor(settings: LimitSettings, clock: () => number = () => performance.now()) {
    this.trustedProxies = settings.trustedProxies;
    this.#reads = new ClientBuckets(settings.readsPerMinute, clock);
    this.#writes = new ClientBuckets(settings.writesPerMinute, clock);
    this.#wallets = new ClientBuckets(settings.walletRequestsPerMinute, clock);
  }

  /** Counts every request of the app by the address of its client, before anything else is done for it. */
  watch(app: FastifyInstance): void {
    app.addHook('onRequest', (request, _reply, done) => {
      const buckets = isCostly(request) ? this.#writes : this.#reads;
      done(buckets.isOff ? undefined : refusal(buckets.take(clientOf(request.ip))));
    });
  }

  /** Counts a request that a wallet signed. Throws HistoryError tooManyRequests. */
  countWallet(wallet: string): void {
    const error = refusal(this.#wallets.take(wallet));
    if (error) throw error;
  }
}

/** Requests that write, or cost a check of a signature. */
function isCostly({ method, raw }: FastifyRequest): boolean {
  return !READS.has(method) || hasWalletHeaders(raw);
}

function refusal(waitS: number | null): HistoryError | undefined {
  return waitS === null ? undefined : new HistoryError('tooManyRequests', undefined, { retryAfterS: waitS });
}

/** The name of a client: its IPv4 address, or the network of its IPv6 address. */
export function clientOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toNormalizedString()}/${IPV6_BITS}`).toNormalizedString()}`
    : parsed.toString();
}

/** A bucket for each client: a minute's requests at once, then as many as it regains. */
class ClientBuckets {
  readonly #perMinute: number;
  readonly #clock: () => number;
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: MAX_CLIENTS });

  constructor(perMinute: number, clock: () => number) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  get isOff(): boolean {
    return this.#perMinute === 0;
  }

  /** Takes one request. Returns null, or the whole seconds after which one is allowed again. */
  take(client: string): number | null {
    if (this.isOff) return null;
    const nowMs = this.#clock();
    const bucket = this.#buckets.get(client) ?? this.#new(client);
    return bucket.take(nowMs) ? null : Math.ceil(bucket.waitMs(nowMs) / SECOND_MS);
  }

  #new(client: string): TokenBucket {
    const bucket = new TokenBucket({ burst: this.#perMinute, perSecond: this.#perMinute / MINUTE_S });
    this.#buckets.set(client, bucket);
    return bucket;
  }
}
