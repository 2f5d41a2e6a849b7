// Referred users of an authority, their volume and the rewards, by bucket of the grid.

import { DAY_S, fillSidesByAccount, fillSumsSql } from '../../../schemas/index.ts';
import { keySql } from '../keys.ts';
import { bucketSql, type Grid, gridParameters } from '../snapshots/grid.ts';
import type { HistoryStore, Parameters } from '../store.ts';
import { both, cleanDays, DB, END_OF_DAY, sharesOf, storedFills } from './account-days.ts';

/** Days of volume behind a point. */
const VOLUME_DAYS = 30;

/**
 * A referrer at a point, from the events at or before it. A wallet is referred when one of its accounts names the authority.
 *
 * - `referralRewards`: referrer rewards of the taker fills of the referred accounts, quote 1e6.
 * - `referredVolume30D`: quote 1e6 of both sides of their fills in the 30 days up to the point. Liquidations count, position
 *   transfers do not.
 * - `referredUsers`: sorted by key.
 */
export interface ReferralSnapshot {
  readonly ts: number;
  readonly referralCount: number;
  readonly referralRewards: string;
  readonly referredVolume30D: string;
  readonly referredUsers: readonly string[];
}

const REFERRED = `SELECT user FROM {db:Identifier}.referral
  WHERE referrer = ${keySql('authority')} AND ts <= {last:Int64}`;

/** Points from the first referral, oldest first. */
export async function referralSnapshots(
  source: HistoryStore,
  authority: string,
  grid: Grid,
): Promise<readonly ReferralSnapshot[]> {
  const parameters = { ...gridParameters(grid), authority };
  const store = source.pinned();
  const [users, sums] = await Promise.all([
    store.rows<{ bucket: string; authority: string }>(
      `SELECT base58Encode(user_authority) AS authority, min(${bucketSql('ts')}) AS bucket
       FROM {db:Identifier}.referral
       WHERE referrer = ${keySql('authority')} AND ts <= {last:Int64}
       GROUP BY user_authority ORDER BY authority`,
      parameters,
    ),
    referredSums(store, grid, parameters),
  ]);
  return grid.times.flatMap((ts, point) => {
    const until = sums.filter((one) => one.until <= ts);
    const recent = until.filter((one) => one.until > ts - VOLUME_DAYS * DAY_S);
    const referredUsers = users.filter(({ bucket }) => Number(bucket) <= point).map((row) => row.authority);
    if (referredUsers.length === 0) return [];
    return [
      {
        ts,
        referralCount: referredUsers.length,
        referralRewards: String(until.reduce((total, { rewards }) => total + rewards, 0n)),
        referredVolume30D: String(recent.reduce((total, { volume }) => total + volume, 0n)),
        referredUsers,
      },
    ];
  });
}

interface ReferredSums {
  /** Inclusive end of the interval; it starts after the `until` of the row before. */
  readonly until: number;
  readonly rewards: bigint;
  readonly volume: bigint;
}

/** Sums of the referred accounts' fills. The intervals end where a point or its 30-day window ends. */
async function referredSums(store: HistoryStore, grid: Grid, parameters: Parameters): Promise<readonly ReferredSums[]> {
  const ends = grid.times.flatMap((ts) => [ts - VOLUME_DAYS * DAY_S, ts]);
  const cuts = [...new Set(ends)].sort((a, b) => a - b);
  const shares = sharesOf(await cleanDays(store), { until: cuts.at(-1) ?? 0, cuts });
  const period = (ts: string) =>
    `arrayFirst(cut -> cut >= ${ts}, [${cuts.map((cut) => `toInt64(${cut})`).join(', ')}])`;
  const stored = storedFills(period(END_OF_DAY), `user IN (${REFERRED}) AND ${shares.stored}`);
  const open = fillSumsSql(fillSidesByAccount(DB, `user IN (${REFERRED}) AND ${shares.open}`), period('ts'));
  const rows = await store.rows<{ until: string; rewards: string; volume: string }>(
    `SELECT period AS until, toString(sum(referrer_rewards)) AS rewards,
       toString(sum(taker_volume) + sum(maker_volume)) AS volume
     FROM ${both(stored, open)} GROUP BY period`,
    parameters,
  );
  return rows.map(({ until, rewards, volume }) => {
    return { until: Number(until), rewards: BigInt(rewards), volume: BigInt(volume) };
  });
}
