// What clients of the history socket may ask for, and in which words they are told what is wrong (history reference 6).

import type { CandleResolution, MarketView } from '../../../schemas/index.ts';
import { HISTORY_SOCKET_ERRORS } from '../../errors.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import { RESOLUTIONS } from '../resolutions.ts';
import { isPublicKey } from '../services.ts';

export const CHANNEL_TYPES = ['candle', 'markets', 'pricing', 'notifications'] as const;

export interface CandleChannel {
  readonly channelType: 'candle';
  readonly channel: string;
  readonly market: MarketView;
  readonly resolution: CandleResolution;
}
export interface SummaryChannel {
  readonly channelType: 'markets' | 'pricing';
  readonly channel: string;
}
export interface NotificationChannel {
  readonly channelType: 'notifications';
  readonly channel: string;
  /** Wallet, base58. */
  readonly authority: string;
}
export type Channel = CandleChannel | SummaryChannel | NotificationChannel;

export interface ChannelRequest {
  readonly type: 'subscribe' | 'unsubscribe';
  readonly channel: Channel;
}

/** `error` message of the socket. */
export interface Refusal {
  readonly type: 'error';
  readonly message: string;
  /** What the client asked for, where it named something. */
  readonly channelType?: unknown;
}

const refusal = (message: string, channelType?: unknown): Refusal => ({
  type: 'error',
  message,
  ...(channelType === undefined ? {} : { channelType }),
});

/** Reads one message of a client. */
export function readRequest(text: string, markets: MarketRegistry): ChannelRequest | Refusal {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return refusal(HISTORY_SOCKET_ERRORS.json);
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    return refusal(HISTORY_SOCKET_ERRORS.type);
  }
  const request = message as Readonly<Record<string, unknown>>;
  const { type } = request;
  if (type !== 'subscribe' && type !== 'unsubscribe') return refusal(HISTORY_SOCKET_ERRORS.type);
  // The older form of a candle subscription names no channelType.
  const legacy = request.symbol !== undefined && request.resolution !== undefined;
  const channelType = request.channelType ?? (legacy ? 'candle' : undefined);
  if (channelType === undefined) return refusal(HISTORY_SOCKET_ERRORS.missing);
  if (!CHANNEL_TYPES.some((known) => known === channelType)) {
    return refusal(HISTORY_SOCKET_ERRORS.unknownChannel, channelType);
  }
  const channel = channelOf(String(channelType), request, markets);
  return channel ? { type, channel } : refusal(HISTORY_SOCKET_ERRORS.parameters + channelType, channelType);
}

/** null when a field is missing or means nothing. */
function channelOf(
  channelType: string,
  request: Readonly<Record<string, unknown>>,
  markets: MarketRegistry,
): Channel | null {
  if (channelType === 'candle') return candleChannel(request, markets);
  if (channelType === 'markets') return { channelType, channel: 'markets:summary' };
  if (channelType === 'pricing') return { channelType, channel: 'pricing' };
  // `authorityId` is what older clients send.
  const authority = request.authority ?? request.authorityId;
  if (typeof authority !== 'string' || !isPublicKey(authority)) return null;
  return { channelType: 'notifications', channel: `notifications:${authority}`, authority };
}

function candleChannel(
  { symbol, resolution }: Readonly<Record<string, unknown>>,
  markets: MarketRegistry,
): CandleChannel | null {
  const market = typeof symbol === 'string' ? markets.byName(symbol) : null;
  const known = RESOLUTIONS.find((name) => name === resolution);
  if (!market || !known) return null;
  return { channelType: 'candle', channel: `candle:${market.symbol}:${known}`, market, resolution: known };
}

/** Answer to a subscribe, before anything of the channel. */
export function acknowledgement(channel: Channel): object {
  const { channelType, channel: name } = channel;
  const head = { type: 'subscription', channelType, channel: name };
  if (channelType === 'candle') {
    const { market, resolution } = channel;
    return { ...head, message: `Subscribed to ${market.symbol} ${resolution}`, symbol: market.symbol, resolution };
  }
  const what = channelType === 'notifications' ? 'notifications' : `${channelType} updates`;
  return { ...head, message: `Subscribed to ${what}` };
}
