// Reads client messages to the `trades.v2` channel. Pure: refusals are values of the error table.

import type { TradesSubscribe } from '../../../schemas/index.ts';
import { givenMembers } from '../../http/contract/inputs.ts';
import { wordMember } from '../../http/contract/members.ts';
import type { BookFeedErrorCode } from '../../http/errors.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import {
  commitment,
  MARKET_MEMBERS,
  type RequestId,
  type ResumeVersions,
  readTarget,
  refusalOf,
  resume,
  type Target,
} from '../feed/request.ts';

export type TradeRequest =
  | {
      readonly is: 'subscribe';
      readonly id: RequestId;
      readonly target: Target;
      readonly resumeVersions: ResumeVersions;
    }
  | { readonly is: 'unsubscribe'; readonly id: RequestId; readonly target: Target }
  | { readonly is: 'error'; readonly id: RequestId; readonly code: BookFeedErrorCode };

const CHANNEL = { channel: wordMember(['trades.v2'], 'in any letter case') };
const ACTION = 'in any letter case';
export const TRADES_SUBSCRIBE = {
  type: wordMember(['subscribe'], ACTION),
  ...CHANNEL,
  ...MARKET_MEMBERS,
  commitment,
  resume,
} satisfies Record<keyof TradesSubscribe, object>;
export const TRADES_UNSUBSCRIBE = {
  type: wordMember(['unsubscribe'], ACTION),
  ...CHANNEL,
  ...MARKET_MEMBERS,
  commitment,
};

/** Reads a subscribe or unsubscribe of the `trades.v2` channel. */
export function readTradeRequest(
  action: 'subscribe' | 'unsubscribe',
  message: Readonly<Record<string, unknown>>,
  markets: MarketRegistry,
): TradeRequest {
  const given = givenMembers(TRADES_SUBSCRIBE, message);
  const id = given('id');
  try {
    const target = readTarget(given, markets);
    given('commitment'); // Refuses an unknown one. The feed that gets the request is that of its commitment.
    if (action === 'unsubscribe') return { is: 'unsubscribe', id, target };
    return { is: 'subscribe', id, target, resumeVersions: given('resume')('every' in target) };
  } catch (error) {
    return { is: 'error', id, code: refusalOf(error) };
  }
}
