// The state of a book engine beside its orders.

import type { BookMarket, BookOracle } from '../../schemas/index.ts';

/** State of an engine without its orders; see checkpoint.ts. */
export interface EngineHead {
  epoch: number;
  seq: number;
  marketSlot: number;
  market: BookMarket | null;
  oracle: BookOracle | null;
  /** Slot of the open snapshot bracket, -1 without one. */
  bracketSlot: number;
  snapshotPeriod: number;
  isLoaded: boolean;
  snapshotDue: boolean;
  /** First slot that the present changes undo; null or absent without an undo. */
  revert?: number | null;
}
