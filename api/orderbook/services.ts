// What the routes of the order-book server are given.

import type { AuctionSettings } from '../../processors/book/index.ts';
import type { BookReader } from '../views/book-reader.ts';
import type { FillQualitySource } from '../views/fill-quality.ts';
import type { QualityFollower } from '../views/quality.ts';
import type { SlotHistory } from '../views/slot-history.ts';
import type { AccountReader } from './account-reader.ts';
import type { Feeds } from './feeds.ts';
import type { RestMetrics } from './metrics.ts';

export interface OrderbookServices {
  readonly reader: BookReader;
  readonly accounts: AccountReader;
  /** How long the slot may stand still before `/health` answers NOK. */
  readonly slotStallMs: number;
  /** Books of earlier slots; without it `slot` is answered as one that is not kept. */
  readonly slotHistory?: SlotHistory;
  /** How the sources stand; without it /quality knows books only. */
  readonly quality?: QualityFollower;
  /** Recent taker fills; without it version 2 of /auctionParams derives as version 1 does. */
  readonly fillQuality?: FillQualitySource;
  /** Tiers and bounds of /auctionParams; the published service's by default. */
  readonly auction?: AuctionSettings;
  /** Fees, P&L rankings and the oracle provider; without them nothing is known and nobody is let in. */
  readonly feeds?: Feeds;
  /** Without them nothing is counted. */
  readonly metrics?: RestMetrics;
}
