// /stats/vaults, and the list that /vaults returns when no file is configured.

import type { FastifyInstance } from 'fastify';
import { answerOf, KEY, listOf, objectOf, raw, type Schema, TEXT, WHOLE } from '../answer-schemas.ts';
import { type VaultRow, vaultStates } from '../queries/vaults.ts';
import { described, errorResponses } from '../route-schemas.ts';
import type { HistoryServices } from '../services.ts';

const TOKENS = raw('token, mint decimals');
const SHARES = raw('shares');
const RATE: Schema = { type: 'integer', description: 'share, 1e6' };

const STATS = objectOf({
  totalDeposits: TOKENS,
  totalWithdraws: TOKENS,
  managerNetDeposits: TOKENS,
  managerTotalDeposits: TOKENS,
  managerTotalWithdraws: TOKENS,
  netDeposits: TOKENS,
  totalShares: SHARES,
  userShares: { ...SHARES, description: 'raw integer, shares of all depositors but the manager' },
  profitShare: RATE,
  managementFee: raw('share 1e6', 'of the equity by the year'),
  hurdleRate: RATE,
  spotMarketIndex: WHOLE,
  permissioned: { type: 'boolean', description: 'only invited wallets may deposit' },
  maxTokens: { ...TOKENS, description: 'raw integer, token, mint decimals; 0 = no bound' },
  redeemPeriod: { ...WHOLE, description: 'seconds from a request to its withdrawal' },
  name: TEXT,
  vault: KEY,
  manager: KEY,
});

/** Statistics of one vault (docs/internals/history-semantics.md, "Snapshots"). */
function statsOf(row: VaultRow) {
  return {
    totalDeposits: row.totalDeposits,
    totalWithdraws: row.totalWithdraws,
    managerNetDeposits: row.managerNetDeposits,
    managerTotalDeposits: row.managerTotalDeposits,
    managerTotalWithdraws: row.managerTotalWithdraws,
    netDeposits: row.netDeposits,
    totalShares: row.totalShares,
    userShares: row.userShares,
    profitShare: row.profitShare,
    managementFee: row.managementFee,
    hurdleRate: row.hurdleRate,
    spotMarketIndex: row.spotMarketIndex,
    permissioned: row.permissioned,
    maxTokens: row.maxTokens,
    redeemPeriod: Number(row.redeemPeriod),
    name: row.name,
    vault: row.vault,
    manager: row.manager,
  };
}

export function vaultStatsRoute(app: FastifyInstance, { store, builtParts }: HistoryServices): void {
  app.get(
    '/stats/vaults',
    {
      schema: described({
        summary: 'Vaults as their accounts say',
        tags: ['Stats'],
        response: { 200: answerOf('by the time they were opened', { vaults: listOf(STATS) }), ...errorResponses },
      }),
    },
    async () => {
      await builtParts.require('vaults');
      return { success: true, vaults: (await vaultStates(store)).map(statsOf) };
    },
  );
}

/** Builds the list of vaults from their accounts, in the form of a deployment's own file. */
export async function vaultList({ store, builtParts }: HistoryServices): Promise<readonly object[]> {
  await builtParts.require('vaults');
  return (await vaultStates(store)).map((row) => ({
    vault: row.vault,
    name: row.name,
    manager: row.manager,
    user: row.user,
    spotMarketIndex: row.spotMarketIndex,
    managementFee: row.managementFee,
    profitShare: row.profitShare,
    hurdleRate: row.hurdleRate,
    redeemPeriod: Number(row.redeemPeriod),
    minDepositAmount: row.minDepositAmount,
    maxTokens: row.maxTokens,
    permissioned: row.permissioned,
  }));
}
