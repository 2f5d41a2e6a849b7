// How naming a market and naming a slot fail, alike on every route that takes them.

import type { OrderbookErrorCode } from '../../errors.ts';

/** Failures of naming a market, in the order in which they are looked for. */
export const MARKET_FAILURES = [
  'marketNameUnknown',
  'marketMissing',
  'marketTypeUnknown',
  'marketIndexUnknown',
] as const satisfies readonly OrderbookErrorCode[];

export const SLOT_FAILURES = [
  'slotMalformed',
  'slotIndicative',
  'slotAhead',
  'slotGone',
  'slotBusy',
] as const satisfies readonly OrderbookErrorCode[];
