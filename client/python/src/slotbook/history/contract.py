"""Rows and answers of the history REST, and the exact types of columns, from /openapi.json.

Written by `npm run docs`. Do not edit.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Literal, TypedDict

from .columns import Column


class MarketTradesRecord(TypedDict):
    #: unix seconds
    ts: int
    #: transaction signature
    txSig: str
    #: index of the event inside its transaction
    txSigIndex: int
    #: slot
    slot: int
    #: raw integer, quote 1e6
    fillerReward: str | None
    #: raw integer, base 1e9
    baseAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    quoteAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    takerFee: str | None
    #: raw integer, quote 1e6: 0 without a maker, negative when paid to the maker
    makerRebate: str
    #: raw integer, quote 1e6
    referrerReward: str | None
    #: raw integer, quote 1e6
    quoteAssetAmountSurplus: str | None
    #: raw integer, base 1e9
    takerOrderBaseAssetAmount: str | None
    #: raw integer, base 1e9
    takerOrderCumulativeBaseAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    takerOrderCumulativeQuoteAssetAmountFilled: str | None
    #: raw integer, base 1e9
    makerOrderBaseAssetAmount: str | None
    #: raw integer, base 1e9
    makerOrderCumulativeBaseAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    makerOrderCumulativeQuoteAssetAmountFilled: str | None
    #: raw integer, price 1e6
    oraclePrice: str
    #: raw integer, quote 1e6
    makerFee: str | None
    #: always fill
    action: str
    #: why the action happened
    actionExplanation: str
    #: market index
    marketIndex: int
    #: perp or spot
    marketType: str
    #: keeper account
    filler: str | None
    #: raw integer, identifier
    fillRecordId: str | None
    #: taker account
    taker: str | None
    #: order id of the taker
    takerOrderId: int | None
    #: long or short
    takerOrderDirection: str | None
    #: maker account; null when the AMM filled
    maker: str | None
    #: order id of the maker
    makerOrderId: int | None
    #: long or short
    makerOrderDirection: str | None
    #: raw integer, quote 1e6
    spotFulfillmentMethodFee: str | None
    #: perp or spot
    marketFilter: str
    #: the account a row was listed under; null in market lists
    user: str | None
    #: market symbol
    symbol: str
    #: flags of the fill
    bitFlags: int
    #: raw integer, quote 1e6
    takerExistingQuoteEntryAmount: str | None
    #: raw integer, base 1e9
    takerExistingBaseAssetAmount: str | None
    #: raw integer, quote 1e6
    makerExistingQuoteEntryAmount: str | None
    #: raw integer, base 1e9
    makerExistingBaseAssetAmount: str | None
    #: raw integer, price 1e6
    triggerPrice: str | None
    #: builder index
    builderIdx: int | None
    #: raw integer, quote 1e6
    builderFee: str | None
    #: raw integer, price 1e6
    price: str | None
    #: index of the transaction in its block; null where unknown
    txIndex: int | None


class MarketTradesAnswerMeta(TypedDict):
    #: opaque cursor; null when no more rows
    nextPage: str | None
    #: unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final
    finalBefore: int | None


class MarketTradesAnswer(TypedDict):
    success: Literal[True]
    records: list[MarketTradesRecord]
    meta: MarketTradesAnswerMeta


class _MarketTradesOfDayAnswerMeta(TypedDict):
    #: rows on this page
    records: int
    #: rows of the whole period
    totalRecords: int
    #: 0 when the period is empty
    totalPages: int
    #: starts at 1
    currentPage: int
    #: pass back as page
    nextPage: str | None
    #: true once the chain has finalized the period, so that it takes no row back
    isFinal: bool


class MarketTradesOfDayAnswerMeta(_MarketTradesOfDayAnswerMeta, total=False):
    #: true while the period is not over
    includesLatest: bool


class MarketTradesOfDayAnswer(TypedDict):
    success: Literal[True]
    records: list[MarketTradesRecord]
    meta: MarketTradesOfDayAnswerMeta


class MarketFundingRatesRecord(TypedDict):
    #: unix seconds
    ts: int
    #: transaction signature
    txSig: str
    #: index of the event inside its transaction
    txSigIndex: int
    #: slot
    slot: int
    #: raw integer, identifier
    recordId: str
    #: market index
    marketIndex: int
    #: market symbol
    symbol: str
    #: raw integer, funding 1e9
    fundingRate: str
    #: raw integer, funding 1e9
    fundingRateLong: str
    #: raw integer, funding 1e9
    fundingRateShort: str
    #: raw integer, funding 1e9
    cumulativeFundingRateLong: str
    #: raw integer, funding 1e9
    cumulativeFundingRateShort: str
    #: raw integer, price 1e6
    oraclePriceTwap: str
    #: raw integer, price 1e6
    markPriceTwap: str
    #: raw integer, base 1e9
    baseAssetAmountWithAmm: str
    #: index of the transaction in its block; null where unknown
    txIndex: int | None


class MarketFundingRatesAnswer(TypedDict):
    success: Literal[True]
    records: list[MarketFundingRatesRecord]
    meta: MarketTradesAnswerMeta


class MarketFundingRatesOfDayAnswer(TypedDict):
    success: Literal[True]
    records: list[MarketFundingRatesRecord]
    meta: MarketTradesOfDayAnswerMeta


class MarketDepositsRecord(TypedDict):
    #: unix seconds
    ts: int
    #: transaction signature
    txSig: str
    #: index of the event inside its transaction
    txSigIndex: int
    #: slot
    slot: int
    #: owner of the account
    userAuthority: str
    #: account
    user: str
    #: deposit or withdraw
    direction: str
    #: raw integer, identifier
    depositRecordId: str
    #: raw integer, token, mint decimals
    amount: str
    #: market index
    marketIndex: int
    #: market symbol
    symbol: str
    #: raw integer, price 1e6
    oraclePrice: str
    #: raw integer, scaled balance 1e9
    marketDepositBalance: str
    #: raw integer, scaled balance 1e9
    marketWithdrawBalance: str
    #: raw integer, interest 1e10
    marketCumulativeDepositInterest: str
    #: raw integer, interest 1e10
    marketCumulativeBorrowInterest: str
    #: raw integer, quote 1e6
    totalDepositsAfter: str
    #: raw integer, quote 1e6
    totalWithdrawsAfter: str
    #: none, transfer, borrow, repayBorrow or reward
    explanation: str
    #: the other account of a transfer
    transferUser: str | None
    #: who signed
    signer: str | None
    #: raw integer, token, mint decimals
    userTokenAmountAfter: str | None
    #: index of the transaction in its block; null where unknown
    txIndex: int | None


class MarketDepositsAnswer(TypedDict):
    success: Literal[True]
    records: list[MarketDepositsRecord]
    meta: MarketTradesAnswerMeta


class MarketDepositsOfDayAnswer(TypedDict):
    success: Literal[True]
    records: list[MarketDepositsRecord]
    meta: MarketTradesOfDayAnswerMeta


class MarketSwapsRecord(TypedDict):
    #: unix seconds
    ts: int
    #: transaction signature
    txSig: str
    #: index of the event inside its transaction
    txSigIndex: int
    #: slot
    slot: int
    #: account
    user: str
    #: raw integer, token, mint decimals
    amountOut: str
    #: raw integer, token, mint decimals
    amountIn: str
    #: spot market that arrived
    outMarketIndex: int
    #: spot market that left
    inMarketIndex: int
    #: market symbol
    outSymbol: str
    #: market symbol
    inSymbol: str
    #: raw integer, price 1e6
    outOraclePrice: str
    #: raw integer, price 1e6
    inOraclePrice: str
    #: raw integer, token, mint decimals
    fee: str
    #: index of the transaction in its block; null where unknown
    txIndex: int | None


class MarketSwapsAnswer(TypedDict):
    success: Literal[True]
    records: list[MarketSwapsRecord]
    meta: MarketTradesAnswerMeta


class MarketSwapsOfDayAnswer(TypedDict):
    success: Literal[True]
    records: list[MarketSwapsRecord]
    meta: MarketTradesOfDayAnswerMeta


class MarketInsuranceFundRecord(TypedDict):
    #: unix seconds
    ts: int
    #: transaction signature
    txSig: str
    #: index of the event inside its transaction
    txSigIndex: int
    #: slot
    slot: int
    #: spot market
    spotMarketIndex: int
    #: perp market
    perpMarketIndex: int
    #: market symbol
    symbol: str
    #: share of stakers, 1e6
    userIfFactor: int
    #: share of the insurance fund, 1e6
    totalIfFactor: int
    #: raw integer, token, mint decimals
    vaultAmountBefore: str
    #: raw integer, token, mint decimals
    insuranceVaultAmountBefore: str
    #: raw integer, shares
    totalIfSharesBefore: str
    #: raw integer, shares
    totalIfSharesAfter: str
    #: raw integer, token, mint decimals
    amount: str
    #: index of the transaction in its block; null where unknown
    txIndex: int | None


class MarketInsuranceFundAnswer(TypedDict):
    success: Literal[True]
    records: list[MarketInsuranceFundRecord]
    meta: MarketTradesAnswerMeta


class MarketInsuranceFundOfDayAnswer(TypedDict):
    success: Literal[True]
    records: list[MarketInsuranceFundRecord]
    meta: MarketTradesOfDayAnswerMeta


class MarketInsuranceFundStakeRecord(TypedDict):
    #: unix seconds
    ts: int
    #: transaction signature
    txSig: str
    #: index of the event inside its transaction
    txSigIndex: int
    #: slot
    slot: int
    #: staker
    userAuthority: str
    #: stake, unstakeRequest, unstakeCancelRequest, unstake, unstakeTransfer, stakeTransfer or adminDeposit
    action: str
    #: raw integer, token, mint decimals
    amount: str
    #: spot market
    marketIndex: int
    #: market symbol
    symbol: str
    #: raw integer, token, mint decimals
    insuranceVaultAmountBefore: str
    #: raw integer, shares
    ifSharesBefore: str
    #: raw integer, shares
    ifSharesAfter: str
    #: raw integer, shares
    userIfSharesBefore: str
    #: raw integer, shares
    userIfSharesAfter: str
    #: raw integer, shares
    totalIfSharesBefore: str
    #: raw integer, shares
    totalIfSharesAfter: str
    #: index of the transaction in its block; null where unknown
    txIndex: int | None


class MarketInsuranceFundStakeAnswer(TypedDict):
    success: Literal[True]
    records: list[MarketInsuranceFundStakeRecord]
    meta: MarketTradesAnswerMeta


class MarketInsuranceFundStakeOfDayAnswer(TypedDict):
    success: Literal[True]
    records: list[MarketInsuranceFundStakeRecord]
    meta: MarketTradesOfDayAnswerMeta


class MarketCandlesRecord(TypedDict):
    #: bucket start, unix seconds
    ts: int
    #: human price
    fillOpen: int | Decimal
    #: human price
    fillHigh: int | Decimal
    #: human price
    fillLow: int | Decimal
    #: human price
    fillClose: int | Decimal
    #: human price
    oracleOpen: int | Decimal
    #: human price
    oracleHigh: int | Decimal
    #: human price
    oracleLow: int | Decimal
    #: human price
    oracleClose: int | Decimal
    #: human quote amount
    quoteVolume: int | Decimal
    #: human base amount; 0 when nothing was traded
    baseVolume: int | Decimal


class MarketCandlesAnswer(TypedDict):
    success: Literal[True]
    records: list[MarketCandlesRecord]


class TradesAnswerMeta(TypedDict):
    #: the next pageIndex; null when no more rows
    nextPage: int | None
    #: unix seconds: the chain takes no row back whose ts is lower; at most the end of the asked range. Null while the source has not said what is final
    finalBefore: int | None


class TradesAnswer(TypedDict):
    success: Literal[True]
    records: list[MarketTradesRecord]
    meta: TradesAnswerMeta


class FundingRatesAnswer(TypedDict):
    fundingRates: list[MarketFundingRatesRecord]


class UserTradesRecord(TypedDict):
    #: unix seconds
    ts: int
    #: transaction signature
    txSig: str
    #: index of the event inside its transaction
    txSigIndex: int
    #: slot
    slot: int
    #: raw integer, quote 1e6
    fillerReward: str | None
    #: raw integer, base 1e9
    baseAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    quoteAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    takerFee: str | None
    #: raw integer, quote 1e6: 0 without a maker, negative when paid to the maker
    makerRebate: str
    #: raw integer, quote 1e6
    referrerReward: str | None
    #: raw integer, quote 1e6
    quoteAssetAmountSurplus: str | None
    #: raw integer, base 1e9
    takerOrderBaseAssetAmount: str | None
    #: raw integer, base 1e9
    takerOrderCumulativeBaseAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    takerOrderCumulativeQuoteAssetAmountFilled: str | None
    #: raw integer, base 1e9
    makerOrderBaseAssetAmount: str | None
    #: raw integer, base 1e9
    makerOrderCumulativeBaseAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    makerOrderCumulativeQuoteAssetAmountFilled: str | None
    #: raw integer, price 1e6
    oraclePrice: str
    #: raw integer, quote 1e6
    makerFee: str | None
    #: always fill
    action: str
    #: why the action happened
    actionExplanation: str
    #: market index
    marketIndex: int
    #: perp or spot
    marketType: str
    #: keeper account
    filler: str | None
    #: raw integer, identifier
    fillRecordId: str | None
    #: taker account
    taker: str | None
    #: order id of the taker
    takerOrderId: int | None
    #: long or short
    takerOrderDirection: str | None
    #: maker account; null when the AMM filled
    maker: str | None
    #: order id of the maker
    makerOrderId: int | None
    #: long or short
    makerOrderDirection: str | None
    #: raw integer, quote 1e6
    spotFulfillmentMethodFee: str | None
    #: perp or spot
    marketFilter: str
    #: the account the row is listed under
    user: str
    #: market symbol
    symbol: str
    #: flags of the fill
    bitFlags: int
    #: raw integer, quote 1e6
    takerExistingQuoteEntryAmount: str | None
    #: raw integer, base 1e9
    takerExistingBaseAssetAmount: str | None
    #: raw integer, quote 1e6
    makerExistingQuoteEntryAmount: str | None
    #: raw integer, base 1e9
    makerExistingBaseAssetAmount: str | None
    #: raw integer, price 1e6
    triggerPrice: str | None
    #: builder index
    builderIdx: int | None
    #: raw integer, quote 1e6
    builderFee: str | None
    #: raw integer, price 1e6
    price: str | None
    #: index of the transaction in its block; null where unknown
    txIndex: int | None


class UserTradesAnswer(TypedDict):
    success: Literal[True]
    records: list[UserTradesRecord]
    meta: MarketTradesAnswerMeta


class UserTradesOfMonthAnswer(TypedDict):
    success: Literal[True]
    records: list[UserTradesRecord]
    meta: MarketTradesOfDayAnswerMeta


class UserPositionsRecord(TypedDict):
    #: unix seconds
    ts: int
    #: transaction signature
    txSig: str
    #: index of the event inside its transaction
    txSigIndex: int
    #: slot
    slot: int
    #: raw integer, quote 1e6
    fillerReward: str | None
    #: raw integer, base 1e9
    baseAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    quoteAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    takerFee: str | None
    #: raw integer, quote 1e6: 0 without a maker, negative when paid to the maker
    makerRebate: str
    #: raw integer, quote 1e6
    referrerReward: str | None
    #: raw integer, quote 1e6
    quoteAssetAmountSurplus: str | None
    #: raw integer, base 1e9
    takerOrderBaseAssetAmount: str | None
    #: raw integer, base 1e9
    takerOrderCumulativeBaseAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    takerOrderCumulativeQuoteAssetAmountFilled: str | None
    #: raw integer, base 1e9
    makerOrderBaseAssetAmount: str | None
    #: raw integer, base 1e9
    makerOrderCumulativeBaseAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    makerOrderCumulativeQuoteAssetAmountFilled: str | None
    #: raw integer, price 1e6
    oraclePrice: str
    #: raw integer, quote 1e6
    makerFee: str | None
    #: always fill
    action: str
    #: why the action happened
    actionExplanation: str
    #: market index
    marketIndex: int
    #: perp or spot
    marketType: str
    #: keeper account
    filler: str | None
    #: raw integer, identifier
    fillRecordId: str | None
    #: taker account
    taker: str | None
    #: order id of the taker
    takerOrderId: int | None
    #: long or short
    takerOrderDirection: str | None
    #: maker account; null when the AMM filled
    maker: str | None
    #: order id of the maker
    makerOrderId: int | None
    #: long or short
    makerOrderDirection: str | None
    #: raw integer, quote 1e6
    spotFulfillmentMethodFee: str | None
    #: perp or spot
    marketFilter: str
    #: the account the row is listed under
    user: str
    #: market symbol
    symbol: str
    #: flags of the fill
    bitFlags: int
    #: raw integer, quote 1e6
    takerExistingQuoteEntryAmount: str | None
    #: raw integer, base 1e9
    takerExistingBaseAssetAmount: str | None
    #: raw integer, quote 1e6
    makerExistingQuoteEntryAmount: str | None
    #: raw integer, base 1e9
    makerExistingBaseAssetAmount: str | None
    #: raw integer, price 1e6
    triggerPrice: str | None
    #: builder index
    builderIdx: int | None
    #: raw integer, quote 1e6
    builderFee: str | None
    #: raw integer, price 1e6
    price: str | None
    #: raw integer, quote 1e6
    userFee: str | None
    #: raw integer, base 1e9
    baseClosedForPnl: str
    #: raw integer, quote 1e6
    userExistingQuoteEntryAmount: str | None
    #: raw integer, base 1e9
    userExistingBaseAssetAmount: str | None
    #: index of the transaction in its block; null where unknown
    txIndex: int | None


class UserPositionsAnswer(TypedDict):
    success: Literal[True]
    records: list[UserPositionsRecord]
    meta: MarketTradesAnswerMeta


class UserFundingPaymentsRecord(TypedDict):
    #: unix seconds
    ts: int
    #: transaction signature
    txSig: str
    #: index of the event inside its transaction
    txSigIndex: int
    #: slot
    slot: int
    #: owner of the account
    userAuthority: str
    #: account
    user: str
    #: perp market
    marketIndex: int
    #: market symbol
    symbol: str
    #: raw integer, quote 1e6
    fundingPayment: str
    #: raw integer, base 1e9
    baseAssetAmount: str
    #: raw integer, funding 1e9
    userLastCumulativeFunding: str
    #: raw integer, funding 1e9
    ammCumulativeFundingLong: str
    #: raw integer, funding 1e9
    ammCumulativeFundingShort: str
    #: index of the transaction in its block; null where unknown
    txIndex: int | None


class UserFundingPaymentsAnswer(TypedDict):
    success: Literal[True]
    records: list[UserFundingPaymentsRecord]
    meta: MarketTradesAnswerMeta


class UserFundingPaymentsOfMonthAnswer(TypedDict):
    success: Literal[True]
    records: list[UserFundingPaymentsRecord]
    meta: MarketTradesOfDayAnswerMeta


class UserLiquidationsRecord(TypedDict):
    #: unix seconds
    ts: int
    #: transaction signature
    txSig: str
    #: index of the event inside its transaction
    txSigIndex: int
    #: slot
    slot: int
    #: liquidated account
    user: str
    #: liquidating account
    liquidator: str
    #: liquidatePerp, liquidateSpot, liquidateBorrowForPerpPnl, liquidatePerpPnlForDeposit, perpBankruptcy, spotBankruptcy
    liquidationType: str
    #: per account, wraps at 65,536
    liquidationId: int
    #: whether the account was bankrupt
    bankrupt: bool
    #: raw integer, quote 1e6
    marginRequirement: str
    #: raw integer, quote 1e6
    totalCollateral: str
    #: raw integer, quote 1e6
    marginFreed: str
    #: orders that were cancelled
    canceledOrderIds: list[int]
    #: 1 = isolated position
    bitFlags: int | None
    #: of liquidatePerp only
    liquidatePerp_marketIndex: int
    #: raw integer, price 1e6
    liquidatePerp_oraclePrice: str
    #: raw integer, base 1e9
    liquidatePerp_baseAssetAmount: str
    #: raw integer, quote 1e6
    liquidatePerp_quoteAssetAmount: str
    #: raw integer, identifier
    liquidatePerp_fillRecordId: str
    #: of liquidatePerp only
    liquidatePerp_userOrderId: int
    #: of liquidatePerp only
    liquidatePerp_liquidatorOrderId: int
    #: raw integer, quote 1e6
    liquidatePerp_liquidatorFee: str
    #: raw integer, quote 1e6
    liquidatePerp_ifFee: str
    #: raw integer, quote 1e6
    liquidatePerp_protocolFee: str | None
    #: of liquidateSpot only
    liquidateSpot_assetMarketIndex: int
    #: raw integer, price 1e6
    liquidateSpot_assetPrice: str
    #: raw integer, token, mint decimals
    liquidateSpot_assetTransfer: str
    #: of liquidateSpot only
    liquidateSpot_liabilityMarketIndex: int
    #: raw integer, price 1e6
    liquidateSpot_liabilityPrice: str
    #: raw integer, token, mint decimals
    liquidateSpot_liabilityTransfer: str
    #: raw integer, token, mint decimals
    liquidateSpot_ifFee: str
    #: raw integer, token, mint decimals
    liquidateSpot_protocolFee: str | None
    #: of liquidateBorrowForPerpPnl only
    liquidateBorrowForPerpPnl_perpMarketIndex: int
    #: raw integer, price 1e6
    liquidateBorrowForPerpPnl_marketOraclePrice: str
    #: raw integer, quote 1e6
    liquidateBorrowForPerpPnl_pnlTransfer: str
    #: of liquidateBorrowForPerpPnl only
    liquidateBorrowForPerpPnl_liabilityMarketIndex: int
    #: raw integer, price 1e6
    liquidateBorrowForPerpPnl_liabilityPrice: str
    #: raw integer, token, mint decimals
    liquidateBorrowForPerpPnl_liabilityTransfer: str
    #: of liquidatePerpPnlForDeposit only
    liquidatePerpPnlForDeposit_perpMarketIndex: int
    #: raw integer, price 1e6
    liquidatePerpPnlForDeposit_marketOraclePrice: str
    #: raw integer, quote 1e6
    liquidatePerpPnlForDeposit_pnlTransfer: str
    #: of liquidatePerpPnlForDeposit only
    liquidatePerpPnlForDeposit_assetMarketIndex: int
    #: raw integer, price 1e6
    liquidatePerpPnlForDeposit_assetPrice: str
    #: raw integer, token, mint decimals
    liquidatePerpPnlForDeposit_assetTransfer: str
    #: of perpBankruptcy only
    perpBankruptcy_marketIndex: int
    #: raw integer, quote 1e6
    perpBankruptcy_pnl: str
    #: raw integer, quote 1e6
    perpBankruptcy_ifPayment: str
    #: of perpBankruptcy only
    perpBankruptcy_clawbackUser: str | None
    #: raw integer, quote 1e6
    perpBankruptcy_clawbackUserPayment: str | None
    #: raw integer, funding 1e9
    perpBankruptcy_cumulativeFundingRateDelta: str
    #: of spotBankruptcy only
    spotBankruptcy_marketIndex: int
    #: raw integer, token, mint decimals
    spotBankruptcy_borrowAmount: str
    #: raw integer, token, mint decimals
    spotBankruptcy_ifPayment: str
    #: raw integer, interest 1e10
    spotBankruptcy_cumulativeDepositInterestDelta: str
    #: index of the transaction in its block; null where unknown
    txIndex: int | None


class UserLiquidationsAnswer(TypedDict):
    success: Literal[True]
    records: list[UserLiquidationsRecord]
    meta: MarketTradesAnswerMeta


class UserLiquidationsOfMonthAnswer(TypedDict):
    success: Literal[True]
    records: list[UserLiquidationsRecord]
    meta: MarketTradesOfDayAnswerMeta


class UserSettlePnlRecord(TypedDict):
    #: unix seconds
    ts: int
    #: transaction signature
    txSig: str
    #: index of the event inside its transaction
    txSigIndex: int
    #: slot
    slot: int
    #: account
    user: str
    #: perp market
    marketIndex: int
    #: market symbol
    symbol: str
    #: raw integer, quote 1e6
    pnl: str
    #: raw integer, base 1e9
    baseAssetAmount: str
    #: raw integer, quote 1e6
    quoteAssetAmountAfter: str
    #: raw integer, quote 1e6
    quoteEntryAmount: str
    #: raw integer, price 1e6
    settlePrice: str
    #: none or expiredPosition
    explanation: str
    #: index of the transaction in its block; null where unknown
    txIndex: int | None


class UserSettlePnlAnswer(TypedDict):
    success: Literal[True]
    records: list[UserSettlePnlRecord]
    meta: MarketTradesAnswerMeta


class UserSettlePnlOfMonthAnswer(TypedDict):
    success: Literal[True]
    records: list[UserSettlePnlRecord]
    meta: MarketTradesOfDayAnswerMeta


class UserOrdersRecord(TypedDict):
    #: unix seconds
    ts: int
    #: transaction signature
    txSig: str
    #: index of the event inside its transaction
    txSigIndex: int
    #: slot
    slot: int
    #: account
    user: str
    #: init, open, filled or canceled
    status: str
    #: market, limit, triggerMarket, triggerLimit or oracle
    orderType: str
    #: perp or spot
    marketType: str
    #: perp or spot
    marketFilter: str
    #: market index
    marketIndex: int
    #: market symbol
    symbol: str
    #: per account, never used again
    orderId: int
    #: the client's own number
    userOrderId: int
    #: raw integer, price 1e6
    price: str
    #: raw integer, price 1e6
    triggerPrice: str
    #: raw integer, base 1e9
    baseAssetAmount: str
    #: raw integer, base 1e9
    baseAssetAmountFilled: str
    #: raw integer, quote 1e6
    quoteAssetAmount: str | None
    #: raw integer, quote 1e6
    quoteAssetAmountFilled: str
    #: long or short
    direction: str
    #: long or short
    existingPositionDirection: str
    #: may only reduce a position
    reduceOnly: bool
    #: may only make
    postOnly: bool
    #: cancels the amount that does not fill at once
    immediateOrCancel: bool
    #: above, below, triggeredAbove or triggeredBelow
    triggerCondition: str
    #: raw integer, price 1e6
    oraclePriceOffset: str
    #: slots
    auctionDuration: int | None
    #: raw integer, price 1e6
    auctionStartPrice: str | None
    #: raw integer, price 1e6
    auctionEndPrice: str | None
    #: unix seconds, 0 = none
    maxTs: int
    #: open, partial_fill, filled, cancelled, partial_fill_cancelled, expired or trigger
    lastActionStatus: str
    #: why the last action happened
    lastActionExplanation: str
    #: unix seconds
    lastUpdatedTs: int
    #: raw integer, quote 1e6
    cumulativeFee: str
    #: index of the transaction in its block; null where unknown
    txIndex: int | None


class UserOrdersAnswer(TypedDict):
    success: Literal[True]
    records: list[UserOrdersRecord]
    meta: MarketTradesAnswerMeta


class UserOrdersActionsRecord(TypedDict):
    #: unix seconds
    ts: int
    #: transaction signature
    txSig: str
    #: index of the event inside its transaction
    txSigIndex: int
    #: slot
    slot: int
    #: raw integer, quote 1e6
    fillerReward: str | None
    #: raw integer, base 1e9
    baseAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    quoteAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    takerFee: str | None
    #: raw integer, quote 1e6: 0 without a maker, negative when paid to the maker
    makerRebate: str
    #: raw integer, quote 1e6
    referrerReward: str | None
    #: raw integer, quote 1e6
    quoteAssetAmountSurplus: str | None
    #: raw integer, base 1e9
    takerOrderBaseAssetAmount: str | None
    #: raw integer, base 1e9
    takerOrderCumulativeBaseAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    takerOrderCumulativeQuoteAssetAmountFilled: str | None
    #: raw integer, base 1e9
    makerOrderBaseAssetAmount: str | None
    #: raw integer, base 1e9
    makerOrderCumulativeBaseAssetAmountFilled: str | None
    #: raw integer, quote 1e6
    makerOrderCumulativeQuoteAssetAmountFilled: str | None
    #: raw integer, price 1e6
    oraclePrice: str
    #: raw integer, quote 1e6
    makerFee: str | None
    #: place, cancel, fill, trigger or expire
    action: str
    #: why the action happened
    actionExplanation: str
    #: market index
    marketIndex: int
    #: perp or spot
    marketType: str
    #: keeper account
    filler: str | None
    #: raw integer, identifier
    fillRecordId: str | None
    #: taker account
    taker: str | None
    #: order id of the taker
    takerOrderId: int | None
    #: long or short
    takerOrderDirection: str | None
    #: maker account; null when the AMM filled
    maker: str | None
    #: order id of the maker
    makerOrderId: int | None
    #: long or short
    makerOrderDirection: str | None
    #: raw integer, quote 1e6
    spotFulfillmentMethodFee: str | None
    #: perp or spot
    marketFilter: str
    #: the account the row is listed under
    user: str
    #: market symbol
    symbol: str
    #: flags of the fill
    bitFlags: int
    #: raw integer, quote 1e6
    takerExistingQuoteEntryAmount: str | None
    #: raw integer, base 1e9
    takerExistingBaseAssetAmount: str | None
    #: raw integer, quote 1e6
    makerExistingQuoteEntryAmount: str | None
    #: raw integer, base 1e9
    makerExistingBaseAssetAmount: str | None
    #: raw integer, price 1e6
    triggerPrice: str | None
    #: builder index
    builderIdx: int | None
    #: raw integer, quote 1e6
    builderFee: str | None
    #: raw integer, price 1e6
    price: str | None
    #: index of the transaction in its block; null where unknown
    txIndex: int | None


class UserOrdersActionsAnswer(TypedDict):
    success: Literal[True]
    records: list[UserOrdersActionsRecord]
    meta: MarketTradesAnswerMeta


class UserOrdersIdAnswer(TypedDict):
    success: Literal[True]
    record: UserOrdersRecord


class UserSnapshotsTradingAnswerSnapshots(TypedDict):
    #: unix seconds
    ts: int
    #: raw integer, quote 1e6
    accountBalance: str
    #: raw integer, quote 1e6
    unrealizedPnl: str
    #: raw integer, quote 1e6
    cumulativeRealizedPnl: str
    #: raw integer, quote 1e6
    unsettledPnl: str
    #: raw integer, quote 1e6
    cumulativeSettledPnl: str
    #: raw integer, quote 1e6
    cumulativeFunding: str
    #: raw integer, quote 1e6
    cumulativeFeePaid: str
    #: raw integer, quote 1e6
    cumulativeFeeRebate: str
    #: raw integer, quote 1e6
    cumulativeTakerVolume: str
    #: raw integer, quote 1e6
    cumulativeMakerVolume: str


class UserSnapshotsTradingAnswerMetrics(TypedDict):
    """over the life of the account"""
    #: raw integer, quote 1e6
    cumulativeMakerVolume: str
    #: raw integer, quote 1e6
    cumulativeTakerVolume: str
    #: raw integer, quote 1e6
    cumulativeFeePaid: str
    #: raw integer, quote 1e6
    cumulativeFeeRebate: str


class UserSnapshotsTradingAnswer(TypedDict):
    success: Literal[True]
    #: oldest first, from the first event of the account on
    snapshots: list[UserSnapshotsTradingAnswerSnapshots]
    #: over the life of the account
    metrics: UserSnapshotsTradingAnswerMetrics


class UserSnapshotsEarnAnswerSnapshotsAssets(TypedDict):
    marketIndex: int
    #: raw integer, token, mint decimals
    balance: str
    #: raw integer, token, mint decimals
    deposits: str
    #: raw integer, token, mint decimals
    withdrawals: str
    #: raw integer, token, mint decimals
    rewards: str
    #: raw integer, token, mint decimals
    pnl: str
    #: raw integer, token, mint decimals
    interestBaseValue: str
    #: raw integer, quote 1e6
    interestQuoteValue: str
    #: raw integer, price 1e6
    oraclePrice: str


class UserSnapshotsEarnAnswerSnapshots(TypedDict):
    #: unix seconds
    ts: int
    assets: list[UserSnapshotsEarnAnswerSnapshotsAssets]


class UserSnapshotsEarnAnswerMeta(TypedDict):
    #: tokens moved before the first deposit record: the starting balance is unknown
    flagged: bool


class UserSnapshotsEarnAnswer(TypedDict):
    success: Literal[True]
    #: oldest first, daily, from the first movement of tokens on
    snapshots: list[UserSnapshotsEarnAnswerSnapshots]
    meta: UserSnapshotsEarnAnswerMeta


class UserSnapshotsVaultsAnswerSnapshots(TypedDict):
    #: unix seconds
    ts: int
    #: public key, base58
    vault: str
    #: raw integer, quote 1e6
    totalAccountValue: str
    #: raw integer, token, mint decimals
    totalAccountBaseValue: str
    #: spot market of the vault's token
    marketIndex: int


class UserSnapshotsVaultsAnswer(TypedDict):
    success: Literal[True]
    #: oldest first, from the first record of the deposit on; worth at the oracle price, fees that run up not taken off
    snapshots: list[UserSnapshotsVaultsAnswerSnapshots]


class AuthoritySnapshotsOverviewAnswerProductsTrade(TypedDict):
    #: public key, base58
    accountId: str
    #: oldest first, from the first event of the account on
    snapshots: list[UserSnapshotsTradingAnswerSnapshots]
    #: over the life of the account
    metrics: UserSnapshotsTradingAnswerMetrics


class AuthoritySnapshotsOverviewAnswerProductsEarn(TypedDict):
    #: public key, base58
    accountId: str
    #: oldest first, daily, from the first movement of tokens on
    snapshots: list[UserSnapshotsEarnAnswerSnapshots]


class AuthoritySnapshotsOverviewAnswerProductsVaults(TypedDict):
    #: public key, base58
    accountId: str
    #: oldest first, from the first record of the deposit on; worth at the oracle price, fees that run up not taken off
    snapshots: list[UserSnapshotsVaultsAnswerSnapshots]


class AuthoritySnapshotsOverviewAnswerProducts(TypedDict):
    trade: list[AuthoritySnapshotsOverviewAnswerProductsTrade]
    earn: list[AuthoritySnapshotsOverviewAnswerProductsEarn]
    vaults: list[AuthoritySnapshotsOverviewAnswerProductsVaults]


class AuthoritySnapshotsOverviewAnswer(TypedDict):
    success: Literal[True]
    products: AuthoritySnapshotsOverviewAnswerProducts


class AuthoritySnapshotsTradingAnswer(TypedDict):
    success: Literal[True]
    accounts: list[AuthoritySnapshotsOverviewAnswerProductsTrade]


class AuthoritySnapshotsEarnAnswer(TypedDict):
    success: Literal[True]
    accounts: list[AuthoritySnapshotsOverviewAnswerProductsEarn]


class AuthoritySnapshotsVaultsAnswer(TypedDict):
    success: Literal[True]
    accounts: list[AuthoritySnapshotsOverviewAnswerProductsVaults]


class AuthoritySnapshotsReferralsAnswerSnapshots(TypedDict):
    #: unix seconds
    ts: int
    referralCount: int
    #: raw integer, quote 1e6
    referralRewards: str
    #: raw integer, quote 1e6
    referredVolume30D: str
    referredUsers: list[str]


class AuthoritySnapshotsReferralsAnswer(TypedDict):
    success: Literal[True]
    #: oldest first, from the first referral on
    snapshots: list[AuthoritySnapshotsReferralsAnswerSnapshots]


class AuthorityLpMintRedeemRecord(TypedDict):
    #: unix seconds
    ts: int
    #: transaction signature
    txSig: str
    #: index of the event inside its transaction
    txSigIndex: int
    #: slot
    slot: int
    #: wallet
    authority: str
    #: 0 or 1; which of them is mint is not published
    description: int
    #: raw integer, token, mint decimals
    amount: str
    #: raw integer, token, mint decimals
    fee: str
    #: spot market
    spotMarketIndex: int
    #: market symbol
    symbol: str
    #: constituent of the pool
    constituentIndex: int
    #: raw integer, price 1e6
    oraclePrice: str
    #: mint of the token
    mint: str
    #: raw integer, shares
    lpAmount: str
    #: raw integer, shares
    lpFee: str
    #: raw integer, price 1e6
    lpPrice: str
    #: raw integer, identifier
    mintRedeemId: str
    #: raw integer, quote 1e6
    lastAum: str
    #: raw integer, identifier
    lastAumSlot: str
    #: raw integer, identifier
    inMarketCurrentWeight: str
    #: raw integer, identifier
    inMarketTargetWeight: str
    #: pool
    lpPool: str
    #: index of the transaction in its block; null where unknown
    txIndex: int | None


class AuthorityLpMintRedeemAnswer(TypedDict):
    success: Literal[True]
    records: list[AuthorityLpMintRedeemRecord]
    meta: MarketTradesAnswerMeta


class AuthorityLpMintRedeemOfMonthAnswer(TypedDict):
    success: Literal[True]
    records: list[AuthorityLpMintRedeemRecord]
    meta: MarketTradesOfDayAnswerMeta


class AuthorityAccountsAnswerAccounts(TypedDict):
    #: public key, base58
    accountId: str
    subAccountId: int
    name: str


class AuthorityAccountsAnswerBuilderRevenueShareAccount(TypedDict):
    """what the wallet earned as a builder"""
    #: public key, base58
    accountId: str
    #: raw integer, quote 1e6
    totalBuilderRewards: str


class AuthorityAccountsAnswerRevenueShareEscrowApprovedBuilders(TypedDict):
    #: public key, base58
    authority: str
    #: place in the escrow; orders name a builder by it
    builderIdx: int
    #: tenths of a basis point
    maxFeeTenthBps: int


class AuthorityAccountsAnswerRevenueShareEscrow(TypedDict):
    """builders that the wallet approved"""
    #: public key, base58
    accountId: str
    #: builders whose highest fee is above 0
    approvedBuilders: list[AuthorityAccountsAnswerRevenueShareEscrowApprovedBuilders]


class AuthorityAccountsAnswer(TypedDict):
    success: Literal[True]
    accounts: list[AuthorityAccountsAnswerAccounts]
    #: what the wallet earned as a builder
    builderRevenueShareAccount: AuthorityAccountsAnswerBuilderRevenueShareAccount | None
    #: builders that the wallet approved
    revenueShareEscrow: AuthorityAccountsAnswerRevenueShareEscrow | None


class PostAuthorityExportsAnswer(TypedDict):
    success: Literal[True]
    requestId: str
    status: Literal["pending"]


AuthorityExportsRecord = TypedDict(
    "AuthorityExportsRecord",
    {
    "requestId": str,
    "status": Literal["pending", "processing", "ready", "failed", "empty"],
    "fileType": str,
    #: unix seconds
    "from": int,
    #: unix seconds
    "to": int,
    #: sub-accounts
    "userPublicKeys": list[str],
    "market": str | None,
    #: unix seconds
    "createdAt": int,
    #: unix seconds
    "completedAt": int | None,
    #: rows of the file; null unless ready or empty
    "recordCount": int | None,
    #: why it failed
    "errorReason": str | None,
    #: anyone may download with it; new in each answer; null unless ready
    "downloadUrl": str | None,
    },
)


class AuthorityExportsAnswerMeta(TypedDict):
    #: opaque cursor; null when no more jobs
    nextPage: str | None


class AuthorityExportsAnswer(TypedDict):
    success: Literal[True]
    records: list[AuthorityExportsRecord]
    meta: AuthorityExportsAnswerMeta


class _StatsMarketsAnswer(TypedDict):
    marketIndex: int
    symbol: str
    marketType: Literal["perp", "spot"]
    #: newest oracle price; 0 before the first
    oraclePrice: int | Decimal
    #: quote; liquidation fills count, position transfers do not
    volume24h: int | Decimal
    #: base; the larger side; 0 for spot
    openInterest: int | Decimal
    #: percent per hour; positive = longs pay
    fundingRate: int | Decimal
    #: percent per hour, mean of the last 24 records
    fundingRate24hAvg: int | Decimal
    #: lower case
    status: str


class StatsMarketsAnswer(_StatsMarketsAnswer, total=False):
    #: chain time of the summary, unix seconds
    ts: int | None
    #: base
    baseVolume24h: int | Decimal
    #: fills behind the volume
    trades24h: int
    #: last fill
    price: int | Decimal | None
    #: last fill before the 24 hours
    price24hAgo: int | Decimal | None
    #: price - price24hAgo
    priceChange24h: int | Decimal | None
    #: percent of price24hAgo
    priceChange24hPercent: int | Decimal | None
    #: of fills; liquidations and position transfers left out
    priceHigh24h: int | Decimal | None
    #: of fills; liquidations and position transfers left out
    priceLow24h: int | Decimal | None
    #: of oracle prices
    oracleHigh24h: int | Decimal | None
    #: of oracle prices
    oracleLow24h: int | Decimal | None
    #: mean of the AMM bid and ask; null without AMM
    markPrice: int | Decimal | None
    #: base
    openInterestLong: int | Decimal
    #: base; zero or negative
    openInterestShort: int | Decimal
    #: percent per hour that longs receive; negative = they pay
    fundingRateLong: int | Decimal
    #: percent per hour that shorts receive; negative = they pay
    fundingRateShort: int | Decimal
    #: unix seconds
    fundingRateUpdateTs: int | None


class StatsMarketsVolumeByIntervalAnswerMarkets(TypedDict):
    symbol: str
    marketIndex: int
    marketType: Literal["perp", "spot"]
    #: raw integer, base units of the market
    baseVolume: str
    #: raw integer, quote 1e6
    quoteVolume: str


class StatsMarketsVolumeByIntervalAnswer(TypedDict):
    success: Literal[True]
    #: raw integer, quote 1e6, of all markets
    total: str
    markets: list[StatsMarketsVolumeByIntervalAnswerMarkets]


class StatsMarketsVolumeAnswer(TypedDict):
    success: Literal[True]
    #: raw integer, quote 1e6, of all markets
    total: str
    markets: list[StatsMarketsVolumeByIntervalAnswerMarkets]
    #: unix seconds
    startTs: int
    #: unix seconds
    endTs: int


class StatsMarketsPricesAnswerMarkets(TypedDict):
    symbol: str
    marketIndex: int
    marketType: Literal["perp", "spot"]
    #: last fill, human units, 6 decimals; empty before the first
    currentPrice: str
    #: last fill before the 24 hours, 6 decimals; empty when there is none
    price24hAgo: str
    #: the difference, 6 decimals; empty when there is none
    priceChange: str
    #: percent of the earlier price, 2 decimals; empty when there is none
    priceChangePercent: str


class StatsMarketsPricesAnswer(TypedDict):
    success: Literal[True]
    markets: list[StatsMarketsPricesAnswerMarkets]


StatsFundingRatesAnswerMarketsFundingRates = TypedDict(
    "StatsFundingRatesAnswerMarketsFundingRates",
    {
    #: percent per hour, 9 decimals; positive = longs pay
    "24h": str,
    #: percent per hour, 9 decimals; positive = longs pay
    "7d": str,
    #: percent per hour, 9 decimals; positive = longs pay
    "30d": str,
    #: percent per hour, 9 decimals; positive = longs pay
    "1y": str,
    },
)


class StatsFundingRatesAnswerMarkets(TypedDict):
    marketIndex: int
    symbol: str
    fundingRates: StatsFundingRatesAnswerMarketsFundingRates


class StatsFundingRatesAnswer(TypedDict):
    success: Literal[True]
    markets: list[StatsFundingRatesAnswerMarkets]


class StatsFundingRatesExternalRecord(TypedDict):
    asset: str
    venue: str
    #: percent per interval; positive = longs pay
    fundingRate: int | Decimal
    intervalHours: int | Decimal
    annualisedPercent: int | Decimal
    #: unix seconds
    ts: int


class StatsFundingRatesExternalAnswer(TypedDict):
    success: Literal[True]
    records: list[StatsFundingRatesExternalRecord]


class StatsRateHistoryAnswer(TypedDict):
    success: Literal[True]
    #: [ts, value]: rates are raw integers 1e6 = 100 % a year, balances tokens in mint decimals
    rates: list[list[int | str]]


class StatsLiquidationsAnswerStats24h(TypedDict):
    count: int
    #: raw integer, quote 1e6
    amount: str


StatsLiquidationsAnswerStats = TypedDict(
    "StatsLiquidationsAnswerStats",
    {
    "24h": StatsLiquidationsAnswerStats24h,
    "30d": StatsLiquidationsAnswerStats24h,
    },
)


class StatsLiquidationsAnswer(TypedDict):
    success: Literal[True]
    stats: StatsLiquidationsAnswerStats
    records: list[UserLiquidationsRecord]
    meta: MarketTradesAnswerMeta


class StatsBankruptciesAnswerStats(TypedDict):
    #: raw integer, quote 1e6
    totalAmount: str
    #: raw integer, quote 1e6
    ifPayment: str
    #: raw integer, quote 1e6
    socialLoss: str
    totalCount: int


class StatsBankruptciesAnswer(TypedDict):
    success: Literal[True]
    stats: StatsBankruptciesAnswerStats
    records: list[UserLiquidationsRecord]
    meta: MarketTradesAnswerMeta


class StatsVaultsAnswerVaults(TypedDict):
    #: raw integer, token, mint decimals
    totalDeposits: str
    #: raw integer, token, mint decimals
    totalWithdraws: str
    #: raw integer, token, mint decimals
    managerNetDeposits: str
    #: raw integer, token, mint decimals
    managerTotalDeposits: str
    #: raw integer, token, mint decimals
    managerTotalWithdraws: str
    #: raw integer, token, mint decimals
    netDeposits: str
    #: raw integer, shares
    totalShares: str
    #: raw integer, shares of all depositors but the manager
    userShares: str
    #: share, 1e6
    profitShare: int
    #: raw integer, share 1e6: of the equity by the year
    managementFee: str
    #: share, 1e6
    hurdleRate: int
    spotMarketIndex: int
    #: only invited wallets may deposit
    permissioned: bool
    #: raw integer, token, mint decimals; 0 = no bound
    maxTokens: str
    #: seconds from a request to its withdrawal
    redeemPeriod: int
    name: str
    #: public key, base58
    vault: str
    #: public key, base58
    manager: str


class StatsVaultsAnswer(TypedDict):
    success: Literal[True]
    vaults: list[StatsVaultsAnswerVaults]


class StatsInsuranceFundAnswerData(TypedDict):
    marketIndex: int
    symbol: str | None
    #: raw integer, token, mint decimals
    vaultAmount: str
    #: raw integer, shares
    totalShares: str
    #: raw integer, shares: those of stakers; null before the first stake
    userShares: str | None
    #: revenue of the last 30 days as percent of the vault a year, 2 decimals
    apy: str
    #: seconds; null while the account is unknown
    unstakingPeriod: int | None
    #: unix seconds
    ts: int


class StatsInsuranceFundAnswer(TypedDict):
    success: Literal[True]
    data: list[StatsInsuranceFundAnswerData]


class StatsDlpSnapshotsAnswerSnapshots(TypedDict):
    #: unix seconds
    ts: int
    #: raw integer, quote 1e6
    tvl: str
    #: raw integer, price 1e6: of a share
    price: str
    #: public key, base58
    lpPool: str


class StatsDlpSnapshotsAnswer(TypedDict):
    success: Literal[True]
    snapshots: list[StatsDlpSnapshotsAnswerSnapshots]


class StatsLeaderboardAnswerDataLeaderboard(TypedDict):
    #: public key, base58
    authority: str
    #: raw integer, quote 1e6
    volume: str
    #: raw integer, quote 1e6
    pnl: str
    rank: int


class StatsLeaderboardAnswerData(TypedDict):
    leaderboard: list[StatsLeaderboardAnswerDataLeaderboard]


class StatsLeaderboardAnswerMeta(TypedDict):
    #: pass back as page; null when no more rows
    nextPage: str | None


class StatsLeaderboardAnswer(TypedDict):
    success: Literal[True]
    data: StatsLeaderboardAnswerData
    meta: StatsLeaderboardAnswerMeta


class StatsLeaderboardByAuthorityIdAnswerDataRank(TypedDict):
    #: from 1; null for a wallet that is not on the board
    pnl: int | None
    #: from 1; null for a wallet that is not on the board
    volume: int | None


class StatsLeaderboardByAuthorityIdAnswerData(TypedDict):
    #: raw integer, quote 1e6
    pnl: str
    #: raw integer, quote 1e6
    volume: str
    rank: StatsLeaderboardByAuthorityIdAnswerDataRank


class StatsLeaderboardByAuthorityIdAnswer(TypedDict):
    success: Literal[True]
    data: StatsLeaderboardByAuthorityIdAnswerData


class StatsLeaderboardMakerRecord(TypedDict):
    rank: int
    #: public key, base58
    authority: str
    #: raw integer, quote 1e6
    volume: str


class StatsLeaderboardMakerAnswer(TypedDict):
    success: Literal[True]
    #: YYYY-MM
    month: str
    records: list[StatsLeaderboardMakerRecord]
    meta: StatsLeaderboardAnswerMeta


class AmmPositionAnswer(TypedDict):
    success: Literal[True]
    #: [ts, base 1e9], positive = users are long, raw integers as text
    data: list[list[int | str]]


class AmmBidAskPriceAnswer(TypedDict):
    success: Literal[True]
    #: [ts, bid 1e6, ask 1e6], raw integers as text
    data: list[list[int | str]]


class AmmOraclePriceAnswer(TypedDict):
    success: Literal[True]
    #: [ts, price 1e6], raw integers as text
    data: list[list[int | str]]


class AmmSpreadsAnswer(TypedDict):
    success: Literal[True]
    #: [ts, long, short], 1e6 = 100 %, raw integers as text
    data: list[list[int | str]]


class AmmOpenInterestAnswer(TypedDict):
    success: Literal[True]
    #: [ts, base 1e9], raw integers as text
    data: list[list[int | str]]


class ParamsAnswerParamsPrecisions(TypedDict):
    price: int
    quote: int
    base: int
    funding: int
    interest: int


class ParamsAnswerParamsMarkets(TypedDict):
    symbol: str
    marketIndex: int
    marketType: Literal["perp", "spot"]
    #: lower case
    status: str
    #: decimals of base amounts
    baseDecimals: int
    #: raw integer, price 1e6
    tickSize: str
    #: raw integer, base units of the market
    stepSize: str
    #: raw integer, base units of the market
    minOrderSize: str


class ParamsAnswerParams(TypedDict):
    precisions: ParamsAnswerParamsPrecisions
    markets: list[ParamsAnswerParamsMarkets]


class ParamsAnswer(TypedDict):
    success: Literal[True]
    params: ParamsAnswerParams
    #: when this answer was made, unix seconds
    updatedAt: int


class NotificationsRecord(TypedDict):
    """one notification"""
    #: time-ordered; the same cause has the same id
    notificationId: str
    #: public key, base58
    authorityId: str
    title: str
    body: str
    type: Literal["PRICE_ALERT", "RECORD_UPDATE", "ACCOUNT_UPDATE", "TEST", "NEW_MARKET", "PRODUCT_UPDATE", "ANNOUNCEMENT", "REDUCE_ONLY", "CUSTOM"]
    status: Literal["PENDING", "SENT", "FAILED", "READ"]
    channels: list[Literal["app", "push"]]
    #: public key, base58
    user: str | None
    #: members of the cause; amounts are raw integers
    data: dict[str, Any]
    actions: list[dict[str, Any]]
    #: unix seconds
    sentAt: int | None
    #: unix seconds
    createdAt: int


class NotificationsAnswerMeta(TypedDict):
    nextPage: str | None


class NotificationsAnswer(TypedDict):
    success: Literal[True]
    records: list[NotificationsRecord]
    meta: NotificationsAnswerMeta


class PatchNotificationsAnswer(TypedDict):
    success: Literal[True]


class NotificationsPreferencesAnswerPreferences(TypedDict):
    #: public key, base58
    authorityId: str
    pushOptOutTypes: list[Literal["PRICE_ALERT", "RECORD_UPDATE", "ACCOUNT_UPDATE", "TEST", "NEW_MARKET", "PRODUCT_UPDATE", "ANNOUNCEMENT", "REDUCE_ONLY", "CUSTOM"]]


class NotificationsPreferencesAnswer(TypedDict):
    success: Literal[True]
    preferences: NotificationsPreferencesAnswerPreferences


class NotificationsDevicesAnswerDevices(TypedDict):
    deviceId: str
    token: str | None
    platform: Literal["ios", "android", "web", ""]
    #: unix seconds
    createdAt: int


class NotificationsDevicesAnswer(TypedDict):
    success: Literal[True]
    devices: list[NotificationsDevicesAnswerDevices]


class _PostNotificationsDevicesAnswerDevice(TypedDict):
    deviceId: str
    token: str | None
    platform: Literal["ios", "android", "web", ""]
    #: unix seconds
    createdAt: int


class PostNotificationsDevicesAnswerDevice(_PostNotificationsDevicesAnswerDevice, total=False):
    #: webhooks: key of the signatures
    secret: str


class PostNotificationsDevicesAnswer(TypedDict):
    success: Literal[True]
    device: PostNotificationsDevicesAnswerDevice


class ExternalCoingeckoContractsAnswerContracts(TypedDict):
    contract_index: str
    ticker_id: str
    base_currency: str
    quote_currency: str
    last_price: str
    base_volume: str
    quote_volume: str
    high: str
    low: str
    product_type: str
    open_interest: str
    open_interest_usd: str
    index_price: str
    index_name: str
    index_currency: str
    funding_rate: str
    next_funding_rate: str
    next_funding_rate_timestamp: str
    contract_type: str
    contract_price_currency: str


class ExternalCoingeckoContractsAnswer(TypedDict):
    #: human units as text; empty where nothing is known. Funding: fraction per hour, positive = longs pay; the next rate is the last one, due at the next full hour (unix seconds)
    contracts: list[ExternalCoingeckoContractsAnswerContracts]


class FreshnessAnswerNewest(TypedDict):
    """newest slot of any stream; null before the first event"""
    #: slot
    slot: int
    #: unix seconds
    ts: int
    #: seconds that it lies behind the clock of the service
    behindClock: int


class FreshnessAnswerStreams(TypedDict):
    stream: Literal["trades", "orderActions", "orders", "fundingRates", "fundingPayments", "deposits", "swaps", "settlements", "liquidations", "insuranceFund", "insuranceFundStakes", "accounts", "spotInterest", "ammCurve", "bookFills", "samples", "candles"]
    #: where it is stored
    table: str
    #: slot of its newest row; null for an empty stream
    lastSlot: int | None
    #: unix seconds of its newest row; of candles the start of the bucket
    lastTs: int | None
    #: slots behind the newest slot
    lagSlots: int | None
    #: seconds behind the newest slot
    lagSeconds: int | None


class FreshnessAnswerCoverageHolesReconstructed(TypedDict):
    #: account
    user: str
    #: order
    orderId: int
    #: direction of the order
    direction: str
    #: sum of its lost fills, base 1e9
    baseAssetAmount: str
    #: the same in quote, 1e6; null where an account state without it bounds the sum
    quoteAssetAmount: str | None


class FreshnessAnswerCoverageHolesReconstructedOrders(TypedDict):
    #: order
    orderId: int
    #: market, such as perp-0
    market: str
    direction: str
    orderType: str
    #: price 1e6
    price: str
    #: size, base 1e9
    baseAssetAmount: str
    #: slot in which it was placed
    placedSlot: int


class FreshnessAnswerCoverageHoles(TypedDict):
    #: first missing number
    fromId: int
    #: last missing number
    toId: int
    #: slot
    fromSlot: int
    #: slot
    toSlot: int
    #: true when the blocks were read again without them
    lost: bool
    #: of lost fills, the exact sum for each order that later records or account states prove; a hole of several numbers may have more
    reconstructed: list[FreshnessAnswerCoverageHolesReconstructed]
    #: of lost orders of an account, those that states of the account showed
    reconstructedOrders: list[FreshnessAnswerCoverageHolesReconstructedOrders]


class FreshnessAnswerCoverage(TypedDict):
    #: market, such as perp-0, or account
    subject: str
    #: fills, funding, deposits, bookOrders, orders or liquidations
    stream: str
    #: first stored number; null before the first record
    firstId: int | None
    #: newest stored number; null before the first record
    lastId: int | None
    #: newest number on the chain; null when unknown
    chainId: int | None
    #: records missing between the first stored one and the newest on the chain
    missing: int
    #: missing numbers, oldest first
    holes: list[FreshnessAnswerCoverageHoles]


class FreshnessAnswerAccounts(TypedDict):
    #: orders or liquidations
    stream: str
    #: accounts with a record or a count
    accounts: int
    #: accounts with missing records
    withHoles: int
    #: missing records of all accounts
    missing: int
    #: missing records that no node has
    lost: int
    #: accounts that are no longer followed, because there were too many
    forgotten: int


class FreshnessAnswerGaps(TypedDict):
    #: slot
    fromSlot: int
    #: slot
    toSlot: int
    reason: str
    #: true when all its slots were read later
    filled: bool
    #: true when its data cannot be recovered
    lasting: bool
    #: unix seconds
    foundTs: int
    #: unix seconds
    filledTs: int | None


class FreshnessAnswer(TypedDict):
    success: Literal[True]
    #: newest slot of any stream; null before the first event
    newest: FreshnessAnswerNewest | None
    #: events in the log that the store does not hold yet; null when the log was never written
    eventsNotStored: int | None
    #: a stream without events for a while lags without being late; eventsNotStored is the true lag
    streams: list[FreshnessAnswerStreams]
    #: numbered streams of markets, and of accounts with missing records; at most 500
    coverage: list[FreshnessAnswerCoverage]
    #: totals of the numbered streams of accounts; accounts with missing records are in coverage
    accounts: list[FreshnessAnswerAccounts]
    #: gaps in the chain data, newest first, at most 200, open ones before filled ones; null when the log was never written
    gaps: list[FreshnessAnswerGaps] | None


class PostTxDepositAnswer(TypedDict):
    success: Literal[True]
    #: base64 of an unsigned versioned transaction; its payer is the authority of the account
    tx: str
    message: str


class PostTxOrderPlaceAnswerSwiftPayload(TypedDict):
    market_index: int
    market_type: Literal["perp"]
    #: hex text of the order message; its domain prefix is not part of it
    message: str
    #: for the base64 signature of the wallet
    signature: Literal[""]
    #: public key, base58
    signing_authority: str
    #: public key, base58
    taker_authority: str


class PostTxOrderPlaceAnswerSwiftMeta(TypedDict):
    #: base64
    signedMsgOrderUuid: str
    #: slot in the message
    slotForSignedMsg: str
    slotsTillAuctionEnd: int
    #: time to sign, milliseconds
    expirationTimeMs: int


class PostTxOrderPlaceAnswerSwift(TypedDict):
    """with useSwift"""
    payload: PostTxOrderPlaceAnswerSwiftPayload
    meta: PostTxOrderPlaceAnswerSwiftMeta


class _PostTxOrderPlaceAnswer(TypedDict):
    success: Literal[True]
    #: base64 of an unsigned versioned transaction; its payer is the authority of the account
    tx: str | None
    message: str


class PostTxOrderPlaceAnswer(_PostTxOrderPlaceAnswer, total=False):
    #: with useSwift
    swift: PostTxOrderPlaceAnswerSwift


class PostTxExecuteAnswer(TypedDict):
    success: Literal[True]
    #: signature of the transaction, base58
    txSig: str


_PostAuthorityExportsBody = TypedDict(
    "_PostAuthorityExportsBody",
    {
    #: trades: fills with the account as taker or maker; marketTrades: fills of a market; fundingRates: funding rates of a perp market; fundingPayments: funding paid and received; deposits: deposits, withdrawals and transfers; liquidations: liquidations and bankruptcies of the account; settlePnl: settlements of profit and loss; swaps: swaps; rewards: rewards; insuranceFundStake: insurance-fund stakes of the wallet; balances: opening balance, movements and closing balance of each token
    "fileType": Literal["trades", "marketTrades", "fundingRates", "fundingPayments", "deposits", "liquidations", "settlePnl", "swaps", "rewards", "insuranceFundStake", "balances"],
    #: oldest row, unix seconds, inclusive
    "from": int,
    #: newest row, unix seconds, inclusive; after from, by at most 31622400 seconds
    "to": int,
    #: sub-accounts of the authority. marketTrades, fundingRates and insuranceFundStake have the same rows for any
    "userPublicKeys": list[str],
    },
)


class PostAuthorityExportsBody(_PostAuthorityExportsBody, total=False):
    #: only rows of this market; required by marketTrades and fundingRates
    market: str


class PatchNotificationsBody(TypedDict):
    status: Literal["READ"]


class PutNotificationsPreferencesBody(TypedDict):
    pushOptOutTypes: list[Literal["PRICE_ALERT", "RECORD_UPDATE", "ACCOUNT_UPDATE", "TEST", "NEW_MARKET", "PRODUCT_UPDATE", "ANNOUNCEMENT", "REDUCE_ONLY", "CUSTOM"]]


class _PostNotificationsDevicesBody(TypedDict):
    #: the client's own name of the device
    deviceId: str
    platform: Literal["ios", "android", "web", ""]


class PostNotificationsDevicesBody(_PostNotificationsDevicesBody, total=False):
    token: str | None


class _PostTxDepositBody(TypedDict):
    #: key of the user account, base58
    accountId: str
    #: token units, a decimal text with at most the decimals of the token
    amount: str
    #: spot market, for example USDT
    symbol: str


class PostTxDepositBody(_PostTxDepositBody, total=False):
    #: try the transaction on the node first
    simulate: bool


class PostTxOrderPlaceBodyBuilderParams(TypedDict):
    """a builder that the authority has approved, and its fee"""
    #: place of the builder in the escrow
    builderIdx: int
    #: fee, tenths of a basis point; at most the approved one
    builderFeeTenthBps: int


class _PostTxOrderPlaceBody(TypedDict):
    #: key of the user account, base58
    accountId: str
    #: perp market, for example SOL-PERP
    symbol: str
    direction: Literal["long", "short"]
    #: base units, a decimal text with at most 9 decimals
    amount: str
    orderType: Literal["market", "limit", "triggerMarket", "triggerLimit", "oracle"]


class PostTxOrderPlaceBody(_PostTxOrderPlaceBody, total=False):
    #: a decimal text with at most 6 decimals; required for limit and triggerLimit orders, unless a limit order has an oraclePriceOffset; refused for others
    price: str
    #: price less the oracle price, a decimal text with at most 6 decimals; required for oracle orders
    oraclePriceOffset: str
    #: oracle price that activates the order; required for trigger orders
    triggerPrice: str
    #: required for trigger orders
    triggerCondition: Literal["above", "below"]
    #: largest leverage of the position from here on, from 1 to 1000, a decimal text with at most 2 decimals
    positionMaxLeverage: str
    #: a builder that the authority has approved, and its fee
    builderParams: PostTxOrderPlaceBodyBuilderParams
    reduceOnly: bool
    #: limit orders only; fails when the order would cross
    postOnly: bool
    #: isolated moves the initial margin of the order to the position, unless the order only reduces it
    marginMode: Literal["cross", "isolated"]
    useSwift: bool
    #: try the transaction on the node first
    simulate: bool


class _PostTxOrderCancelBody(TypedDict):
    #: key of the user account, base58
    accountId: str


class PostTxOrderCancelBody(_PostTxOrderCancelBody, total=False):
    orderId: int
    orderIds: list[int]
    #: perp market
    symbol: str
    #: try the transaction on the node first
    simulate: bool


class _PostTxSettlePnlBody(TypedDict):
    #: key of the user account, base58
    accountId: str


class PostTxSettlePnlBody(_PostTxSettlePnlBody, total=False):
    #: perp markets; absent: all with a position
    symbols: list[str]
    #: try the transaction on the node first
    simulate: bool


class _PostTxBuilderInitBody(TypedDict):
    #: wallet of the builder, base58
    builderId: str


class PostTxBuilderInitBody(_PostTxBuilderInitBody, total=False):
    #: try the transaction on the node first
    simulate: bool


class _PostTxBuilderApproveBody(TypedDict):
    #: wallet of the user, base58
    authorityId: str
    #: wallet of the builder, base58
    builderId: str
    #: highest fee, tenths of a basis point
    maxFeeTenthBps: int


class PostTxBuilderApproveBody(_PostTxBuilderApproveBody, total=False):
    #: orders that the escrow holds at once
    numOrders: int
    #: try the transaction on the node first
    simulate: bool


class _PostTxExecuteBody(TypedDict):
    #: base64 of the signed transaction, at most 1232 bytes
    signedTx: str


class PostTxExecuteBody(_PostTxExecuteBody, total=False):
    #: try the transaction on the node first
    simulate: bool
    commitment: Literal["processed", "confirmed", "finalized"]


#: Columns of rows, by the name of their type.
COLUMNS: dict[str, dict[str, Column]] = {
    "MarketTradesRecord": {
        "ts": Column.WHOLE,
        "txSig": Column.TEXT,
        "txSigIndex": Column.WHOLE,
        "slot": Column.WHOLE,
        "fillerReward": Column.raw(6),
        "baseAssetAmountFilled": Column.raw(9),
        "quoteAssetAmountFilled": Column.raw(6),
        "takerFee": Column.raw(6),
        "makerRebate": Column.raw(6),
        "referrerReward": Column.raw(6),
        "quoteAssetAmountSurplus": Column.raw(6),
        "takerOrderBaseAssetAmount": Column.raw(9),
        "takerOrderCumulativeBaseAssetAmountFilled": Column.raw(9),
        "takerOrderCumulativeQuoteAssetAmountFilled": Column.raw(6),
        "makerOrderBaseAssetAmount": Column.raw(9),
        "makerOrderCumulativeBaseAssetAmountFilled": Column.raw(9),
        "makerOrderCumulativeQuoteAssetAmountFilled": Column.raw(6),
        "oraclePrice": Column.raw(6),
        "makerFee": Column.raw(6),
        "action": Column.TEXT,
        "actionExplanation": Column.TEXT,
        "marketIndex": Column.WHOLE,
        "marketType": Column.TEXT,
        "filler": Column.TEXT,
        "fillRecordId": Column.raw(0),
        "taker": Column.TEXT,
        "takerOrderId": Column.WHOLE,
        "takerOrderDirection": Column.TEXT,
        "maker": Column.TEXT,
        "makerOrderId": Column.WHOLE,
        "makerOrderDirection": Column.TEXT,
        "spotFulfillmentMethodFee": Column.raw(6),
        "marketFilter": Column.TEXT,
        "user": Column.TEXT,
        "symbol": Column.TEXT,
        "bitFlags": Column.WHOLE,
        "takerExistingQuoteEntryAmount": Column.raw(6),
        "takerExistingBaseAssetAmount": Column.raw(9),
        "makerExistingQuoteEntryAmount": Column.raw(6),
        "makerExistingBaseAssetAmount": Column.raw(9),
        "triggerPrice": Column.raw(6),
        "builderIdx": Column.WHOLE,
        "builderFee": Column.raw(6),
        "price": Column.raw(6),
        "txIndex": Column.WHOLE,
    },
    "MarketFundingRatesRecord": {
        "ts": Column.WHOLE,
        "txSig": Column.TEXT,
        "txSigIndex": Column.WHOLE,
        "slot": Column.WHOLE,
        "recordId": Column.raw(0),
        "marketIndex": Column.WHOLE,
        "symbol": Column.TEXT,
        "fundingRate": Column.raw(9),
        "fundingRateLong": Column.raw(9),
        "fundingRateShort": Column.raw(9),
        "cumulativeFundingRateLong": Column.raw(9),
        "cumulativeFundingRateShort": Column.raw(9),
        "oraclePriceTwap": Column.raw(6),
        "markPriceTwap": Column.raw(6),
        "baseAssetAmountWithAmm": Column.raw(9),
        "txIndex": Column.WHOLE,
    },
    "MarketDepositsRecord": {
        "ts": Column.WHOLE,
        "txSig": Column.TEXT,
        "txSigIndex": Column.WHOLE,
        "slot": Column.WHOLE,
        "userAuthority": Column.TEXT,
        "user": Column.TEXT,
        "direction": Column.TEXT,
        "depositRecordId": Column.raw(0),
        "amount": Column.raw(None),
        "marketIndex": Column.WHOLE,
        "symbol": Column.TEXT,
        "oraclePrice": Column.raw(6),
        "marketDepositBalance": Column.raw(9),
        "marketWithdrawBalance": Column.raw(9),
        "marketCumulativeDepositInterest": Column.raw(10),
        "marketCumulativeBorrowInterest": Column.raw(10),
        "totalDepositsAfter": Column.raw(6),
        "totalWithdrawsAfter": Column.raw(6),
        "explanation": Column.TEXT,
        "transferUser": Column.TEXT,
        "signer": Column.TEXT,
        "userTokenAmountAfter": Column.raw(None),
        "txIndex": Column.WHOLE,
    },
    "MarketSwapsRecord": {
        "ts": Column.WHOLE,
        "txSig": Column.TEXT,
        "txSigIndex": Column.WHOLE,
        "slot": Column.WHOLE,
        "user": Column.TEXT,
        "amountOut": Column.raw(None),
        "amountIn": Column.raw(None),
        "outMarketIndex": Column.WHOLE,
        "inMarketIndex": Column.WHOLE,
        "outSymbol": Column.TEXT,
        "inSymbol": Column.TEXT,
        "outOraclePrice": Column.raw(6),
        "inOraclePrice": Column.raw(6),
        "fee": Column.raw(None),
        "txIndex": Column.WHOLE,
    },
    "MarketInsuranceFundRecord": {
        "ts": Column.WHOLE,
        "txSig": Column.TEXT,
        "txSigIndex": Column.WHOLE,
        "slot": Column.WHOLE,
        "spotMarketIndex": Column.WHOLE,
        "perpMarketIndex": Column.WHOLE,
        "symbol": Column.TEXT,
        "userIfFactor": Column.WHOLE,
        "totalIfFactor": Column.WHOLE,
        "vaultAmountBefore": Column.raw(None),
        "insuranceVaultAmountBefore": Column.raw(None),
        "totalIfSharesBefore": Column.raw(None),
        "totalIfSharesAfter": Column.raw(None),
        "amount": Column.raw(None),
        "txIndex": Column.WHOLE,
    },
    "MarketInsuranceFundStakeRecord": {
        "ts": Column.WHOLE,
        "txSig": Column.TEXT,
        "txSigIndex": Column.WHOLE,
        "slot": Column.WHOLE,
        "userAuthority": Column.TEXT,
        "action": Column.TEXT,
        "amount": Column.raw(None),
        "marketIndex": Column.WHOLE,
        "symbol": Column.TEXT,
        "insuranceVaultAmountBefore": Column.raw(None),
        "ifSharesBefore": Column.raw(None),
        "ifSharesAfter": Column.raw(None),
        "userIfSharesBefore": Column.raw(None),
        "userIfSharesAfter": Column.raw(None),
        "totalIfSharesBefore": Column.raw(None),
        "totalIfSharesAfter": Column.raw(None),
        "txIndex": Column.WHOLE,
    },
    "MarketCandlesRecord": {
        "ts": Column.WHOLE,
        "fillOpen": Column.DECIMAL,
        "fillHigh": Column.DECIMAL,
        "fillLow": Column.DECIMAL,
        "fillClose": Column.DECIMAL,
        "oracleOpen": Column.DECIMAL,
        "oracleHigh": Column.DECIMAL,
        "oracleLow": Column.DECIMAL,
        "oracleClose": Column.DECIMAL,
        "quoteVolume": Column.DECIMAL,
        "baseVolume": Column.DECIMAL,
    },
    "UserTradesRecord": {
        "ts": Column.WHOLE,
        "txSig": Column.TEXT,
        "txSigIndex": Column.WHOLE,
        "slot": Column.WHOLE,
        "fillerReward": Column.raw(6),
        "baseAssetAmountFilled": Column.raw(9),
        "quoteAssetAmountFilled": Column.raw(6),
        "takerFee": Column.raw(6),
        "makerRebate": Column.raw(6),
        "referrerReward": Column.raw(6),
        "quoteAssetAmountSurplus": Column.raw(6),
        "takerOrderBaseAssetAmount": Column.raw(9),
        "takerOrderCumulativeBaseAssetAmountFilled": Column.raw(9),
        "takerOrderCumulativeQuoteAssetAmountFilled": Column.raw(6),
        "makerOrderBaseAssetAmount": Column.raw(9),
        "makerOrderCumulativeBaseAssetAmountFilled": Column.raw(9),
        "makerOrderCumulativeQuoteAssetAmountFilled": Column.raw(6),
        "oraclePrice": Column.raw(6),
        "makerFee": Column.raw(6),
        "action": Column.TEXT,
        "actionExplanation": Column.TEXT,
        "marketIndex": Column.WHOLE,
        "marketType": Column.TEXT,
        "filler": Column.TEXT,
        "fillRecordId": Column.raw(0),
        "taker": Column.TEXT,
        "takerOrderId": Column.WHOLE,
        "takerOrderDirection": Column.TEXT,
        "maker": Column.TEXT,
        "makerOrderId": Column.WHOLE,
        "makerOrderDirection": Column.TEXT,
        "spotFulfillmentMethodFee": Column.raw(6),
        "marketFilter": Column.TEXT,
        "user": Column.TEXT,
        "symbol": Column.TEXT,
        "bitFlags": Column.WHOLE,
        "takerExistingQuoteEntryAmount": Column.raw(6),
        "takerExistingBaseAssetAmount": Column.raw(9),
        "makerExistingQuoteEntryAmount": Column.raw(6),
        "makerExistingBaseAssetAmount": Column.raw(9),
        "triggerPrice": Column.raw(6),
        "builderIdx": Column.WHOLE,
        "builderFee": Column.raw(6),
        "price": Column.raw(6),
        "txIndex": Column.WHOLE,
    },
    "UserPositionsRecord": {
        "ts": Column.WHOLE,
        "txSig": Column.TEXT,
        "txSigIndex": Column.WHOLE,
        "slot": Column.WHOLE,
        "fillerReward": Column.raw(6),
        "baseAssetAmountFilled": Column.raw(9),
        "quoteAssetAmountFilled": Column.raw(6),
        "takerFee": Column.raw(6),
        "makerRebate": Column.raw(6),
        "referrerReward": Column.raw(6),
        "quoteAssetAmountSurplus": Column.raw(6),
        "takerOrderBaseAssetAmount": Column.raw(9),
        "takerOrderCumulativeBaseAssetAmountFilled": Column.raw(9),
        "takerOrderCumulativeQuoteAssetAmountFilled": Column.raw(6),
        "makerOrderBaseAssetAmount": Column.raw(9),
        "makerOrderCumulativeBaseAssetAmountFilled": Column.raw(9),
        "makerOrderCumulativeQuoteAssetAmountFilled": Column.raw(6),
        "oraclePrice": Column.raw(6),
        "makerFee": Column.raw(6),
        "action": Column.TEXT,
        "actionExplanation": Column.TEXT,
        "marketIndex": Column.WHOLE,
        "marketType": Column.TEXT,
        "filler": Column.TEXT,
        "fillRecordId": Column.raw(0),
        "taker": Column.TEXT,
        "takerOrderId": Column.WHOLE,
        "takerOrderDirection": Column.TEXT,
        "maker": Column.TEXT,
        "makerOrderId": Column.WHOLE,
        "makerOrderDirection": Column.TEXT,
        "spotFulfillmentMethodFee": Column.raw(6),
        "marketFilter": Column.TEXT,
        "user": Column.TEXT,
        "symbol": Column.TEXT,
        "bitFlags": Column.WHOLE,
        "takerExistingQuoteEntryAmount": Column.raw(6),
        "takerExistingBaseAssetAmount": Column.raw(9),
        "makerExistingQuoteEntryAmount": Column.raw(6),
        "makerExistingBaseAssetAmount": Column.raw(9),
        "triggerPrice": Column.raw(6),
        "builderIdx": Column.WHOLE,
        "builderFee": Column.raw(6),
        "price": Column.raw(6),
        "userFee": Column.raw(6),
        "baseClosedForPnl": Column.raw(9),
        "userExistingQuoteEntryAmount": Column.raw(6),
        "userExistingBaseAssetAmount": Column.raw(9),
        "txIndex": Column.WHOLE,
    },
    "UserFundingPaymentsRecord": {
        "ts": Column.WHOLE,
        "txSig": Column.TEXT,
        "txSigIndex": Column.WHOLE,
        "slot": Column.WHOLE,
        "userAuthority": Column.TEXT,
        "user": Column.TEXT,
        "marketIndex": Column.WHOLE,
        "symbol": Column.TEXT,
        "fundingPayment": Column.raw(6),
        "baseAssetAmount": Column.raw(9),
        "userLastCumulativeFunding": Column.raw(9),
        "ammCumulativeFundingLong": Column.raw(9),
        "ammCumulativeFundingShort": Column.raw(9),
        "txIndex": Column.WHOLE,
    },
    "UserLiquidationsRecord": {
        "ts": Column.WHOLE,
        "txSig": Column.TEXT,
        "txSigIndex": Column.WHOLE,
        "slot": Column.WHOLE,
        "user": Column.TEXT,
        "liquidator": Column.TEXT,
        "liquidationType": Column.TEXT,
        "liquidationId": Column.WHOLE,
        "bankrupt": Column.FLAG,
        "marginRequirement": Column.raw(6),
        "totalCollateral": Column.raw(6),
        "marginFreed": Column.raw(6),
        "canceledOrderIds": Column.OTHER,
        "bitFlags": Column.WHOLE,
        "liquidatePerp_marketIndex": Column.WHOLE,
        "liquidatePerp_oraclePrice": Column.raw(6),
        "liquidatePerp_baseAssetAmount": Column.raw(9),
        "liquidatePerp_quoteAssetAmount": Column.raw(6),
        "liquidatePerp_fillRecordId": Column.raw(0),
        "liquidatePerp_userOrderId": Column.WHOLE,
        "liquidatePerp_liquidatorOrderId": Column.WHOLE,
        "liquidatePerp_liquidatorFee": Column.raw(6),
        "liquidatePerp_ifFee": Column.raw(6),
        "liquidatePerp_protocolFee": Column.raw(6),
        "liquidateSpot_assetMarketIndex": Column.WHOLE,
        "liquidateSpot_assetPrice": Column.raw(6),
        "liquidateSpot_assetTransfer": Column.raw(None),
        "liquidateSpot_liabilityMarketIndex": Column.WHOLE,
        "liquidateSpot_liabilityPrice": Column.raw(6),
        "liquidateSpot_liabilityTransfer": Column.raw(None),
        "liquidateSpot_ifFee": Column.raw(None),
        "liquidateSpot_protocolFee": Column.raw(None),
        "liquidateBorrowForPerpPnl_perpMarketIndex": Column.WHOLE,
        "liquidateBorrowForPerpPnl_marketOraclePrice": Column.raw(6),
        "liquidateBorrowForPerpPnl_pnlTransfer": Column.raw(6),
        "liquidateBorrowForPerpPnl_liabilityMarketIndex": Column.WHOLE,
        "liquidateBorrowForPerpPnl_liabilityPrice": Column.raw(6),
        "liquidateBorrowForPerpPnl_liabilityTransfer": Column.raw(None),
        "liquidatePerpPnlForDeposit_perpMarketIndex": Column.WHOLE,
        "liquidatePerpPnlForDeposit_marketOraclePrice": Column.raw(6),
        "liquidatePerpPnlForDeposit_pnlTransfer": Column.raw(6),
        "liquidatePerpPnlForDeposit_assetMarketIndex": Column.WHOLE,
        "liquidatePerpPnlForDeposit_assetPrice": Column.raw(6),
        "liquidatePerpPnlForDeposit_assetTransfer": Column.raw(None),
        "perpBankruptcy_marketIndex": Column.WHOLE,
        "perpBankruptcy_pnl": Column.raw(6),
        "perpBankruptcy_ifPayment": Column.raw(6),
        "perpBankruptcy_clawbackUser": Column.TEXT,
        "perpBankruptcy_clawbackUserPayment": Column.raw(6),
        "perpBankruptcy_cumulativeFundingRateDelta": Column.raw(9),
        "spotBankruptcy_marketIndex": Column.WHOLE,
        "spotBankruptcy_borrowAmount": Column.raw(None),
        "spotBankruptcy_ifPayment": Column.raw(None),
        "spotBankruptcy_cumulativeDepositInterestDelta": Column.raw(10),
        "txIndex": Column.WHOLE,
    },
    "UserSettlePnlRecord": {
        "ts": Column.WHOLE,
        "txSig": Column.TEXT,
        "txSigIndex": Column.WHOLE,
        "slot": Column.WHOLE,
        "user": Column.TEXT,
        "marketIndex": Column.WHOLE,
        "symbol": Column.TEXT,
        "pnl": Column.raw(6),
        "baseAssetAmount": Column.raw(9),
        "quoteAssetAmountAfter": Column.raw(6),
        "quoteEntryAmount": Column.raw(6),
        "settlePrice": Column.raw(6),
        "explanation": Column.TEXT,
        "txIndex": Column.WHOLE,
    },
    "UserOrdersRecord": {
        "ts": Column.WHOLE,
        "txSig": Column.TEXT,
        "txSigIndex": Column.WHOLE,
        "slot": Column.WHOLE,
        "user": Column.TEXT,
        "status": Column.TEXT,
        "orderType": Column.TEXT,
        "marketType": Column.TEXT,
        "marketFilter": Column.TEXT,
        "marketIndex": Column.WHOLE,
        "symbol": Column.TEXT,
        "orderId": Column.WHOLE,
        "userOrderId": Column.WHOLE,
        "price": Column.raw(6),
        "triggerPrice": Column.raw(6),
        "baseAssetAmount": Column.raw(9),
        "baseAssetAmountFilled": Column.raw(9),
        "quoteAssetAmount": Column.raw(6),
        "quoteAssetAmountFilled": Column.raw(6),
        "direction": Column.TEXT,
        "existingPositionDirection": Column.TEXT,
        "reduceOnly": Column.FLAG,
        "postOnly": Column.FLAG,
        "immediateOrCancel": Column.FLAG,
        "triggerCondition": Column.TEXT,
        "oraclePriceOffset": Column.raw(6),
        "auctionDuration": Column.WHOLE,
        "auctionStartPrice": Column.raw(6),
        "auctionEndPrice": Column.raw(6),
        "maxTs": Column.WHOLE,
        "lastActionStatus": Column.TEXT,
        "lastActionExplanation": Column.TEXT,
        "lastUpdatedTs": Column.WHOLE,
        "cumulativeFee": Column.raw(6),
        "txIndex": Column.WHOLE,
    },
    "UserOrdersActionsRecord": {
        "ts": Column.WHOLE,
        "txSig": Column.TEXT,
        "txSigIndex": Column.WHOLE,
        "slot": Column.WHOLE,
        "fillerReward": Column.raw(6),
        "baseAssetAmountFilled": Column.raw(9),
        "quoteAssetAmountFilled": Column.raw(6),
        "takerFee": Column.raw(6),
        "makerRebate": Column.raw(6),
        "referrerReward": Column.raw(6),
        "quoteAssetAmountSurplus": Column.raw(6),
        "takerOrderBaseAssetAmount": Column.raw(9),
        "takerOrderCumulativeBaseAssetAmountFilled": Column.raw(9),
        "takerOrderCumulativeQuoteAssetAmountFilled": Column.raw(6),
        "makerOrderBaseAssetAmount": Column.raw(9),
        "makerOrderCumulativeBaseAssetAmountFilled": Column.raw(9),
        "makerOrderCumulativeQuoteAssetAmountFilled": Column.raw(6),
        "oraclePrice": Column.raw(6),
        "makerFee": Column.raw(6),
        "action": Column.TEXT,
        "actionExplanation": Column.TEXT,
        "marketIndex": Column.WHOLE,
        "marketType": Column.TEXT,
        "filler": Column.TEXT,
        "fillRecordId": Column.raw(0),
        "taker": Column.TEXT,
        "takerOrderId": Column.WHOLE,
        "takerOrderDirection": Column.TEXT,
        "maker": Column.TEXT,
        "makerOrderId": Column.WHOLE,
        "makerOrderDirection": Column.TEXT,
        "spotFulfillmentMethodFee": Column.raw(6),
        "marketFilter": Column.TEXT,
        "user": Column.TEXT,
        "symbol": Column.TEXT,
        "bitFlags": Column.WHOLE,
        "takerExistingQuoteEntryAmount": Column.raw(6),
        "takerExistingBaseAssetAmount": Column.raw(9),
        "makerExistingQuoteEntryAmount": Column.raw(6),
        "makerExistingBaseAssetAmount": Column.raw(9),
        "triggerPrice": Column.raw(6),
        "builderIdx": Column.WHOLE,
        "builderFee": Column.raw(6),
        "price": Column.raw(6),
        "txIndex": Column.WHOLE,
    },
    "AuthorityLpMintRedeemRecord": {
        "ts": Column.WHOLE,
        "txSig": Column.TEXT,
        "txSigIndex": Column.WHOLE,
        "slot": Column.WHOLE,
        "authority": Column.TEXT,
        "description": Column.WHOLE,
        "amount": Column.raw(None),
        "fee": Column.raw(None),
        "spotMarketIndex": Column.WHOLE,
        "symbol": Column.TEXT,
        "constituentIndex": Column.WHOLE,
        "oraclePrice": Column.raw(6),
        "mint": Column.TEXT,
        "lpAmount": Column.raw(None),
        "lpFee": Column.raw(None),
        "lpPrice": Column.raw(6),
        "mintRedeemId": Column.raw(0),
        "lastAum": Column.raw(6),
        "lastAumSlot": Column.raw(0),
        "inMarketCurrentWeight": Column.raw(0),
        "inMarketTargetWeight": Column.raw(0),
        "lpPool": Column.TEXT,
        "txIndex": Column.WHOLE,
    },
    "AuthorityExportsRecord": {
        "requestId": Column.TEXT,
        "status": Column.TEXT,
        "fileType": Column.TEXT,
        "from": Column.WHOLE,
        "to": Column.WHOLE,
        "userPublicKeys": Column.OTHER,
        "market": Column.TEXT,
        "createdAt": Column.WHOLE,
        "completedAt": Column.WHOLE,
        "recordCount": Column.WHOLE,
        "errorReason": Column.TEXT,
        "downloadUrl": Column.TEXT,
    },
    "StatsFundingRatesExternalRecord": {
        "asset": Column.TEXT,
        "venue": Column.TEXT,
        "fundingRate": Column.DECIMAL,
        "intervalHours": Column.DECIMAL,
        "annualisedPercent": Column.DECIMAL,
        "ts": Column.WHOLE,
    },
    "StatsLeaderboardMakerRecord": {
        "rank": Column.WHOLE,
        "authority": Column.TEXT,
        "volume": Column.raw(6),
    },
    "NotificationsRecord": {
        "notificationId": Column.TEXT,
        "authorityId": Column.TEXT,
        "title": Column.TEXT,
        "body": Column.TEXT,
        "type": Column.TEXT,
        "status": Column.TEXT,
        "channels": Column.OTHER,
        "user": Column.TEXT,
        "data": Column.OTHER,
        "actions": Column.OTHER,
        "sentAt": Column.WHOLE,
        "createdAt": Column.WHOLE,
    },
}
