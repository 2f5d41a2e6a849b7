// Answers to requests of the sequenced channels: accepted, refused.

import type { MarketRef } from '../../../schemas/index.ts';
import { BOOK_FEED_ERRORS, type BookFeedError, type BookFeedErrorCode, TRADE_FEED_ERRORS } from '../../http/errors.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import type { Connection } from '../connection.ts';
import type { RequestId, Target } from './request.ts';

const ERRORS = { book: BOOK_FEED_ERRORS, 'trades.v2': TRADE_FEED_ERRORS } as const;
type Channel = keyof typeof ERRORS;

/** Refuses the request with that id, or the stream of a new market that does not fit a wildcard. */
export function refuse(
  connection: Connection,
  channel: Channel,
  code: BookFeedErrorCode,
  what: { readonly id: RequestId } | { readonly stream: string },
): void {
  const errors: Readonly<Partial<Record<BookFeedErrorCode, BookFeedError>>> = ERRORS[channel];
  const { text, retry } = errors[code] ?? BOOK_FEED_ERRORS[code];
  connection.send([JSON.stringify({ channel, type: 'error', code, error: text, retry, ...what })]);
}

export interface Acknowledgement {
  readonly channel: Channel;
  readonly type: 'subscribed' | 'unsubscribed';
  readonly id: RequestId;
  readonly target: Target;
  readonly streams: readonly string[];
}

export function acknowledge(
  connection: Connection,
  markets: MarketRegistry,
  { channel, type, id, target, streams }: Acknowledgement,
): void {
  const every = 'every' in target;
  const market = every ? '*' : (markets.get(target.market)?.symbol.toUpperCase() ?? '');
  const [type0, type1] = every ? target.every : [target.market.marketType];
  const marketType = type1 === undefined ? type0 : '*';
  connection.send([JSON.stringify({ channel, type, id, market, marketType, streams })]);
}

export function matchesTarget(target: Target, { marketType, marketIndex }: MarketRef): boolean {
  if ('every' in target) return target.every.includes(marketType);
  return target.market.marketType === marketType && target.market.marketIndex === marketIndex;
}
