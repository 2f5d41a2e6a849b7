// Which market a request means: the rules and their order of reference 1.2.

import type { MarketView } from '../../schemas/index.ts';
import { OrderbookError } from '../errors.ts';
import { lenientInteger, parameter, type Query } from '../lenient.ts';
import type { MarketRegistry } from '../views/registry.ts';

/**
 * The market named by `marketName`, or by `marketIndex` with `marketType`; an empty value counts as given.
 * Throws OrderbookError with the exact text.
 */
export function selectMarket(markets: MarketRegistry, query: Query): MarketView {
  const name = parameter(query, 'marketName');
  if (name !== undefined) {
    const found = markets.byName(name);
    if (!found) throw new OrderbookError('marketNameUnknown');
    return found;
  }
  const index = parameter(query, 'marketIndex');
  const type = parameter(query, 'marketType')?.toLowerCase();
  if (index === undefined || type === undefined) throw new OrderbookError('marketMissing');
  if (type !== 'perp' && type !== 'spot') throw new OrderbookError('marketTypeUnknown');
  const marketIndex = lenientInteger(index);
  const found = marketIndex === null ? null : markets.get({ marketType: type, marketIndex });
  if (!found) throw new OrderbookError('marketIndexUnknown');
  return found;
}
