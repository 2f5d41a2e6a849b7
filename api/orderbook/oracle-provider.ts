// Asks the oracle provider's `latest_price` operation (protocol 5.5).

import { type Config, member } from '../../platform/index.ts';

const PROPERTIES = ['price', 'bestAskPrice', 'bestBidPrice', 'exponent'] as const;
/** Published clients give up after 3 s themselves (reference 1.1). */
const TIMEOUT_MS = 3_000;
/** Where the localnet answers the operation, on its JSON-RPC port. */
const LOCALNET_PATH = '/v1/latest_price';

/** One feed as the provider tells it: prices are integer texts, to be scaled by 10^exponent. */
export interface FeedPrice {
  readonly priceFeedId: number;
  readonly price?: string;
  readonly bestAskPrice?: string;
  readonly bestBidPrice?: string;
  readonly exponent?: number;
}

export interface LatestPricesAnswer {
  /** In the order asked for; feeds the provider does not tell are missing. */
  readonly feeds: readonly FeedPrice[];
  /** The signed message for Solana in hex; null when there is none. */
  readonly solana: string | null;
}

export type LatestPrices = (feedIds: readonly number[]) => Promise<LatestPricesAnswer>;

/** The provider did not give a usable answer. */
export class OracleProviderError extends Error {
  override readonly name = 'OracleProviderError';
}

/** The configured operation, else the localnet's under the RPC URL. */
export function providerUrl({ oracleFeedUrl, rpcUrl }: Pick<Config, 'oracleFeedUrl' | 'rpcUrl'>): string {
  return oracleFeedUrl === '' ? new URL(LOCALNET_PATH, rpcUrl).toString() : oracleFeedUrl;
}

/** A caller of the operation at `url`; it rejects with OracleProviderError. An empty token is not sent. */
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
  const told = member(member(answer, 'parsed'), 'priceFeeds');
  if (!Array.isArray(told)) throw new OracleProviderError('the oracle provider told no feeds');
  const byId = new Map(told.map((feed: unknown) => [member(feed, 'priceFeedId'), feed]));
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
