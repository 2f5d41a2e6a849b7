"""Data of the compatible channels, from the contract of the gateway.

Written by `npm run docs`. Do not edit.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, TypedDict


class LevelSources(TypedDict, total=False):
    """only sources that are present"""
    #: size of indicative quotes; base, integer of 1e-9 (spot: of the token’s decimals)
    indicative: str
    #: size of resting orders; base, integer of 1e-9 (spot: of the token’s decimals)
    dlob: str
    #: size the AMM offers; base, integer of 1e-9 (spot: of the token’s decimals)
    vamm: str


class Level(TypedDict):
    #: quote per base, integer of 1e-6
    price: str
    #: sum of the sources; base, integer of 1e-9 (spot: of the token’s decimals)
    size: str
    #: only sources that are present
    sources: LevelSources


class _OracleData(TypedDict):
    #: quote per base, integer of 1e-6
    price: str
    #: slot of the price
    slot: str
    #: half-width; quote per base, integer of 1e-6
    confidence: str
    #: false when too few publishers contribute to the price
    hasSufficientNumberOfDataPoints: bool


class OracleData(_OracleData, total=False):
    """the exchange oracle"""
    #: time-weighted mean, or the price when the oracle account has none; quote per base, integer of 1e-6
    twap: str
    #: time-weighted mean of the half-width, or the price when there is none; quote per base, integer of 1e-6
    twapConfidence: str
    #: highest price the market allows; quote per base, integer of 1e-6
    maxPrice: str


class _MarketMakerOracleData(TypedDict):
    #: quote per base, integer of 1e-6
    price: str
    #: slot of the price
    slot: str
    #: half-width; quote per base, integer of 1e-6
    confidence: str
    #: false when too few publishers contribute to the price
    hasSufficientNumberOfDataPoints: bool
    #: whether the exchange uses it
    isMMOracleActive: bool


class MarketMakerOracleData(_MarketMakerOracleData, total=False):
    """the market-maker oracle; absent while unknown"""
    #: time-weighted mean, or the price when the oracle account has none; quote per base, integer of 1e-6
    twap: str
    #: time-weighted mean of the half-width, or the price when there is none; quote per base, integer of 1e-6
    twapConfidence: str
    #: highest price the market allows; quote per base, integer of 1e-6
    maxPrice: str


class _L2Book(TypedDict):
    #: highest price first
    bids: list[Level]
    #: lowest price first
    asks: list[Level]
    #: symbol in upper case, for example SOL-PERP
    marketName: str
    #: kind of market
    marketType: Literal["perp", "spot"]
    #: index of the market in its kind
    marketIndex: int
    #: Unix milliseconds at which the server received this book; null for an earlier slot of unknown time
    ts: int | None
    #: newest slot the book includes; judge staleness by it
    slot: int
    #: slot of the market account in the book
    marketSlot: int


class L2Book(_L2Book, total=False):
    """price levels; all other members describe the whole book. Best prices and spreads are absent when a side is empty, oracle members while the oracle is unknown"""
    #: middle of the best prices, or the oracle when a side is empty; quote per base, integer of 1e-6
    markPrice: str
    #: quote per base, integer of 1e-6
    bestBidPrice: str
    #: quote per base, integer of 1e-6
    bestAskPrice: str
    #: spread over mark price, in percent, integer of 1e-6
    spreadPct: str
    #: quote per base, integer of 1e-6
    spreadQuote: str
    #: price of the exchange oracle; quote per base, integer of 1e-6, as a number
    oracle: int
    oracleData: OracleData
    mmOracleData: MarketMakerOracleData


class _Trade(TypedDict):
    #: Unix seconds of the block
    ts: int
    #: index of the market in its kind
    marketIndex: int
    #: kind of market
    marketType: Literal["perp", "spot"]
    #: 0 when none; whole quote units (1.5 is 1.5 USDC)
    takerFee: int | Decimal
    #: negative for a rebate, 0 when none; whole quote units (1.5 is 1.5 USDC)
    makerFee: int | Decimal
    #: 0 when none; whole quote units (1.5 is 1.5 USDC)
    quoteAssetAmountSurplus: int | Decimal
    #: whole base units (1.5 is 1.5 SOL)
    baseAssetAmountFilled: int | Decimal
    #: whole quote units (1.5 is 1.5 USDC)
    quoteAssetAmountFilled: int | Decimal
    #: 0 without a taker order; whole base units (1.5 is 1.5 SOL)
    takerOrderBaseAssetAmount: int | Decimal
    #: whole base units (1.5 is 1.5 SOL)
    takerOrderCumulativeBaseAssetAmountFilled: int | Decimal
    #: whole quote units (1.5 is 1.5 USDC)
    takerOrderCumulativeQuoteAssetAmountFilled: int | Decimal
    #: 0 without a maker order; whole base units (1.5 is 1.5 SOL)
    makerOrderBaseAssetAmount: int | Decimal
    #: whole base units (1.5 is 1.5 SOL)
    makerOrderCumulativeBaseAssetAmountFilled: int | Decimal
    #: whole quote units (1.5 is 1.5 USDC)
    makerOrderCumulativeQuoteAssetAmountFilled: int | Decimal
    #: quote per base in whole units
    oraclePrice: int | Decimal
    #: 0 when none; whole quote units (1.5 is 1.5 USDC)
    referrerReward: int | Decimal
    #: signature of the transaction, base58
    txSig: str
    #: slot of the chain
    slot: int
    #: running number of the fill in its market; decimal text above 2^53, where a JSON number would lose digits
    fillRecordId: int | str
    #: kind of record, for example fill
    action: str
    #: how it was filled, for example orderFilledWithMatch
    actionExplanation: str
    #: flags of the record
    bitFlags: int


class Trade(_Trade, total=False):
    """a fill"""
    #: user account that filled
    filler: str
    #: user account
    taker: str
    #: order id of the taker
    takerOrderId: int
    takerOrderDirection: Literal["long", "short"]
    #: user account; absent when the AMM made the fill
    maker: str
    #: order id of the maker
    makerOrderId: int
    makerOrderDirection: Literal["long", "short"]
    #: the maker, when it quotes on the quote socket
    makerIndicativeKey: str


class FeeLevels(TypedDict):
    """priority fees, micro-lamports per compute unit"""
    #: micro-lamports per compute unit
    min: int | Decimal
    #: micro-lamports per compute unit
    low: int | Decimal
    #: micro-lamports per compute unit
    medium: int | Decimal
    #: micro-lamports per compute unit
    high: int | Decimal
    #: micro-lamports per compute unit
    veryHigh: int | Decimal
    #: micro-lamports per compute unit
    unsafeMax: int | Decimal
