// States of vaults, and the history of their shares.

import { inKeysSql, keyList, keySql } from '../keys.ts';
import { bucketSql, type Grid, gridParameters } from '../snapshots/grid.ts';
import type { HistoryStore } from '../store.ts';

/** State of a vault account. 64-bit and larger numbers are text, amounts in units of its token, rates 1e6. */
export interface VaultRow {
  readonly vault: string;
  readonly name: string;
  readonly manager: string;
  readonly user: string;
  readonly spotMarketIndex: number;
  readonly totalDeposits: string;
  readonly totalWithdraws: string;
  readonly netDeposits: string;
  readonly managerTotalDeposits: string;
  readonly managerTotalWithdraws: string;
  readonly managerNetDeposits: string;
  readonly totalShares: string;
  readonly userShares: string;
  readonly profitShare: number;
  readonly managementFee: string;
  readonly hurdleRate: number;
  readonly permissioned: boolean;
  readonly maxTokens: string;
  readonly minDepositAmount: string;
  readonly redeemPeriod: string;
}

/** Every vault, sorted by opening time, then key. */
export function vaultStates(store: HistoryStore): Promise<readonly VaultRow[]> {
  return store.rows<VaultRow>(
    `SELECT vault, name, manager, user, spot_market_index AS spotMarketIndex, total_deposits AS totalDeposits,
       total_withdraws AS totalWithdraws, net_deposits AS netDeposits, manager_total_deposits AS managerTotalDeposits,
       manager_total_withdraws AS managerTotalWithdraws, manager_net_deposits AS managerNetDeposits,
       toString(total_shares) AS totalShares, toString(user_shares) AS userShares, profit_share_rate AS profitShare,
       management_fee_rate AS managementFee, hurdle_rate AS hurdleRate, permissioned, max_tokens AS maxTokens,
       min_deposit_amount AS minDepositAmount, redeem_period AS redeemPeriod
     FROM {db:Identifier}.vault_state FINAL ORDER BY init_ts, vault`,
    {},
  );
}

/** A share of a vault: a VaultDepositor account of a wallet, or the manager's share, whose account is the vault itself. */
export interface OwnedShareRow {
  readonly accountId: string;
  readonly vault: string;
  readonly authority: string;
  readonly isManager: number;
  /** User account of the vault. */
  readonly user: string;
  readonly spotMarketIndex: number;
}

/**
 * Vault shares of a wallet or account. A VaultDepositor account and a vault's manager have one each. A User account has the
 * shares of its wallet, because wallets own vault deposits.
 */
export function ownedShares(
  store: HistoryStore,
  scope: 'account' | 'wallet',
  key: string,
): Promise<readonly OwnedShareRow[]> {
  const wallet = `(SELECT base58Encode(user_authority) FROM {db:Identifier}.account
       WHERE user = ${keySql('key')})`;
  const own = (account: string, authority: string): string =>
    scope === 'wallet' ? `${authority} = {key:String}` : `(${account} = {key:String} OR ${authority} IN ${wallet})`;
  return store.rows<OwnedShareRow>(
    `SELECT * FROM (
       SELECT depositor AS accountId, vault, authority, 0 AS isManager, user, spot_market_index AS spotMarketIndex
       FROM (
         SELECT depositor, vault, authority FROM {db:Identifier}.vault_depositor_state FINAL
         WHERE ${own('depositor', 'authority')}
       ) AS held
       INNER JOIN (SELECT vault, user, spot_market_index FROM {db:Identifier}.vault_state FINAL) AS vaults USING vault
       UNION ALL
       SELECT vault AS accountId, vault, manager AS authority, 1 AS isManager, user, spot_market_index AS spotMarketIndex
       FROM {db:Identifier}.vault_state FINAL WHERE ${own('vault', 'manager')}
     ) ORDER BY accountId`,
    { key },
  );
}

export interface SharesRow {
  readonly vault: string;
  readonly authority: string;
  readonly bucket: string;
  readonly shares: string;
}

export interface TotalsRow {
  readonly vault: string;
  readonly bucket: string;
  readonly total: string;
  /** Shares of the manager: neither of depositors nor of the protocol. */
  readonly manager: string;
  /** Oracle price 1e6 of the vault's token. */
  readonly price: string;
  /** Equity of the vault's account after the newest step, in the vault's token. */
  readonly equity: string;
}

/** Accounts with a complete stored history: their opening record is stored. */
export async function usersSinceOpening(store: HistoryStore, users: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await store.rows<{ user: string }>(
    `SELECT DISTINCT base58Encode(user) AS user FROM {db:Identifier}.account
     WHERE ${inKeysSql('user', 'users')}`,
    { users: keyList(users) },
  );
  return new Set(rows.map(({ user }) => user));
}

