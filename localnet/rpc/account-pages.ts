// getProgramAccountsV2 of the providers: the accounts of a program in pages. The page walks over all accounts of the program
// and filters afterwards, so a page can be short or empty without being the last.

import type { ChainView } from '../ledger/view.ts';
import type { AccountVersion } from '../ledger.ts';
import { accountJson, checkFormat, filtersOf, formatOf, passes } from './account-json.ts';
import type { Method } from './dispatch.ts';
import { invalidParams, invalidType } from './errors.ts';
import { type Config, commitmentOf, configOf, contextSlot, integerOr, keyOf, need } from './params.ts';
import { contextJson } from './version.ts';

/** Limits of the providers that offer the call. */
const PAGE_ACCOUNTS_MAX = 10_000;
const PAGE_ACCOUNTS_DEFAULT = 1000;

export function programAccountPages(view: ChainView): Method {
  return (params) => {
    need(params, 1);
    const program = keyOf(params[0]);
    const config = configOf(params[1]);
    const format = formatOf(config, 'base64');
    const filters = filtersOf(config.filters);
    const limit = pageLimit(config);
    const after = cursorOf(config.paginationKey);
    const changedSince = integerOr(config.changedSinceSlot, 0);
    const commitment = commitmentOf(config);
    const slot = contextSlot(view, config, commitment);
    const candidates = [...view.owned(program, commitment)]
      .filter((account) => account.slot >= changedSince && (after === null || account.pubkey > after))
      .sort((a, b) => (a.pubkey < b.pubkey ? -1 : 1));
    const walked = candidates.slice(0, limit);
    const accounts = walked.filter((account) => passes(account.data, filters));
    for (const account of accounts) checkFormat(account, format);
    const next = candidates.length > limit ? (walked.at(-1)?.pubkey ?? null) : null;
    return page(accounts, (account) => accountJson(account, format), next, config.withContext === true ? slot : null);
  };
}

/** The head, one piece per account, and the tail. */
function* page(
  accounts: readonly AccountVersion[],
  print: (account: AccountVersion) => string,
  next: string | null,
  slot: number | null,
): Generator<string> {
  yield slot === null ? '{"accounts":[' : `{"context":${contextJson(slot)},"value":{"accounts":[`;
  for (const [index, account] of accounts.entries()) {
    yield `${index > 0 ? ',' : ''}{"account":${print(account)},"pubkey":"${account.pubkey}"}`;
  }
  yield `],"paginationKey":${JSON.stringify(next)}}${slot === null ? '' : '}'}`;
}

function pageLimit(config: Config): number {
  const limit = integerOr(config.limit, PAGE_ACCOUNTS_DEFAULT);
  if (limit < 1 || limit > PAGE_ACCOUNTS_MAX) {
    throw invalidParams(`Invalid limit; must be between 1 and ${PAGE_ACCOUNTS_MAX}`);
  }
  return limit;
}

function cursorOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw invalidType(value, 'a string');
  return keyOf(value);
}
