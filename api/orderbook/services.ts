// The data sources that the routes of the order-book server share.

import type { CoverageTail } from '../../platform/index.ts';
import type { AuctionSettings } from '../../processors/book/index.ts';
import type { PageServices } from '../page/routes.ts';
import type { BookReader } from '../views/book-reader.ts';
import type { FillQualitySource } from '../views/fill-quality.ts';
import type { QualityFollower } from '../views/quality.ts';
import type { SlotHistory } from '../views/slot-history.ts';
import type { AccountReader } from './account-reader.ts';
import type { Feeds } from './feeds.ts';
import type { RestMetrics } from './metrics.ts';
import type { BookLag } from './routes/health.ts';

export interface OrderbookServices {
  readonly reader: BookReader;
  readonly accounts: AccountReader;
  /** How long the slot may stand still before `/health` answers NOK. */
  readonly slotStallMs: number;
  /** Without it, /health does not check the distance from the chain. */
  readonly bookLag?: BookLag;
  /** Books of earlier slots. Without it, every `slot` answers slotGone. */
  readonly slotHistory?: SlotHistory;
  /** Books at commitment processed. Without them, that commitment is refused. */
  readonly processed?: { readonly reader: BookReader; readonly slotHistory: SlotHistory } | undefined;
  /** State of the sources. Without it, /quality reports books only. */
  readonly quality?: QualityFollower;
  /** Numbered records in the log. Without it, /quality names none. */
  readonly coverage?: CoverageTail;
  /** Recent taker fills. Without it, version 2 of /auctionParams derives as version 1 does. */
  readonly fillQuality?: FillQualitySource;
  /** Tiers and bounds of /auctionParams. Defaults to the predecessor's. */
  readonly auction?: AuctionSettings;
  /** Fees, P&L rankings and the oracle provider. Without them the feed routes find nothing and refuse everyone. */
  readonly feeds?: Feeds;
  /** The page at /ui. Without it, there is none. */
  readonly page?: PageServices;
  /** Without it, the routes count nothing. */
  readonly metrics?: RestMetrics;
}
