// /user/{accountId}/snapshots/... and /authority/{authorityId}/snapshots/...: state of accounts by hour or by day.

import type { FastifyInstance } from 'fastify';
import {
  answerOf,
  DAYS_QUERY,
  KEY,
  listOf,
  objectOf,
  PRICE,
  QUOTE,
  raw,
  type Schema,
  SECONDS,
  WHOLE,
} from '../answer-schemas.ts';
import { accountsOf } from '../queries/accounts.ts';
import { referralSnapshots } from '../queries/referrals.ts';
import { ownedShares } from '../queries/vaults.ts';
import { described, errorResponses, PUBLIC_KEY } from '../route-schemas.ts';
import { type HistoryServices, keyOf } from '../services.ts';
import { frequencyOf, gridOf } from '../snapshots/grid.ts';
import { type EarnHistory, earnHistories, type TradingHistory, tradingHistories } from '../snapshots/load.ts';
import { type VaultHistory, vaultHistories } from '../snapshots/vaults.ts';

const TRADING = listOf(
  objectOf({
    ts: SECONDS,
    ...Object.fromEntries(
      [
        'accountBalance',
        'unrealizedPnl',
        'cumulativeRealizedPnl',
        'unsettledPnl',
        'cumulativeSettledPnl',
        'cumulativeFunding',
        'cumulativeFeePaid',
        'cumulativeFeeRebate',
        'cumulativeTakerVolume',
        'cumulativeMakerVolume',
      ].map((name) => [name, QUOTE]),
    ),
  }),
  'oldest first, from the first event of the account on',
);
const METRICS = objectOf(
  {
    cumulativeMakerVolume: QUOTE,
    cumulativeTakerVolume: QUOTE,
    cumulativeFeePaid: QUOTE,
    cumulativeFeeRebate: QUOTE,
  },
  'over the life of the account',
);
const TOKENS = raw('token, mint decimals');
const EARN = listOf(
  objectOf({
    ts: SECONDS,
    assets: listOf(
      objectOf({
        marketIndex: WHOLE,
        balance: TOKENS,
        deposits: TOKENS,
        withdrawals: TOKENS,
        rewards: TOKENS,
        pnl: TOKENS,
        interestBaseValue: TOKENS,
        interestQuoteValue: QUOTE,
        oraclePrice: PRICE,
      }),
    ),
  }),
  'oldest first, daily, from the first movement of tokens on',
);
const FLAGGED = objectOf({
  flagged: {
    type: 'boolean',
    description: 'tokens moved before the first deposit record: the starting balance is unknown',
  },
});
const VAULTS = listOf(
  objectOf({
    ts: SECONDS,
    vault: KEY,
    totalAccountValue: QUOTE,
    totalAccountBaseValue: TOKENS,
    marketIndex: { ...WHOLE, description: "spot market of the vault's token" },
  }),
  'oldest first, from the first record of the deposit on; worth at the oracle price, fees that run up not taken off',
);
const REFERRALS = listOf(
  objectOf({
    ts: SECONDS,
    referralCount: WHOLE,
    referralRewards: QUOTE,
    referredVolume30D: QUOTE,
    referredUsers: listOf(KEY),
  }),
  'oldest first, from the first referral on',
);

interface SnapshotRequest {
  readonly services: HistoryServices;
  /** The account, or the wallet. */
  readonly key: string;
  /** The account alone, or all accounts of the wallet. */
  readonly users: readonly string[];
  readonly days: number;
  /** Unix seconds: the newest point, shared by everything in one answer. */
  readonly now: number;
}

interface SnapshotRoute {
  readonly name: string;
  readonly summary: string;
  readonly members: Readonly<Record<string, Schema>>;
  readonly answer: (request: SnapshotRequest) => Promise<object>;
}

const USER_ROUTES: readonly SnapshotRoute[] = [
  {
    name: 'trading',
    summary: 'Trading of an account',
    members: { snapshots: TRADING, metrics: METRICS },
    answer: async (request) => (await tradingOf(request)).get(request.key) ?? {},
  },
  {
    name: 'earn',
    summary: 'What the tokens of an account brought',
    members: { snapshots: EARN, meta: FLAGGED },
    answer: async (request) => {
      const history = (await earnOf(request)).get(request.key);
      return { snapshots: history?.snapshots ?? [], meta: { flagged: history?.flagged ?? false } };
    },
  },
  {
    name: 'vaults',
    summary: 'Vault deposits of a depositor account, or of the wallet of a trading account',
    members: { snapshots: VAULTS },
    answer: async (request) => ({
      snapshots: (await vaultsOf(request, 'account'))
        .flatMap(({ snapshots }) => snapshots)
        .toSorted((a, b) => a.ts - b.ts),
    }),
  },
];

