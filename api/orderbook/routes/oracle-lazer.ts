// GET /oracleLazer: prices of oracle feeds from the provider's `latest_price` operation, for the operator's own clients.
// Sources: docs/internals/order-book-server.md, "Oracle feed"; docs/internals/accounts.md, "Oracle provider".

import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { type Config, member } from '../../../platform/index.ts';
import { answers, JSON_TYPE, json } from '../../http/contract/answers.ts';
import type { Parameter } from '../../http/contract/inputs.ts';
import { list, object, text } from '../../http/contract/json-schema.ts';
import type { RouteContract } from '../../http/contract/openapi.ts';
import { FORBIDDEN_ORIGIN, OrderbookError } from '../../http/errors.ts';
import { serve } from '../route.ts';

const PROPERTIES = ['price', 'bestAskPrice', 'bestBidPrice', 'exponent'] as const;
/** The published client gives up after the same time. */
const TIMEOUT_MS = 3_000;
/** Path of the operation on the localnet's JSON-RPC port. */
const LOCALNET_PATH = '/v1/latest_price';

/** Bounds one request to the provider. */
const MAX_FEEDS = 100;
const FEED_ID_MAX = 0xffff_ffff;
const FEED_ID = /^\d{1,10}$/;

/** The ids of the list without repetitions. */
const feedIds: Parameter<readonly number[]> = {
  isRequired: true,
  schema: {
    type: 'string',
    description: `ids from 0 to ${FEED_ID_MAX} separated by commas, at most ${MAX_FEEDS} different ones`,
  },
  read: (list) => {
    if (list === undefined || list === '') throw new OrderbookError('feedIdsMissing');
    const ids = new Set<number>();
    for (const text of list.split(',')) {
      const id = FEED_ID.test(text) ? Number(text) : Number.NaN;
      if (!(id <= FEED_ID_MAX)) throw new OrderbookError('feedIdsUnusable');
      ids.add(id);
    }
    if (ids.size > MAX_FEEDS) throw new OrderbookError('feedIdsUnusable');
    return [...ids];
  },
};

const feed = object(
  {
    priceFeedId: { type: 'integer', minimum: 0, maximum: FEED_ID_MAX },
    price: text('integer; multiply by 10^exponent'),
    bestAskPrice: text('integer; multiply by 10^exponent'),
    bestBidPrice: text('integer; multiply by 10^exponent'),
    exponent: { type: 'integer', description: 'power of ten' },
  },
  {
    optional: ['price', 'bestAskPrice', 'bestBidPrice', 'exponent'],
    description: 'members that the provider reports for the feed',
  },
);

export const ORACLE_LAZER_CONTRACT = {
  summary: 'Prices of oracle feeds, for the operator’s own clients',
  description: 'Allowed are requests with the internal secret, and pages on subdomains of the operator over https.',
  tags: ['oracles'],
  parameters: { feedIds },
  headers: {
    properties: {
      Origin: { type: 'string', description: 'page of the operator' },
      Referer: { type: 'string', description: 'page of the operator; counts only without Origin' },
    },
  },
  security: ['internalSecret', null],
  answers: answers(
    json(
      'feeds in the order of the request, each once',
      object(
        { data: list(feed), solana: text('the provider’s signed message for Solana, hex') },
        { optional: ['solana'] },
      ),
    ),
    [{ codes: ['feedIdsMissing', 'feedIdsUnusable', 'notFound'] }],
    {
      [String(FORBIDDEN_ORIGIN.status)]: {
        description: 'the request has neither the secret nor an allowed page',
        content: { [JSON_TYPE]: object({ error: { const: FORBIDDEN_ORIGIN.error } }) },
      },
    },
  ),
} satisfies RouteContract;

export interface OracleFeed {
  readonly guard: OracleGuard;
  readonly latest: LatestPrices;
}

export interface OracleServices {
  /** Without it, the route refuses every request. */
  readonly feeds?: { readonly oracle: OracleFeed };
}

export function oracleLazerRoute(app: FastifyInstance, { feeds }: OracleServices): void {
  serve(
    app,
    '/oracleLazer',
    ORACLE_LAZER_CONTRACT,
    async (given, request, reply) => {
      if (!feeds?.oracle.guard(request)) {
        return reply.code(FORBIDDEN_ORIGIN.status).send({ error: FORBIDDEN_ORIGIN.error });
      }
      const { feeds: prices, solana } = await feeds.oracle.latest(given('feedIds'));
      if (prices.length === 0) throw new OrderbookError('notFound');
      return { data: prices, ...(solana === null ? {} : { solana }) };
    },
    { hasWeakEtag: true },
  );
}

