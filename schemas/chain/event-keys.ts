// The key of an event in the `events` topic: its market, or the account it concerns when it has no market. Records with
// the same key stay in order.

import bs58 from 'bs58';
import type { ChainEvent } from './event.ts';
import { type MarketType, marketKey } from './market.ts';

type KeyRule =
  | { readonly kind: 'market'; readonly type: MarketType; readonly field: string }
  /** A field of the record says whether its market is perp or spot. */
  | { readonly kind: 'typed-market'; readonly typeField: string; readonly field: string }
  | { readonly kind: 'account'; readonly field: string };

const perp = (field = 'market_index'): KeyRule => ({ kind: 'market', type: 'perp', field });
const spot = (field = 'market_index'): KeyRule => ({ kind: 'market', type: 'spot', field });
const typed = (prefix = ''): KeyRule => ({
  kind: 'typed-market',
  typeField: `${prefix}market_type`,
  field: `${prefix}market_index`,
});
const account = (field: string): KeyRule => ({ kind: 'account', field });

/** A record with two markets gets the key of its user, because neither market takes precedence. */
const RULES: Readonly<Record<string, KeyRule>> = {
  NewUserRecord: account('user'),
  DeleteUserRecord: account('user'),
  DepositRecord: spot(),
  FundingRateRecord: perp(),
  FundingPaymentRecord: perp(),
  OrderRecord: typed('order_'),
  OrderActionRecord: typed(),
  SignedMsgOrderRecord: account('user'),
  LiquidationRecord: account('user'),
  SettlePnlRecord: perp(),
  SpotInterestRecord: spot(),
  SwapRecord: account('user'),
  InsuranceFundRecord: spot('spot_market_index'),
  InsuranceFundStakeRecord: spot(),
  SpotMarketVaultDepositRecord: spot(),
  RevenueShareSettleRecord: typed(),
  LPSettleRecord: perp('perp_market_index'),
  LPSwapRecord: account('authority'),
  LPMintRedeemRecord: spot('spot_market_index'),
  LPBorrowLendDepositRecord: spot('spot_market_index'),
  AmmCurveChanged: perp(),
  PerpMarketFeeSweepRecord: perp(),
  ProtocolFeeWithdrawRecord: { kind: 'typed-market', typeField: 'is_perp', field: 'market_index' },
  ProtocolUserWithdrawRecordV0: spot('spot_market_index'),
  TransferFeeAndPnlPoolRecord: perp('perp_market_index_with_fee_pool'),
  TakerOriginCrossRecordV1: perp(),
  AcceleratedReferralStatusChangedRecordV0: account('authority'),
  OrderPlaceRecordV0: perp(),
  OrderCancelRecordV0: perp(),
  OrderEvictRecordV0: perp(),
  OrderExpireRecordV0: perp(),
  OrdersCancelRecordV0: perp(),
  ExecuteRecordV0: perp(),
  FillRecordV0: perp(),
  MarketInitializeRecordV0: perp(),
  MarketUpdateRecordV0: account('market'),
  MarketResizeRecordV0: account('market'),
  VaultRecord: spot('spot_market_index'),
  VaultDepositorRecord: account('vault'),
  VaultDepositorV1Record: account('vault'),
  ShareTransferRecord: account('vault'),
  FuelSeasonRecord: account('authority'),
  UnknownRecord: account('program'),
};

/**
 * Key of an event: `perp-0`, or an account in base58. An event with a market type that the definition does not know gets
 * its record name. Throws a RangeError for an event without a schema.
 */
export function eventKey(event: Pick<ChainEvent, 'name' | 'data'>): string {
  const rule = RULES[event.name];
  if (!rule) throw new RangeError(`no key for event ${event.name}`);
  const member = event.data[rule.field];
  if (rule.kind === 'account') return member instanceof Uint8Array ? bs58.encode(member) : event.name;
  const marketType = rule.kind === 'market' ? rule.type : marketTypeOf(event.data[rule.typeField]);
  return marketType !== null && typeof member === 'number'
    ? marketKey({ marketType, marketIndex: member })
    : event.name;
}

function marketTypeOf(value: unknown): MarketType | null {
  if (value === 'perp' || value === true) return 'perp';
  if (value === 'spot' || value === false) return 'spot';
  return null;
}