const ACCOUNT = { accountId: KEY };
const TRADING_ACCOUNTS = listOf(objectOf({ ...ACCOUNT, snapshots: TRADING, metrics: METRICS }));
const VAULT_ACCOUNTS = listOf(objectOf({ ...ACCOUNT, snapshots: VAULTS }));
const EARN_ACCOUNTS = listOf(objectOf({ ...ACCOUNT, snapshots: EARN }));

const AUTHORITY_ROUTES: readonly SnapshotRoute[] = [
  {
    name: 'overview',
    summary: 'Trading, earning and vaults of the accounts of a wallet',
    members: { products: objectOf({ trade: TRADING_ACCOUNTS, earn: EARN_ACCOUNTS, vaults: VAULT_ACCOUNTS }) },
    answer: async (request) => {
      const [trade, earn, vaults] = await Promise.all([
        tradingOf(request),
        earnOf(request),
        vaultsOf(request, 'wallet'),
      ]);
      return { products: { trade: byAccount(trade), earn: earnByAccount(earn), vaults } };
    },
  },
  {
    name: 'trading',
    summary: 'Trading of the accounts of a wallet',
    members: { accounts: TRADING_ACCOUNTS },
    answer: async (request) => ({ accounts: byAccount(await tradingOf(request)) }),
  },
  {
    name: 'earn',
    summary: 'What the tokens of the accounts of a wallet brought',
    members: { accounts: EARN_ACCOUNTS },
    answer: async (request) => ({ accounts: earnByAccount(await earnOf(request)) }),
  },
  {
    name: 'vaults',
    summary: 'Vault deposits of a wallet',
    members: { accounts: VAULT_ACCOUNTS },
    answer: async (request) => ({ accounts: await vaultsOf(request, 'wallet') }),
  },
  {
    name: 'referrals',
    summary: 'Users that a wallet referred, their volume and the rewards',
    members: { snapshots: REFERRALS },
    answer: async ({ services, key, days, now }) => ({
      snapshots: await referralSnapshots(services.store, key, gridOf(now, days, frequencyOf(days))),
    }),
  },
];

function tradingOf({ services, users, days, now }: SnapshotRequest): Promise<ReadonlyMap<string, TradingHistory>> {
  return tradingHistories(services, users, gridOf(now, days, frequencyOf(days)));
}

function earnOf({ services, users, days, now }: SnapshotRequest): Promise<ReadonlyMap<string, EarnHistory>> {
  return earnHistories(services, users, gridOf(now, days, 'daily'));
}

async function vaultsOf(
  { services, key, days, now }: SnapshotRequest,
  scope: 'account' | 'wallet',
): Promise<readonly VaultHistory[]> {
  await services.builtParts.require('vaults');
  const owned = await ownedShares(services.store, scope, key);
  return vaultHistories(services, owned, gridOf(now, days, frequencyOf(days)));
}

const byAccount = (histories: ReadonlyMap<string, TradingHistory>) =>
  [...histories].map(([accountId, history]) => ({ accountId, ...history }));
const earnByAccount = (histories: ReadonlyMap<string, EarnHistory>) =>
  [...histories].map(([accountId, { snapshots }]) => ({ accountId, snapshots }));

export function snapshotRoutes(app: FastifyInstance, services: HistoryServices): void {
  for (const route of USER_ROUTES) {
    snapshotRoute(app, services, { scope: 'user', param: 'accountId', tag: 'User' }, route, async (key) => [key]);
  }
  for (const route of AUTHORITY_ROUTES) {
    const scope = { scope: 'authority', param: 'authorityId', tag: 'Authority' };
    snapshotRoute(app, services, scope, route, async (key) =>
      (await accountsOf(services.store, key)).map(({ accountId }) => accountId),
    );
  }
}

function snapshotRoute(
  app: FastifyInstance,
  services: HistoryServices,
  { scope, param, tag }: { readonly scope: string; readonly param: string; readonly tag: string },
  { name, summary, members, answer }: SnapshotRoute,
  usersOf: (key: string) => Promise<readonly string[]>,
): void {
  app.get<{ Params: Readonly<Record<string, string>>; Querystring: { days: number } }>(
    `/${scope}/:${param}/snapshots/${name}`,
    {
      schema: described({
        summary,
        tags: [tag],
        params: { type: 'object', required: [param], properties: { [param]: PUBLIC_KEY } },
        querystring: DAYS_QUERY,
        response: { 200: answerOf('snapshots', members), ...errorResponses },
      }),
    },
    async ({ params, query: { days } }) => {
      const key = keyOf(params[param] ?? '');
      await services.builtParts.require('events');
      return {
        success: true,
        ...(await answer({ services, key, users: await usersOf(key), days, now: services.now() })),
      };
    },
  );
}