export interface OracleGuardOptions {
  /** Empty: no header matches. */
  readonly secret: string;
  /** Pages on its subdomains may read. Empty: none may. */
  readonly domain: string;
}

export interface GuardedRequest {
  /** Protocol of the client's request, as the trusted proxy reports it. */
  readonly protocol: string;
  readonly headers: {
    readonly authorization?: string | undefined;
    readonly origin?: string | undefined;
    readonly referer?: string | undefined;
  };
}

export type OracleGuard = (request: GuardedRequest) => boolean;

export function oracleGuard({ secret, domain }: OracleGuardOptions): OracleGuard {
  const expected = secret === '' ? null : digest(secret);
  const suffix = domain === '' ? null : `.${domain.toLowerCase().replace(/^\.+/, '')}`;
  return ({ protocol, headers }) => {
    // Digests have equal lengths, so the comparison takes the same time for every input.
    if (expected && headers.authorization !== undefined && timingSafeEqual(digest(headers.authorization), expected)) {
      return true;
    }
    // The referer counts only without an origin.
    const page = headers.origin ?? headers.referer;
    return suffix !== null && protocol === 'https' && page !== undefined && isSubdomainPage(page, suffix);
  };
}

/** `suffix` begins with a dot: only whole labels match, and the domain itself does not. */
function isSubdomainPage(page: string, suffix: string): boolean {
  const url = URL.canParse(page) ? new URL(page) : null;
  return url?.protocol === 'https:' && url.hostname.length > suffix.length && url.hostname.endsWith(suffix);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

/** One feed of the provider's answer. Prices are integers as text; multiply them by 10^exponent. */
export interface FeedPrice {
  readonly priceFeedId: number;
  readonly price?: string;
  readonly bestAskPrice?: string;
  readonly bestBidPrice?: string;
  readonly exponent?: number;
}

export interface LatestPricesAnswer {
  /** In the order of the request. Feeds that the provider does not report are missing. */
  readonly feeds: readonly FeedPrice[];
  /** Signed message for Solana, hex; null when there is none. */
  readonly solana: string | null;
}

export type LatestPrices = (feedIds: readonly number[]) => Promise<LatestPricesAnswer>;

/** The provider gave no usable answer. */
class OracleProviderError extends Error {
  override readonly name = 'OracleProviderError';
}

/** The configured URL, else the localnet's at the RPC URL. */
export function providerUrl({ oracleFeedUrl, rpcUrl }: Pick<Config, 'oracleFeedUrl' | 'rpcUrl'>): string {
  return oracleFeedUrl === '' ? new URL(LOCALNET_PATH, rpcUrl).toString() : oracleFeedUrl;
}

/** Returns a client of the operation at `url`, which rejects with OracleProviderError. Sends no empty token. */
export function requestLatestPrices(url: string, token: string): LatestPrices {
  const headers = {
    'content-type': 'application/json',
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
  };
  return async (feedIds) => {
    const body = JSON.stringify({
      priceFeedIds: feedIds,
      properties: PROPERTIES,
      chains: ['solana'],
      channel: 'real_time',
      jsonBinaryEncoding: 'hex',
    });
    return readAnswer(feedIds, await post(url, headers, body));
  };
}

async function post(url: string, headers: Record<string, string>, body: string): Promise<unknown> {
  try {
    const response = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (response.ok) return await response.json();
    await response.body?.cancel();
    throw new OracleProviderError(`HTTP ${response.status} from the oracle provider`);
  } catch (cause) {
    if (cause instanceof OracleProviderError) throw cause;
    throw new OracleProviderError('no answer from the oracle provider', { cause });
  }
}

function readAnswer(feedIds: readonly number[], answer: unknown): LatestPricesAnswer {
  const reported = member(member(answer, 'parsed'), 'priceFeeds');
  if (!Array.isArray(reported)) throw new OracleProviderError('the oracle provider reported no feeds');
  const byId = new Map(reported.map((feed: unknown) => [member(feed, 'priceFeedId'), feed]));
  const feeds = feedIds.flatMap((priceFeedId) => {
    const feed = byId.get(priceFeedId);
    return feed === undefined ? [] : [{ priceFeedId, ...properties(feed) }];
  });
  const solana = member(member(answer, 'solana'), 'data');
  return { feeds, solana: typeof solana === 'string' ? solana : null };
}

function properties(feed: unknown): Omit<FeedPrice, 'priceFeedId'> {
  const found = PROPERTIES.map((name) => [name, member(feed, name)] as const);
  return Object.fromEntries(found.filter(([, value]) => typeof value === 'string' || typeof value === 'number'));
}
