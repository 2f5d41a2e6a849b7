// Which market a request means: the rules and their order of reference 1.2.

import type { MarketView } from '../../schemas/index.ts';
import type { Given } from '../contract/inputs.ts';
import { OrderbookError } from '../errors.ts';
import type { MarketRegistry } from '../views/registry.ts';
import type { MARKET } from './parameters.ts';

/**
 * The market named by `marketName`, or by `marketIndex` with `marketType`; an empty value counts as given.
 * Throws OrderbookError with the exact text.
 */
export function selectMarket(markets: MarketRegistry, given: Given<typeof MARKET>): MarketView {
  const name = given('marketName');
  if (name !== undefined) {
    const found = markets.byName(name);
    if (!found) throw new OrderbookError('marketNameUnknown');
    return found;
  }
  const marketIndex = given('marketIndex');
  const marketType = given('marketType');
  if (marketIndex === undefined || marketType === undefined) throw new OrderbookError('marketMissing');
  if (marketType === null) throw new OrderbookError('marketTypeUnknown');
  const found = marketIndex === null ? null : markets.get({ marketType, marketIndex });
  if (!found) throw new OrderbookError('marketIndexUnknown');
  return found;
}
