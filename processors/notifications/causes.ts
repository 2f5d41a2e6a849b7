// The meaning of a program event for its accounts. Members of `data` are raw integers as text.

import bs58 from 'bs58';
import {
  fillPrice,
  isExpiry,
  type NotificationType,
  type PartialEvent,
  PRICE_DECIMALS,
  partialEventDecoder,
} from '../../schemas/index.ts';
import { decimalText, titled } from './text.ts';

const ORDER_SIDES = ['taker', 'maker'] as const;
type Side = (typeof ORDER_SIDES)[number];

/** Members that a cause needs, by event. */
export const decodeCause = partialEventDecoder({
  OrderActionRecord: [
    ...['signature', 'event_index', 'slot', 'ts', 'action', 'action_explanation', 'market_index', 'market_type'],
    ...['filler', 'fill_record_id', 'base_asset_amount_filled', 'quote_asset_amount_filled', 'taker_fee', 'maker_fee'],
    ...['taker', 'taker_order_id', 'taker_order_direction', 'maker', 'maker_order_id', 'maker_order_direction'],
  ],
  LiquidationRecord: [
    ...['signature', 'event_index', 'slot', 'ts', 'liquidation_type', 'user', 'margin_freed', 'liquidation_id'],
    'bankrupt',
  ],
  DepositRecord: [
    ...['signature', 'event_index', 'slot', 'ts', 'user_authority', 'user', 'direction', 'amount', 'market_index'],
    'explanation',
  ],
  FundingPaymentRecord: [
    ...['signature', 'event_index', 'slot', 'ts', 'user_authority', 'user', 'market_index', 'funding_payment'],
    'base_asset_amount',
  ],
  NewUserRecord: ['signature', 'event_index', 'slot', 'user_authority', 'user'],
});

/** A notification before its wallet is known. */
export interface Cause {
  readonly user: Uint8Array;
  /** Wallet, when the event names it. */
  readonly authority: Uint8Array | null;
  readonly type: NotificationType;
  readonly title: string;
  readonly body: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Distinguishes the notifications of one event for one account. */
  readonly mark: string;
}

export interface CauseSettings {
  /** Funding below it has no cause; quote 1e6. */
  readonly fundingMin: bigint;
  /** Decimals of a market's base amounts; null while the market is unknown. */
  readonly baseDecimalsOf: (marketType: unknown, marketIndex: unknown) => number | null;
}

/** Causes of an event, one for each account concerned. */
export function causesOf(
  { name, data }: PartialEvent,
  { fundingMin, baseDecimalsOf }: CauseSettings,
): readonly Cause[] {
  if (name === 'OrderActionRecord') return orderCauses(data, baseDecimalsOf(data.market_type, data.market_index));
  if (name === 'LiquidationRecord') return [liquidationCause(data)];
  if (name === 'DepositRecord') return [balanceCause(data)];
  if (name === 'FundingPaymentRecord') return fundingCauses(data, fundingMin);
  return [];
}

type Data = PartialEvent['data'];

/** Title and verb of each action that an account did not take itself. */
const ACTIONS = {
  fill: ['Order filled', 'was filled'],
  trigger: ['Order triggered', 'was triggered'],
  cancel: ['Order cancelled', 'was cancelled'],
  expire: ['Order expired', 'has expired'],
} as const;
const BY_OWNER = 'none';
const LIQUIDATION = 'liquidation';
/** The owner of both accounts moves a position. */
const TRANSFER = 'transferPerpPosition';

/** Null for an action that the account itself takes. */
function actionOf({ action, action_explanation: why, filler }: Data): keyof typeof ACTIONS | null {
  if (action === 'fill') return why === TRANSFER ? null : 'fill';
  if (action === 'trigger') return 'trigger';
  if (isExpiry(action, why)) return 'expire';
  return action === 'cancel' && (why !== BY_OWNER || filler !== null) ? 'cancel' : null;
}

/** An account on both sides of a fill gets one for each of its orders. */
function orderCauses(data: Data, baseDecimals: number | null): readonly Cause[] {
  const action = actionOf(data);
  if (action === null) return [];
  const sides = ORDER_SIDES.filter((side) => data[side] instanceof Uint8Array);
  // The liquidated account gets the notification of its liquidation instead.
  const isLiquidation = action === 'fill' && data.action_explanation === LIQUIDATION;
  return sides
    .filter((side) => !(isLiquidation && side === 'taker'))
    .map((side) => orderCause(data, side, action, baseDecimals));
}

