// The terms of an order: type and prices, trigger, oracle offset, largest leverage, builder. A member that an order type does not
// use is refused, because the order would not be the one that was meant.

import { PRICE_DECIMALS } from '../../../schemas/index.ts';
import { TxError } from '../../http/errors.ts';
import { parseAmount } from './amounts.ts';
import { amountOf, type Body, flag, isWhole, oneOf, text } from './body.ts';
import type { Order } from './calls.ts';

const ORDER_TYPES = ['market', 'limit', 'triggerMarket', 'triggerLimit', 'oracle'] as const;
const LEVERAGE_DECIMALS = 2;
const LEVERAGE_SCALE = 100n;
/** Margin ratios are 1e4, in 16 bits: leverage 1 to 1,000 is 10,000 to 10. */
const RATIO_SCALE = 10_000n;
const LEVERAGE_MAX = 1_000n;
/** Builders of an escrow. */
const BUILDERS_MAX = 128;
const U16_MAX = 2 ** 16 - 1;
const I64_MAX = 2n ** 63n - 1n;

type Terms = Pick<
  Order,
  'orderType' | 'price' | 'postOnly' | 'trigger' | 'oracleOffset' | 'maxMarginRatio' | 'builder'
>;

/** Throws TxError with the published text. */
export function orderTerms(body: Body): Terms {
  const orderType = oneOf(body, 'orderType', ORDER_TYPES, 'orderType');
  const postOnly = flag(body, 'postOnly', false);
  if (postOnly && orderType !== 'limit') throw new TxError('postOnlyMarket');
  const oracleOffset = oracleOffsetOf(body, orderType);
  const price = priceOf(body, orderType, oracleOffset);
  const trigger = triggerOf(body, orderType);
  return {
    orderType,
    price,
    oracleOffset,
    trigger,
    postOnly,
    maxMarginRatio: marginRatioOf(body),
    builder: builderOf(body),
  };
}

const isGiven = (body: Body, name: string): boolean => (body[name] ?? null) !== null;

function oracleOffsetOf(body: Body, orderType: Order['orderType']): bigint | null {
  if (!isGiven(body, 'oraclePriceOffset')) {
    if (orderType === 'oracle') throw new TxError('oracleOffsetMissing');
    return null;
  }
  if (orderType !== 'limit' && orderType !== 'oracle') throw new TxError('oracleOffsetUnused');
  const given = text(body, 'oraclePriceOffset');
  const isBelow = given.startsWith('-');
  const size = parseAmount(isBelow ? given.slice(1) : given, PRICE_DECIMALS);
  if (size === null || size > I64_MAX) throw new TxError('oracleOffset');
  return isBelow ? -size : size;
}

function priceOf(body: Body, orderType: Order['orderType'], oracleOffset: bigint | null): bigint {
  const hasPrice = text(body, 'price') !== '';
  const isLimit = orderType === 'limit' || orderType === 'triggerLimit';
  if (hasPrice && (!isLimit || oracleOffset !== null)) throw new TxError('priceUnused');
  if (!isLimit || oracleOffset !== null) return 0n;
  if (!hasPrice) throw new TxError('priceMissing');
  return amountOf(body, 'price', PRICE_DECIMALS, 'price');
}

function triggerOf(body: Body, orderType: Order['orderType']): Order['trigger'] {
  if (orderType === 'triggerMarket' || orderType === 'triggerLimit') {
    return {
      price: amountOf(body, 'triggerPrice', PRICE_DECIMALS, 'triggerPrice'),
      condition: oneOf(body, 'triggerCondition', ['above', 'below'], 'triggerCondition'),
    };
  }
  const unused = ['triggerPrice', 'triggerCondition'].find((name) => isGiven(body, name));
  if (unused !== undefined) throw new TxError('triggerUnused', unused);
  return null;
}

/** The smallest margin ratio with at most the wanted leverage, 1e4. */
function marginRatioOf(body: Body): number | null {
  if (!isGiven(body, 'positionMaxLeverage')) return null;
  const leverage = parseAmount(text(body, 'positionMaxLeverage'), LEVERAGE_DECIMALS);
  if (leverage === null || leverage < LEVERAGE_SCALE || leverage > LEVERAGE_MAX * LEVERAGE_SCALE) {
    throw new TxError('maxLeverage');
  }
  return Number((RATIO_SCALE * LEVERAGE_SCALE + leverage - 1n) / leverage);
}

function builderOf(body: Body): Order['builder'] {
  if (!isGiven(body, 'builderParams')) return null;
  const given = body.builderParams;
  if (typeof given !== 'object' || given === null) throw new TxError('builderParams');
  const { builderIdx: index, builderFeeTenthBps: feeTenthBps, ...others } = given as Body;
  const isSound =
    isWhole(index, BUILDERS_MAX - 1) &&
    isWhole(feeTenthBps, U16_MAX) &&
    feeTenthBps > 0 &&
    Object.keys(others).length === 0;
  if (!isSound) throw new TxError('builderParams');
  return { index, feeTenthBps };
}
