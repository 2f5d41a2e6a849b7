// Which books are too many slots from their oracle (reference 5.1, the publisher's kill switch): either the oracle or what
// the book is fed with stands still. Tells it as `health_status` 4 while it lasts, and once each time it begins or ends.

import {
  HEALTH,
  judgeHealth,
  type Logger,
  marketFilter,
  marketIndexes,
  type RoleContext,
} from '../../platform/index.ts';
import { type MarketRef, marketKey } from '../../schemas/index.ts';
import type { BookEngine } from '../book/engine.ts';

/** Oracles without an age: a price set by hand before the launch, and the quote asset's, which is always 1. */
const AGELESS_SOURCES: ReadonlySet<string> = new Set(['prelaunch', 'quoteAsset']);

export class SlotCheck {
  private readonly logger: Logger;
  private readonly slotsMax: number;
  private readonly isExempt: (market: MarketRef) => boolean;
  private readonly apart = new Set<string>();

  /** Exempt are the markets that the settings name, and those that are not served. Throws ConfigError. */
  constructor({ config, logger, metrics }: Pick<RoleContext, 'config' | 'logger' | 'metrics'>) {
    this.logger = logger;
    this.slotsMax = config.killswitchSlotDiffThreshold;
    const isServed = marketFilter(config);
    const perp = marketIndexes('perpMarketsToSkipSlotCheck', config.perpMarketsToSkipSlotCheck);
    const spot = marketIndexes('spotMarketsToSkipSlotCheck', config.spotMarketsToSkipSlotCheck);
    this.isExempt = (market) =>
      !isServed(market) || (market.marketType === 'perp' ? perp : spot).has(market.marketIndex);
    judgeHealth(metrics, () => (this.apart.size > 0 ? HEALTH.restart : HEALTH.ok));
  }

  /** Judges a book as it stands now. */
  judge({ ref, slot: bookSlot, state }: Pick<BookEngine, 'ref' | 'slot' | 'state'>): void {
    const { market: description, oracle, bracketSlot } = state;
    // In the middle of a whole read the slot may be ahead of an oracle that is still to be told.
    if (description === null || oracle === null || bracketSlot >= 0) return;
    const market = marketKey(ref);
    const oracleSlot = Number(oracle.oracleSlot);
    const isJudged = !AGELESS_SOURCES.has(description.oracleSource) && !this.isExempt(ref);
    const isApart = isJudged && Math.abs(bookSlot - oracleSlot) > this.slotsMax;
    if (isApart === this.apart.has(market)) return;
    const change = { market, bookSlot, oracleSlot };
    if (isApart) {
      this.apart.add(market);
      this.logger.error(change, 'book and oracle are too many slots apart: health_status 4');
    } else {
      this.apart.delete(market);
      this.logger.info(change, 'book and oracle are near each other again');
    }
  }
}
