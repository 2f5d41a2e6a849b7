// Meaning of a client message; pure. docs/internals/order-book-server.md, "WebSocket requests".

import type { MarketRef, MarketType } from '../../schemas/index.ts';
import { MARKET_TYPES } from '../http/contract/books.ts';
import { givenMembers, type Member } from '../http/contract/inputs.ts';
import { textMember, wordMember } from '../http/contract/members.ts';
import { lenientInteger } from '../http/lenient.ts';
import type { MarketRegistry } from '../views/registry.ts';

export const CHANNELS = ['orderbook', 'orderbook_indicative', 'trades', 'priorityfees'] as const;
export type ChannelKind = (typeof CHANNELS)[number];

/** Channels whose messages are numbered (feed/feeds.ts). */
const SEQUENCED_CHANNELS = ['book', 'trades.v2', 'account'] as const;
export type SequencedChannel = (typeof SEQUENCED_CHANNELS)[number];

export const GROUPINGS = [1, 10, 100, 500, 1000] as const;
export type Grouping = (typeof GROUPINGS)[number];

const ACTIONS = ['subscribe', 'unsubscribe'] as const;
type Action = (typeof ACTIONS)[number];

const grouping: Member<Grouping> = {
  isRequired: false,
  schema: {
    description: `books only: width of a level in tick sizes, one of ${GROUPINGS.join(', ')}, also as text; anything else means 1`,
    default: 1,
    examples: [...GROUPINGS],
  },
  read: (value) => {
    const number = lenientInteger(value);
    return GROUPINGS.find((known) => known === number) ?? 1;
  },
};

/** Members of messages with these types and channels. */
export function channelMembers<A extends Action, C extends string>(actions: readonly A[], channels: readonly C[]) {
  return {
    type: wordMember(actions, 'in any letter case'),
    channel: wordMember(channels, 'in any letter case'),
    market: textMember('symbol in any letter case, for example SOL-PERP'),
    marketType: wordMember(MARKET_TYPES, 'in any letter case'),
    grouping,
  };
}

const MEMBERS = channelMembers(ACTIONS, [...CHANNELS, ...SEQUENCED_CHANNELS]);

export interface ResolvedChannel {
  readonly kind: ChannelKind;
  readonly market: MarketRef;
  /** 1 for channels that are not books. */
  readonly grouping: Grouping;
  /** Response channel name. docs/internals/order-book-server.md, "WebSocket messages". */
  readonly name: string;
}

export type ClientRequest =
  /** Not JSON, no `type`, or an unknown type: no answer. */
  | { readonly is: 'ignored' }
  /** The gateway closes the connection with 1003. */
  | { readonly is: 'unknownChannel' }
  /** A known channel of an unknown market; `channel` as the client sent it. */
  | { readonly is: 'unresolved'; readonly action: 'subscribe' | 'unsubscribe'; readonly channel: string }
  | {
      readonly is: 'subscribe';
      readonly channel: ResolvedChannel;
      /** The channel name as the client sent it. */
      readonly sent: string;
      readonly acknowledgement: string;
    }
  | { readonly is: 'unsubscribe'; readonly channel: ResolvedChannel }
  /** For a sequenced channel, which reads the rest (feed/request.ts). */
  | {
      readonly is: SequencedChannel;
      readonly action: 'subscribe' | 'unsubscribe';
      readonly message: Readonly<Record<string, unknown>>;
    };

const IGNORED: ClientRequest = { is: 'ignored' };

/** Both types in any letter case, and escapes that could spell them. */
const TYPE_OR_ESCAPE = /subscribe|\\/i;

/** False when `readRequest` would surely ignore the text; a cheap check without parsing. */
export function mayBeRequest(text: string): boolean {
  return TYPE_OR_ESCAPE.test(text);
}

/** Reads one text message against the listed markets. */
export function readRequest(text: string, markets: MarketRegistry): ClientRequest {
  const message = parseObject(text);
  if (message === null) return IGNORED;
  const given = givenMembers(MEMBERS, message);
  const action = given('type')?.word;
  if (!action) return IGNORED;
  const channel = given('channel');
  if (channel === null || channel.sent === '') return { is: 'unknownChannel' };
  const { sent, word: kind } = channel;
  if (isSequenced(kind)) return { is: kind, action, message };
  // The predecessor answers an unsubscribe of an unknown channel with an error; so do we.
  if (!kind) return action === 'subscribe' ? { is: 'unknownChannel' } : { is: 'unresolved', action, channel: sent };
  const market = given('market');
  const marketType = given('marketType');
  const found =
    market !== null && marketType?.word ? markets.byName(market, marketType.word satisfies MarketType) : null;
  if (!found) return { is: 'unresolved', action, channel: sent };
  const resolved = resolveChannel(kind, found, given('grouping'));
  if (action === 'unsubscribe') return { is: 'unsubscribe', channel: resolved };
  const acknowledgement = `Subscribe received for channel: ${sent}, market: ${market}, marketType: ${marketType?.sent}`;
  return { is: 'subscribe', channel: resolved, sent, acknowledgement };
}

function isSequenced(kind: ChannelKind | SequencedChannel | null): kind is SequencedChannel {
  return SEQUENCED_CHANNELS.some((channel) => channel === kind);
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Resolves a channel and its response name. */
export function resolveChannel(kind: ChannelKind, market: MarketRef, grouping: Grouping): ResolvedChannel {
  const { marketType, marketIndex } = market;
  const ref = { marketType, marketIndex };
  const suffix = `${marketType}_${marketIndex}`;
  const book = `orderbook_${suffix}_grouped_${grouping}`;
  switch (kind) {
    case 'trades':
      return { kind, market: ref, grouping: 1, name: `trades_${suffix}` };
    case 'priorityfees':
      return { kind, market: ref, grouping: 1, name: `priorityFees_${suffix}` };
    case 'orderbook':
      return { kind, market: ref, grouping, name: book };
    case 'orderbook_indicative':
      return { kind, market: ref, grouping, name: `${book}_indicative` };
  }
}
