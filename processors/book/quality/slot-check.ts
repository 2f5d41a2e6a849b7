// Finds books that are too many slots from their oracle (docs/internals/order-book-server.md, "Health"): the oracle or the
// book's input has stalled. Reports `health_status` 4 meanwhile, and logs each beginning and end.

import {
  HEALTH,
  judgeHealth,
  type Logger,
  marketFilter,
  marketIndexes,
  type RoleContext,
} from '../../../platform/index.ts';
import { type MarketRef, marketKey } from '../../../schemas/index.ts';
import type { BookEngine } from '../engine.ts';

/** Oracles without an age: a price set by hand before the launch, and the quote asset's constant 1. */
const AGELESS_SOURCES: ReadonlySet<string> = new Set(['prelaunch', 'quoteAsset']);

export class SlotCheck {
  readonly #logger: Logger;
  readonly #slotsMax: number;
  readonly #isExempt: (market: MarketRef) => boolean;
  readonly #apart = new Set<string>();

  /** Markets named in the settings, and markets that are not served, are exempt. Throws ConfigError. */
  constructor({ config, logger, metrics }: Pick<RoleContext, 'config' | 'logger' | 'metrics'>) {
    this.#logger = logger;
    this.#slotsMax = config.killswitchSlotDiffThreshold;
    const isServed = marketFilter(config);
    const perp = marketIndexes('perpMarketsToSkipSlotCheck', config.perpMarketsToSkipSlotCheck);
    const spot = marketIndexes('spotMarketsToSkipSlotCheck', config.spotMarketsToSkipSlotCheck);
    this.#isExempt = (market) =>
      !isServed(market) || (market.marketType === 'perp' ? perp : spot).has(market.marketIndex);
    judgeHealth(metrics, () => (this.#apart.size > 0 ? HEALTH.restart : HEALTH.ok));
  }

  /** Checks the current state of a book. */
  judge({ ref, slot: bookSlot, state }: Pick<BookEngine, 'ref' | 'slot' | 'state'>): void {
    const { market: description, oracle, bracketSlot } = state;
    // During a whole read the book's slot may be ahead of an oracle message that is still to come.
    if (description === null || oracle === null || bracketSlot >= 0) return;
    const market = marketKey(ref);
    const oracleSlot = Number(oracle.oracleSlot);
    const isJudged = !AGELESS_SOURCES.has(description.oracleSource) && !this.#isExempt(ref);
    const isApart = isJudged && Math.abs(bookSlot - oracleSlot) > this.#slotsMax;
    if (isApart === this.#apart.has(market)) return;
    const change = { market, bookSlot, oracleSlot };
    if (isApart) {
      this.#apart.add(market);
      this.#logger.error(change, 'book and oracle are too many slots apart: health_status 4');
    } else {
      this.#apart.delete(market);
      this.#logger.info(change, 'book and oracle are within the allowed slots again');
    }
  }
}