function orderCause(data: Data, side: Side, action: keyof typeof ACTIONS, baseDecimals: number | null): Cause {
  const [title, verb] = ACTIONS[action];
  const { market_type: marketType, market_index: marketIndex } = data;
  const [id, direction] = [data[`${side}_order_id`], data[`${side}_order_direction`]];
  const order = ['Your', direction, 'order', id].filter((word) => word !== null && word !== undefined).join(' ');
  const why = action === 'cancel' && data.action_explanation !== BY_OWNER ? `: ${words(data.action_explanation)}` : '';
  const price = priceText(data, baseDecimals);
  const amount = action === 'fill' ? filledText(data, price, baseDecimals) : '';
  const fill = {
    fillRecordId: whole(data.fill_record_id),
    baseAssetAmountFilled: whole(data.base_asset_amount_filled),
    quoteAssetAmountFilled: whole(data.quote_asset_amount_filled),
    price,
    fee: whole(data[`${side}_fee`]),
  };
  const common = { side, action: data.action, actionExplanation: data.action_explanation, marketType, marketIndex };
  return {
    user: data[side] as Uint8Array,
    authority: null,
    type: 'RECORD_UPDATE',
    title,
    body: `${order} on ${marketType}-${marketIndex} ${verb}${amount}${why}`,
    data: {
      record: action === 'fill' ? 'trade' : 'orderAction',
      ...common,
      orderId: id,
      direction,
      ...(action === 'fill' ? fill : {}),
    },
    mark: `:${side}`,
  };
}

/** Base and price of a fill; empty without a price. */
function filledText(data: Data, price: string | null, baseDecimals: number | null): string {
  if (price === null || baseDecimals === null) return '';
  return `: ${decimalText(big(data.base_asset_amount_filled), baseDecimals)} at ${decimalText(BigInt(price), PRICE_DECIMALS)}`;
}

/** Price 1e6 of a fill; null without a size, and in a market that is not known yet. */
function priceText(data: Data, baseDecimals: number | null): string | null {
  const size = big(data.base_asset_amount_filled);
  if (size === 0n || baseDecimals === null) return null;
  return String(fillPrice(big(data.quote_asset_amount_filled), size, 10n ** BigInt(baseDecimals)));
}

function liquidationCause(data: Data): Cause {
  const { liquidation_type: liquidationType, liquidation_id: liquidationId, bankrupt } = data;
  return {
    user: data.user as Uint8Array,
    authority: null,
    type: 'ACCOUNT_UPDATE',
    title: 'Liquidation',
    body: `Your account was liquidated (${words(liquidationType)})`,
    data: { record: 'liquidation', liquidationType, liquidationId, bankrupt, marginFreed: whole(data.margin_freed) },
    mark: '',
  };
}

function balanceCause(data: Data): Cause {
  const title = data.direction === 'deposit' ? 'Deposit' : 'Withdrawal';
  const { direction, market_index: marketIndex, explanation } = data;
  return {
    user: data.user as Uint8Array,
    authority: data.user_authority as Uint8Array,
    type: 'RECORD_UPDATE',
    title,
    body: `A ${title.toLowerCase()} on spot-${marketIndex} is complete`,
    data: { record: 'deposit', direction, marketType: 'spot', marketIndex, amount: whole(data.amount), explanation },
    mark: '',
  };
}

function fundingCauses(data: Data, least: bigint): readonly Cause[] {
  const payment = big(data.funding_payment);
  const amount = payment < 0n ? -payment : payment;
  if (amount < least || amount === 0n) return [];
  const { market_index: marketIndex } = data;
  const verb = payment < 0n ? 'paid' : 'received';
  const cause: Cause = {
    user: data.user as Uint8Array,
    authority: data.user_authority as Uint8Array,
    type: 'RECORD_UPDATE',
    title: titled(`funding ${verb}`),
    body: `Your position on perp-${marketIndex} ${verb} ${decimalText(amount, 6)} in funding`,
    data: {
      record: 'fundingPayment',
      marketType: 'perp',
      marketIndex,
      fundingPayment: String(payment),
      baseAssetAmount: whole(data.base_asset_amount),
    },
    mark: '',
  };
  return [cause];
}

/** `marginCallExample` -> `margin call example`. */
const words = (variant: unknown): string => String(variant).replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
const big = (value: unknown): bigint => (typeof value === 'bigint' || typeof value === 'number' ? BigInt(value) : 0n);
const whole = (value: unknown): string | null => (value === null || value === undefined ? null : String(value));

/** Identity of the event on the chain, for the id of its notifications. */
export function placeOf({ data }: PartialEvent) {
  const { signature, event_index: txSigIndex, slot, ts } = data;
  return { txSig: bs58.encode(signature as Uint8Array), txSigIndex, slot: Number(slot), ts: Number(ts) };
}
