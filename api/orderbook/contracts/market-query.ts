// The parameters that name a market, alike on every route that takes them, and how they fail.

import type { OrderbookErrorCode } from '../../errors.ts';

export const MARKET_QUERY = {
  marketName: {
    type: 'string',
    description: 'symbol in any letter case, for example SOL-PERP; counts before marketIndex and marketType',
  },
  marketIndex: {
    type: 'integer',
    minimum: 0,
    maximum: 0xffff,
    description: 'index of the market; needs marketType; leading digits count (7x is 7)',
  },
  marketType: { type: 'string', enum: ['perp', 'spot'], description: 'kind of market, in any letter case' },
};

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