const BUCKET = `${bucketSql('ts')} AS bucket`;
const UNTIL = 'ts <= {last:Int64}';
const OF_VAULTS = inKeysSql('vault', 'vaults');
const STEP_TABLES = [
  { table: 'vault_depositor', protocol: () => 'toUInt128(0)' },
  { table: 'vault_depositor_v1', protocol: (side: Side) => `protocol_shares_${side}` },
] as const;

type Side = 'before' | 'after';

/**
 * Final value of a slot from the texts before and after its steps, whose order is unknown. Each step begins where another
 * ended, so the final value occurs once more in `afters` than in `befores`. Empty when the slot ended as it began. Steps
 * without a change give the constant value.
 */
const LAST_OF_SLOT = `if(arrayUniq(arrayConcat(befores, afters)) = 1, afters[1],
           arrayFirst(v -> countEqual(afters, v) > countEqual(befores, v), afters)) AS last`;
const LISTS = 'groupArray(before) AS befores, groupArray(after) AS afters';

/** Shares of each depositor after the newest steps of each bucket. */
export function vaultShares(store: HistoryStore, vaults: readonly string[], grid: Grid): Promise<readonly SharesRow[]> {
  const steps = STEP_TABLES.map(
    ({ table }) => `
         SELECT vault, base58Encode(depositor_authority) AS authority, ${BUCKET}, slot,
           toString(vault_shares_before) AS before, toString(vault_shares_after) AS after
         FROM {db:Identifier}.${table} FINAL WHERE ${OF_VAULTS} AND ${UNTIL}`,
  );
  const transfers = (['from', 'to'] as const).map(
    (side) => `
         SELECT vault, authority, bucket, slot, before, after
         FROM (
           SELECT vault, base58Encode(${side}_vault_depositor) AS depositor, ${BUCKET}, slot,
             toString(${side}_depositor_shares_before) AS before, toString(${side}_depositor_shares_after) AS after
           FROM {db:Identifier}.share_transfer FINAL WHERE ${OF_VAULTS} AND ${UNTIL}
         ) AS moved
         INNER JOIN (SELECT depositor, authority FROM {db:Identifier}.vault_depositor_state FINAL) AS held USING depositor`,
  );
  return store.rows<SharesRow>(
    `SELECT base58Encode(vault) AS vault, authority, bucket, argMax(last, slot) AS shares
     FROM (
       SELECT vault, authority, bucket, slot, ${LISTS}, ${LAST_OF_SLOT}
       FROM (${[...steps, ...transfers].join('\n         UNION ALL ')}
       ) GROUP BY vault, authority, bucket, slot
     ) WHERE last != '' GROUP BY vault, authority, bucket`,
    { ...gridParameters(grid), vaults: keyList(vaults) },
  );
}

/** A deposit adds to the equity, a withdrawal subtracts, other steps move nothing. */
const EQUITY_AFTER = `toInt256(vault_equity_before) +
           multiIf(action = 'deposit', toInt256(amount), action = 'withdraw', -toInt256(amount), toInt256(0)) AS equity_after`;

/** Share totals of each vault after the newest steps of each bucket. */
export function vaultTotals(store: HistoryStore, vaults: readonly string[], grid: Grid): Promise<readonly TotalsRow[]> {
  const steps = STEP_TABLES.map(({ table, protocol }) => {
    const standing = (side: Side) => `concat(toString(total_vault_shares_${side}), ' ',
           toString(toInt256(total_vault_shares_${side}) - user_vault_shares_${side} - ${protocol(side)})) AS ${side}`;
    return `
         SELECT vault, ${BUCKET}, slot, (event_index, signature) AS place, deposit_oracle_price, ${EQUITY_AFTER},
           ${standing('before')}, ${standing('after')}
         FROM {db:Identifier}.${table} FINAL WHERE ${OF_VAULTS} AND ${UNTIL}`;
  });
  return store.rows<TotalsRow>(
    `SELECT base58Encode(vault) AS vault, bucket, splitByChar(' ', argMax(last, slot) AS newest)[1] AS total,
       splitByChar(' ', newest)[2] AS manager, toString(argMax(price, slot)) AS price,
       toString(argMax(equity, slot)) AS equity
     FROM (
       SELECT vault, bucket, slot, any(deposit_oracle_price) AS price,
         argMax(equity_after, place) AS equity, ${LISTS}, ${LAST_OF_SLOT}
       FROM (${steps.join('\n         UNION ALL ')}
       ) GROUP BY vault, bucket, slot
     ) WHERE last != '' GROUP BY vault, bucket`,
    { ...gridParameters(grid), vaults: keyList(vaults) },
  );
}
