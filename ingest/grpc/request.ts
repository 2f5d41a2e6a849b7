// The filters of a gRPC subscription, and the account kind that a filter's name stands for.

import { type GeyserRequest, geyserMessages } from '../../schemas/index.ts';
import type { SessionParts } from '../rpc/session.ts';
import { emptyRequest } from './stream.ts';

/** Name of the filter of oracles of other programs. Other account filters have the index of their kind as name. */
const ORACLES = 'oracles';
const ORACLE_KIND = -1;

/** `oracles` are keys (base58) of oracles of other programs. A request that changes a subscription has no `fromSlot`. */
export function subscribeRequest(
  { accountFilters, accountCommitment, programs }: SessionParts,
  oracles: ReadonlySet<string>,
  fromSlot: number | null,
): GeyserRequest {
  const { CommitmentLevel } = geyserMessages();
  const accounts = accountRequests(accountFilters);
  if (oracles.size > 0) accounts[ORACLES] = { account: [...oracles], owner: [], filters: [] };
  const levels = {
    processed: CommitmentLevel.PROCESSED,
    confirmed: CommitmentLevel.CONFIRMED,
    finalized: CommitmentLevel.FINALIZED,
  };
  return {
    ...emptyRequest(),
    accounts,
    transactions: transactionRequests(programs),
    blocksMeta: { blocks: {} },
    slots: { slots: {} },
    commitment: levels[accountCommitment],
    ...(fromSlot === null ? {} : { fromSlot: String(fromSlot) }),
  };
}

/** Filters of account kinds, each with its index as name. */
export function accountRequests(accountFilters: SessionParts['accountFilters']): GeyserRequest['accounts'] {
  const accounts: GeyserRequest['accounts'] = {};
  for (const [kind, { program, discriminator }] of accountFilters.entries()) {
    const filters = [{ memcmp: { offset: '0', bytes: discriminator } }];
    accounts[String(kind)] = { account: [], owner: [program], filters };
  }
  return accounts;
}

/** Filters of the transactions of each program, without failed ones. */
export function transactionRequests(programs: readonly string[]): GeyserRequest['transactions'] {
  return Object.fromEntries(programs.map((program) => [program, transactionsOf(program)]));
}

function transactionsOf(program: string): GeyserRequest['transactions'][string] {
  return { vote: false, failed: false, accountInclude: [program], accountExclude: [], accountRequired: [] };
}

/** Index of the account kind, from the names of the filters that an update passed; -1 for an oracle of another program. */
export function kindOf(filters: readonly string[]): number {
  const kind = filters.find((name) => name !== ORACLES);
  return kind === undefined ? ORACLE_KIND : Number(kind);
}
