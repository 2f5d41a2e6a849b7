// Who an authority referred, and what that brought, by the bucket of the grid.

import { bucketSql, type Grid, gridParameters } from '../snapshots/grid.ts';
import { byBucket } from '../snapshots/series.ts';
import type { HistoryStore } from '../store.ts';

const BUCKET = `${bucketSql('ts')} AS bucket`;
/** Days of volume that a point looks back. */
const VOLUME_DAYS = 30;
const DAY_S = 86_400;

/**
 * A referrer at a point, from the events with a time at or before it. Referred are the wallets whose accounts name the
 * authority as their referrer. `referralRewards`: referrer rewards of the taker fills of their accounts, quote 1e6.
 * `referredVolume30D`: quote 1e6 of both sides of their accounts' fills within 30 days up to the point, liquidations among
 * them, position transfers not. `referredUsers` in order of their keys.
 */
export interface ReferralSnapshot {
  readonly ts: number;
  readonly referralCount: number;
  readonly referralRewards: string;
  readonly referredVolume30D: string;
  readonly referredUsers: readonly string[];
}

const REFERRED = `SELECT user FROM {db:Identifier}.referral
  WHERE referrer = toFixedString(base58Decode({authority:String}), 32) AND ts <= {last:Int64}`;

/** Points from the first referral on, oldest first. */
export async function referralSnapshots(
  store: HistoryStore,
  authority: string,
  grid: Grid,
): Promise<readonly ReferralSnapshot[]> {
  const parameters = { ...gridParameters(grid), authority };
  const within = grid.times
    .map((ts, point) => `toString(sumIf(quote, ts > ${ts - VOLUME_DAYS * DAY_S} AND ts <= ${ts})) AS v${point}`)
    .join(', ');
  const [users, rewards, volumes] = await Promise.all([
    store.rows<{ bucket: string; authority: string }>(
      `SELECT base58Encode(user_authority) AS authority, min(${bucketSql('ts')}) AS bucket
       FROM {db:Identifier}.referral
       WHERE referrer = toFixedString(base58Decode({authority:String}), 32) AND ts <= {last:Int64}
       GROUP BY user_authority ORDER BY authority`,
      parameters,
    ),
    store.rows<{ bucket: string; rewards: string }>(
      `SELECT ${BUCKET}, toString(sum(toUInt128(referrer_reward))) AS rewards
       FROM {db:Identifier}.account_action FINAL
       WHERE user IN (${REFERRED}) AND action = 'fill' AND side = 'taker' AND ts <= {last:Int64}
       GROUP BY bucket`,
      parameters,
    ),
    store.rows<Readonly<Record<string, string>>>(
      `SELECT ${within} FROM (
         SELECT ts, toUInt128(quote_asset_amount_filled) AS quote FROM {db:Identifier}.account_action FINAL
         WHERE user IN (${REFERRED}) AND action = 'fill' AND action_explanation != 'transferPerpPosition'
           AND ts > {first:Int64} - ${VOLUME_DAYS * DAY_S} AND ts <= {last:Int64})`,
      parameters,
    ),
  ]);
  const rewardsBy = byBucket(rewards, grid.times.length);
  let sum = 0n;
  return grid.times.flatMap((ts, point) => {
    sum = (rewardsBy[point] ?? []).reduce((total, row) => total + BigInt(row.rewards), sum);
    const referredUsers = users.filter(({ bucket }) => Number(bucket) <= point).map((row) => row.authority);
    if (referredUsers.length === 0) return [];
    return [
      {
        ts,
        referralCount: referredUsers.length,
        referralRewards: String(sum),
        referredVolume30D: volumes[0]?.[`v${point}`] ?? '0',
        referredUsers,
      },
    ];
  });
}
