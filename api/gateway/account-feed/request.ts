// Reads client messages to the `account` channel. Pure: refusals are values of the error table.

import { readKey } from '../../../platform/index.ts';
import { givenMembers, type Member } from '../../http/contract/inputs.ts';
import { flag, key, nullable, record, ref } from '../../http/contract/json-schema.ts';
import { wordMember } from '../../http/contract/members.ts';
import type { AccountFeedErrorCode } from '../../http/errors.ts';
import { MARKET_MEMBERS, type RequestId, type ResumeVersions, refusalOf, resume } from '../feed/request.ts';

/** A user account, or all accounts of a wallet, in base58. */
export type AccountTarget = { readonly account: string } | { readonly authority: string };

export type AccountRequest =
  | {
      readonly is: 'subscribe';
      readonly id: RequestId;
      readonly target: AccountTarget;
      readonly versions: ResumeVersions;
      /** With queue positions. */
      readonly queue: boolean;
    }
  | { readonly is: 'unsubscribe'; readonly id: RequestId; readonly target: AccountTarget }
  | { readonly is: 'error'; readonly id: RequestId; readonly code: AccountFeedErrorCode };

/** Base58 of 32 bytes; null when malformed, undefined when absent. */
function keyMember(description: string): Member<string | null | undefined> {
  return {
    isRequired: false,
    schema: key(description),
    read: (value) => {
      if (value === undefined) return undefined;
      return typeof value === 'string' && readKey(value) ? value : null;
    },
  };
}

const HEAD = { channel: wordMember(['account'], 'in any letter case') };
const CHOICES = {
  account: keyMember('a user account; either this or authority'),
  authority: keyMember('a wallet: its user accounts of sub-account 0 to 7'),
  id: MARKET_MEMBERS.id,
};
const byStream: typeof resume = {
  ...resume,
  schema: {
    description: 'versions that the client holds, by stream name',
    anyOf: [record(ref('BookVersion'), 'by stream name'), { type: 'null' }],
  },
};
const queue: Member<boolean> = {
  isRequired: false,
  schema: nullable(flag('true: with messages queue, the place of each resting order in the queue of its price')),
  read: (value) => value === true,
};
const ACTION = 'in any letter case';
export const ACCOUNT_SUBSCRIBE = {
  type: wordMember(['subscribe'], ACTION),
  ...HEAD,
  ...CHOICES,
  resume: byStream,
  queue,
};
export const ACCOUNT_UNSUBSCRIBE = { type: wordMember(['unsubscribe'], ACTION), ...HEAD, ...CHOICES };

/** Reads a subscribe or unsubscribe of the `account` channel. */
export function readAccountRequest(
  action: 'subscribe' | 'unsubscribe',
  message: Readonly<Record<string, unknown>>,
): AccountRequest {
  const given = givenMembers(ACCOUNT_SUBSCRIBE, message);
  const id = given('id');
  const [account, authority] = [given('account'), given('authority')];
  const target =
    account && authority === undefined ? { account } : account === undefined && authority ? { authority } : null;
  if (!target) return { is: 'error', id, code: 'account' };
  if (action === 'unsubscribe') return { is: 'unsubscribe', id, target };
  try {
    return { is: 'subscribe', id, target, versions: given('resume')(true), queue: given('queue') };
  } catch (error) {
    refusalOf(error);
    return { is: 'error', id, code: 'resume' };
  }
}
