// Data sources of the feed routes: the newest fees and rankings of the log, and the oracle provider.

import type { RoleContext } from '../../platform/index.ts';
import { type FeeLevels, type PnlRanking, TOPICS } from '../../schemas/index.ts';
import { type Newest, NewestFollower } from '../views/newest.ts';
import { type OracleFeed, oracleGuard, providerUrl, requestLatestPrices } from './routes/oracle-lazer.ts';

export interface Feeds {
  /** True once the fees and rankings written before the start are read. */
  readonly ready: boolean;
  /** By market key. */
  readonly fees: Newest<FeeLevels>;
  /** By market key; perp markets only. */
  readonly rankings: Newest<PnlRanking>;
  readonly oracle: OracleFeed;
}

export interface RunningFeeds extends Feeds {
  stop(): Promise<void>;
}

/** Resolves after reading the present end of the log. Rejects when the log cannot be read. */
export async function startFeeds({ config, log, logger }: RoleContext): Promise<RunningFeeds> {
  const fees = new NewestFollower({ log, logger, topic: TOPICS.feeViews, name: 'FeeLevels' });
  const rankings = new NewestFollower({ log, logger, topic: TOPICS.rankingViews, name: 'PnlRanking' });
  const stop = async (): Promise<void> => {
    await Promise.all([fees.stop(), rankings.stop()]);
  };
  try {
    await Promise.all([fees.start(), rankings.start()]);
  } catch (error) {
    await stop();
    throw error;
  }
  const guard = oracleGuard({ secret: config.internalSecret, domain: config.operatorDomain });
  const latest = requestLatestPrices(providerUrl(config), config.oracleFeedUrl === '' ? '' : config.oracleFeedToken);
  return { ready: true, fees, rankings, oracle: { guard, latest }, stop };
}
