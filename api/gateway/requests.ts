// What a client message means: reference 3.2, with the specification's word where they differ. Pure.

import type { MarketRef, MarketType } from '../../schemas/index.ts';
import { MARKET_TYPES } from '../contract/books.ts';
import { givenMembers, type Member } from '../contract/inputs.ts';
import { textMember, wordMember } from '../contract/members.ts';
import { lenientInteger } from '../lenient.ts';
import type { MarketRegistry } from '../views/registry.ts';

export const CHANNELS = ['orderbook', 'orderbook_indicative', 'trades', 'priorityfees'] as const;
export type ChannelKind = (typeof CHANNELS)[number];

export const GROUPINGS = [1, 10, 100, 500, 1000] as const;
export type Grouping = (typeof GROUPINGS)[number];

const ACTIONS = ['subscribe', 'unsubscribe'] as const;
type Action = (typeof ACTIONS)[number];
const BOOK = 'book';

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

/** Members of a message of these types to these channels. */
export function channelMembers<A extends Action, C extends string>(actions: readonly A[], channels: readonly C[]) {
  return {
    type: wordMember(actions, 'in any letter case'),
    channel: wordMember(channels, 'in any letter case'),
    market: textMember('symbol in any letter case, for example SOL-PERP'),
    marketType: wordMember(MARKET_TYPES, 'in any letter case'),
    grouping,
  };
}

const MEMBERS = channelMembers(ACTIONS, [...CHANNELS, BOOK]);

export interface ResolvedChannel {
  readonly kind: ChannelKind;
  readonly market: MarketRef;
  /** 1 for channels that are not books. */
  readonly grouping: Grouping;
  /** Response channel name of reference 3.4. */
  readonly name: string;
}

export type ClientRequest =
  /** Not JSON, no `type`, or a type we do not know: no answer at all. */
  | { readonly is: 'ignored' }
  /** The connection is to be closed with 1003. */
  | { readonly is: 'unknownChannel' }
  /** The channel is named but cannot be resolved; `channel` as the client sent it. */
  | { readonly is: 'unresolved'; readonly action: 'subscribe' | 'unsubscribe'; readonly channel: string }
  | {
      readonly is: 'subscribe';
      readonly channel: ResolvedChannel;
      /** The channel name as the client sent it. */
      readonly sent: string;
      readonly acknowledgement: string;
    }
  | { readonly is: 'unsubscribe'; readonly channel: ResolvedChannel }
  /** For the `book` channel, which reads its own messages (feed/request.ts). */
  | {
      readonly is: 'book';
      readonly action: 'subscribe' | 'unsubscribe';
      readonly message: Readonly<Record<string, unknown>>;
    };

const IGNORED: ClientRequest = { is: 'ignored' };

/** Both types in any letter case, and escapes, behind which they may hide. */
const TYPE_OR_ESCAPE = /subscribe|\\/i;

/** False for what `readRequest` would ignore, without reading it; true says nothing. */
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
  if (channel.word === BOOK) return { is: 'book', action, message };
  const { sent, word: kind } = channel;
  // An unsubscribe of an unknown name answers with an error, as the predecessor does; the specification is silent.
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

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** The channel and its response name. */
export function resolveChannel(kind: ChannelKind, market: MarketRef, grouping: Grouping): ResolvedChannel {
  const { marketType, marketIndex } = market;
  const ref = { marketType, marketIndex };
  const suffix = `${marketType}_${marketIndex}`;
  if (kind === 'trades') return { kind, market: ref, grouping: 1, name: `trades_${suffix}` };
  if (kind === 'priorityfees') return { kind, market: ref, grouping: 1, name: `priorityFees_${suffix}` };
  const book = `orderbook_${suffix}_grouped_${grouping}`;
  return { kind, market: ref, grouping, name: kind === 'orderbook' ? book : `${book}_indicative` };
}
