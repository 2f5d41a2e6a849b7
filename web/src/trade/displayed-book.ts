// A book as the ladder shows it.

import type { Level } from './rows.ts';

export interface DisplayedBook {
  readonly market: string;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly slot: number;
  /** Null where the service gives none: with indicative quotes, and for earlier slots. */
  readonly epoch: number | null;
  readonly seq: number | null;
  readonly receivedAtMs: number;
  readonly receivedAt: number;
  readonly from: 'live' | 'indicative' | 'earlier';
}
