// Client requests of the history socket, and their refusals.

import { CANDLE_RESOLUTIONS, type CandleResolution, type MarketView } from '../../../schemas/index.ts';
import { type Given, givenMembers, type Member } from '../../http/contract/inputs.ts';
import { choice, type JsonSchema, key, text } from '../../http/contract/json-schema.ts';
import { textMember } from '../../http/contract/members.ts';
import { HISTORY_SOCKET_ERRORS } from '../../http/errors.ts';
import type { MarketRegistry } from '../../views/registry.ts';
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
  /** The client's own value, when the message names one. */
  readonly channelType?: unknown;
}

const refusal = (message: string, channelType?: unknown): Refusal => ({
  type: 'error',
  message,
  ...(channelType === undefined ? {} : { channelType }),
});

const TYPES = ['subscribe', 'unsubscribe'] as const;

/** Accepts exactly one of several values; null for anything else. */
function exactMember<T extends string>(values: readonly T[], schema: JsonSchema): Member<T | null> {
  return { isRequired: false, schema, read: (value) => values.find((known) => known === value) ?? null };
}

const optionalText = (schema: JsonSchema) => ({ ...textMember(schema), isRequired: false });
const authority: Member<string | null | undefined> = {
  ...optionalText(key('notifications: wallet')),
  read: (value) => (value === undefined || value === null ? undefined : typeof value === 'string' ? value : null),
};

/** Members of a message with one of these types. */
export function requestMembers<T extends string>(types: readonly T[]) {
  const [only, ...others] = types;
  return {
    type: { ...exactMember(types, others.length === 0 ? { const: only } : choice(types)), isRequired: true },
    channelType: exactMember(
      CHANNEL_TYPES,
      choice(CHANNEL_TYPES, 'candle when symbol and resolution are given without it'),
    ),
    symbol: optionalText(text('candle: market symbol in any letter case')),
    resolution: exactMember(CANDLE_RESOLUTIONS, choice(CANDLE_RESOLUTIONS, 'candle: bucket length')),
    authority,
    authorityId: { ...authority, schema: key('notifications: the same under its older name') },
  };
}

const MEMBERS = requestMembers(TYPES);
type Request = Given<typeof MEMBERS>;

/** Parses one client message. */
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
  const sent = message as Readonly<Record<string, unknown>>;
  const given = givenMembers(MEMBERS, sent);
  const type = given('type');
  if (type === null) return refusal(HISTORY_SOCKET_ERRORS.type);
  // The older form of a candle subscription has no channelType.
  const isOlder = sent.symbol !== undefined && sent.resolution !== undefined;
  const named = sent.channelType ?? (isOlder ? 'candle' : undefined);
  if (named === undefined) return refusal(HISTORY_SOCKET_ERRORS.missing);
  const channelType = given('channelType') ?? (named === 'candle' ? 'candle' : null);
  if (channelType === null) return refusal(HISTORY_SOCKET_ERRORS.unknownChannel, named);
  const channel = channelOf(channelType, given, markets);
  return channel ? { type, channel } : refusal(HISTORY_SOCKET_ERRORS.parameters + channelType, channelType);
}

/** The requested channel; null when a member is missing or invalid. */
function channelOf(
  channelType: (typeof CHANNEL_TYPES)[number],
  given: Request,
  markets: MarketRegistry,
): Channel | null {
  if (channelType === 'candle') return candleChannel(given, markets);
  if (channelType === 'markets') return { channelType, channel: 'markets:summary' };
  if (channelType === 'pricing') return { channelType, channel: 'pricing' };
  // Older clients send `authorityId`.
  const named = given('authority');
  const wallet = named === undefined ? given('authorityId') : named;
  if (!wallet || !isPublicKey(wallet)) return null;
  return { channelType: 'notifications', channel: `notifications:${wallet}`, authority: wallet };
}

function candleChannel(given: Request, markets: MarketRegistry): CandleChannel | null {
  const symbol = given('symbol');
  const resolution = given('resolution');
  const market = symbol === null ? null : markets.byName(symbol);
  if (!market || !resolution) return null;
  return { channelType: 'candle', channel: `candle:${market.symbol}:${resolution}`, market, resolution };
}

/** First answer to a subscribe. */
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
