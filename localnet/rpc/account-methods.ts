// JSON-RPC calls that read accounts.

import type { ChainView } from '../ledger/view.ts';
import type { AccountVersion } from '../ledger.ts';
import { type AccountFormat, accountJson, checkFormat, filtersOf, formatOf, passes } from './account-json.ts';
import { programAccountPages } from './account-pages.ts';
import type { Method } from './dispatch.ts';
import { invalidParams } from './errors.ts';
import { commitmentOf, configOf, contextSlot, keyOf, listOf, need } from './params.ts';
import { contextJson } from './version.ts';

/** MAX_MULTIPLE_ACCOUNTS of Solana. */
const MULTIPLE_ACCOUNTS_MAX = 100;

export function accountMethods(view: ChainView): [string, Method][] {
  const getAccountInfo: Method = (params) => {
    need(params, 1);
    const pubkey = keyOf(params[0]);
    const config = configOf(params[1]);
    const format = formatOf(config);
    const commitment = commitmentOf(config);
    const slot = contextSlot(view, config, commitment);
    return withContext(slot, accountOrNull(view.account(pubkey, commitment), format));
  };

  const getMultipleAccounts: Method = (params) => {
    need(params, 1);
    const keys = listOf(params[0]);
    if (keys.length > MULTIPLE_ACCOUNTS_MAX) {
      throw invalidParams(`Too many inputs provided; max ${MULTIPLE_ACCOUNTS_MAX}`);
    }
    const config = configOf(params[1]);
    const format = formatOf(config, 'base64');
    const commitment = commitmentOf(config);
    const slot = contextSlot(view, config, commitment);
    const values = keys.map((key) => accountOrNull(view.account(keyOf(key), commitment), format));
    return withContext(slot, `[${values.join(',')}]`);
  };

  const getProgramAccounts: Method = (params) => {
    need(params, 1);
    const program = keyOf(params[0]);
    const config = configOf(params[1]);
    const format = formatOf(config);
    const filters = filtersOf(config.filters);
    const commitment = commitmentOf(config);
    const slot = contextSlot(view, config, commitment);
    // Versions are immutable, so the list stays that of this slot however long the answer takes.
    const accounts = view.owned(program, commitment).filter((account) => passes(account.data, filters));
    for (const account of accounts) checkFormat(account, format);
    return keyedAccounts(accounts, format, config.withContext === true ? slot : null);
  };

  const getBalance: Method = (params) => {
    need(params, 1);
    const pubkey = keyOf(params[0]);
    const config = configOf(params[1]);
    const commitment = commitmentOf(config);
    const slot = contextSlot(view, config, commitment);
    return withContext(slot, String(view.account(pubkey, commitment)?.lamports ?? 0));
  };

  return [
    ['getAccountInfo', getAccountInfo],
    ['getMultipleAccounts', getMultipleAccounts],
    ['getProgramAccounts', getProgramAccounts],
    ['getProgramAccountsV2', programAccountPages(view)],
    ['getBalance', getBalance],
  ];
}

function accountOrNull(account: AccountVersion | null, format: AccountFormat): string {
  if (account === null) return 'null';
  checkFormat(account, format);
  return accountJson(account, format);
}

export function withContext(slot: number, value: string): string {
  return `{"context":${contextJson(slot)},"value":${value}}`;
}

function* keyedAccounts(
  accounts: readonly AccountVersion[],
  format: AccountFormat,
  slot: number | null,
): Generator<string> {
  yield slot === null ? '[' : `{"context":${contextJson(slot)},"value":[`;
  for (const [index, account] of accounts.entries()) {
    yield `${index > 0 ? ',' : ''}{"account":${accountJson(account, format)},"pubkey":"${account.pubkey}"}`;
  }
  yield slot === null ? ']' : ']}';
}
