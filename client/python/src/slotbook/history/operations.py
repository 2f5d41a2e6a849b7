"""A method for each operation of the history REST, from /openapi.json.

Written by `npm run docs`. Do not edit.
"""

from __future__ import annotations

from typing import Any, Literal

from .contract import (
    COLUMNS,
    AmmBidAskPriceAnswer,
    AmmOpenInterestAnswer,
    AmmOraclePriceAnswer,
    AmmPositionAnswer,
    AmmSpreadsAnswer,
    AuthorityAccountsAnswer,
    AuthorityExportsAnswer,
    AuthorityExportsRecord,
    AuthorityLpMintRedeemAnswer,
    AuthorityLpMintRedeemOfMonthAnswer,
    AuthorityLpMintRedeemRecord,
    AuthoritySnapshotsEarnAnswer,
    AuthoritySnapshotsOverviewAnswer,
    AuthoritySnapshotsReferralsAnswer,
    AuthoritySnapshotsTradingAnswer,
    AuthoritySnapshotsVaultsAnswer,
    ExternalCoingeckoContractsAnswer,
    FreshnessAnswer,
    FundingRatesAnswer,
    MarketCandlesAnswer,
    MarketCandlesRecord,
    MarketDepositsAnswer,
    MarketDepositsOfDayAnswer,
    MarketDepositsRecord,
    MarketFundingRatesAnswer,
    MarketFundingRatesOfDayAnswer,
    MarketFundingRatesRecord,
    MarketInsuranceFundAnswer,
    MarketInsuranceFundOfDayAnswer,
    MarketInsuranceFundRecord,
    MarketInsuranceFundStakeAnswer,
    MarketInsuranceFundStakeOfDayAnswer,
    MarketInsuranceFundStakeRecord,
    MarketSwapsAnswer,
    MarketSwapsOfDayAnswer,
    MarketSwapsRecord,
    MarketTradesAnswer,
    MarketTradesOfDayAnswer,
    MarketTradesRecord,
    NotificationsAnswer,
    NotificationsDevicesAnswer,
    NotificationsPreferencesAnswer,
    NotificationsRecord,
    ParamsAnswer,
    PatchNotificationsAnswer,
    PatchNotificationsBody,
    PostAuthorityExportsAnswer,
    PostAuthorityExportsBody,
    PostNotificationsDevicesAnswer,
    PostNotificationsDevicesBody,
    PostTxBuilderApproveBody,
    PostTxBuilderInitBody,
    PostTxDepositAnswer,
    PostTxDepositBody,
    PostTxExecuteAnswer,
    PostTxExecuteBody,
    PostTxOrderCancelBody,
    PostTxOrderPlaceAnswer,
    PostTxOrderPlaceBody,
    PostTxSettlePnlBody,
    PutNotificationsPreferencesBody,
    StatsBankruptciesAnswer,
    StatsDlpSnapshotsAnswer,
    StatsFundingRatesAnswer,
    StatsFundingRatesExternalAnswer,
    StatsFundingRatesExternalRecord,
    StatsInsuranceFundAnswer,
    StatsLeaderboardAnswer,
    StatsLeaderboardByAuthorityIdAnswer,
    StatsLeaderboardMakerAnswer,
    StatsLeaderboardMakerRecord,
    StatsLiquidationsAnswer,
    StatsMarketsAnswer,
    StatsMarketsPricesAnswer,
    StatsMarketsVolumeAnswer,
    StatsMarketsVolumeByIntervalAnswer,
    StatsRateHistoryAnswer,
    StatsVaultsAnswer,
    TradesAnswer,
    UserFundingPaymentsAnswer,
    UserFundingPaymentsOfMonthAnswer,
    UserFundingPaymentsRecord,
    UserLiquidationsAnswer,
    UserLiquidationsOfMonthAnswer,
    UserLiquidationsRecord,
    UserOrdersActionsAnswer,
    UserOrdersActionsRecord,
    UserOrdersAnswer,
    UserOrdersIdAnswer,
    UserOrdersRecord,
    UserPositionsAnswer,
    UserPositionsRecord,
    UserSettlePnlAnswer,
    UserSettlePnlOfMonthAnswer,
    UserSettlePnlRecord,
    UserSnapshotsEarnAnswer,
    UserSnapshotsTradingAnswer,
    UserSnapshotsVaultsAnswer,
    UserTradesAnswer,
    UserTradesOfMonthAnswer,
    UserTradesRecord,
)
from .requests import CsvPages, Operation, Pages, Reply, Rows, Sender, Table


class HistoryOperations:
    """Operations by name. Nothing is sent before the result is awaited or iterated."""

    _sender: Sender

    def market_trades(
        self,
        symbol: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[MarketTradesAnswer, MarketTradesRecord]:
        """Fills of a market, last 31 days.

        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/market/{symbol}/trades", signed=False), {"symbol": symbol, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["MarketTradesRecord"])

    def market_trades_of_day(
        self,
        symbol: str,
        year: int,
        month: int,
        day: int,
        *,
        page: str | None = None,
    ) -> CsvPages[MarketTradesOfDayAnswer, MarketTradesRecord]:
        """Fills of a market, one day (UTC).

        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/market/{symbol}/trades/{year}/{month}/{day}", signed=False), {"symbol": symbol, "year": year, "month": month, "day": day, "page": page}, columns=COLUMNS["MarketTradesRecord"])

    def market_funding_rates(
        self,
        symbol: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[MarketFundingRatesAnswer, MarketFundingRatesRecord]:
        """Funding rates of a perp market, last 31 days.

        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/market/{symbol}/fundingRates", signed=False), {"symbol": symbol, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["MarketFundingRatesRecord"])

    def market_funding_rates_of_day(
        self,
        symbol: str,
        year: int,
        month: int,
        day: int,
        *,
        page: str | None = None,
    ) -> CsvPages[MarketFundingRatesOfDayAnswer, MarketFundingRatesRecord]:
        """Funding rates of a perp market, one day (UTC).

        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/market/{symbol}/fundingRates/{year}/{month}/{day}", signed=False), {"symbol": symbol, "year": year, "month": month, "day": day, "page": page}, columns=COLUMNS["MarketFundingRatesRecord"])

    def market_deposits(
        self,
        symbol: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[MarketDepositsAnswer, MarketDepositsRecord]:
        """Deposits, withdrawals and transfers of a spot market, last 31 days.

        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/market/{symbol}/deposits", signed=False), {"symbol": symbol, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["MarketDepositsRecord"])

    def market_deposits_of_day(
        self,
        symbol: str,
        year: int,
        month: int,
        day: int,
        *,
        page: str | None = None,
    ) -> CsvPages[MarketDepositsOfDayAnswer, MarketDepositsRecord]:
        """Deposits, withdrawals and transfers of a spot market, one day (UTC).

        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/market/{symbol}/deposits/{year}/{month}/{day}", signed=False), {"symbol": symbol, "year": year, "month": month, "day": day, "page": page}, columns=COLUMNS["MarketDepositsRecord"])

    def market_rewards(
        self,
        symbol: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[MarketDepositsAnswer, MarketDepositsRecord]:
        """Rewards paid in a spot market, last 31 days.

        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/market/{symbol}/rewards", signed=False), {"symbol": symbol, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["MarketDepositsRecord"])

    def market_rewards_of_day(
        self,
        symbol: str,
        year: int,
        month: int,
        day: int,
        *,
        page: str | None = None,
    ) -> CsvPages[MarketDepositsOfDayAnswer, MarketDepositsRecord]:
        """Rewards paid in a spot market, one day (UTC).

        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/market/{symbol}/rewards/{year}/{month}/{day}", signed=False), {"symbol": symbol, "year": year, "month": month, "day": day, "page": page}, columns=COLUMNS["MarketDepositsRecord"])

    def market_swaps(
        self,
        symbol: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[MarketSwapsAnswer, MarketSwapsRecord]:
        """Swaps out of or into a spot market, last 31 days.

        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/market/{symbol}/swaps", signed=False), {"symbol": symbol, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["MarketSwapsRecord"])

    def market_swaps_of_day(
        self,
        symbol: str,
        year: int,
        month: int,
        day: int,
        *,
        page: str | None = None,
    ) -> CsvPages[MarketSwapsOfDayAnswer, MarketSwapsRecord]:
        """Swaps out of or into a spot market, one day (UTC).

        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/market/{symbol}/swaps/{year}/{month}/{day}", signed=False), {"symbol": symbol, "year": year, "month": month, "day": day, "page": page}, columns=COLUMNS["MarketSwapsRecord"])

    def market_insurance_fund(
        self,
        symbol: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[MarketInsuranceFundAnswer, MarketInsuranceFundRecord]:
        """Movements of a spot market's insurance vault, last 31 days.

        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/market/{symbol}/insuranceFund", signed=False), {"symbol": symbol, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["MarketInsuranceFundRecord"])

    def market_insurance_fund_of_day(
        self,
        symbol: str,
        year: int,
        month: int,
        day: int,
        *,
        page: str | None = None,
    ) -> CsvPages[MarketInsuranceFundOfDayAnswer, MarketInsuranceFundRecord]:
        """Movements of a spot market's insurance vault, one day (UTC).

        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/market/{symbol}/insuranceFund/{year}/{month}/{day}", signed=False), {"symbol": symbol, "year": year, "month": month, "day": day, "page": page}, columns=COLUMNS["MarketInsuranceFundRecord"])

    def market_insurance_fund_stake(
        self,
        symbol: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[MarketInsuranceFundStakeAnswer, MarketInsuranceFundStakeRecord]:
        """Stakes in a spot market's insurance fund, last 31 days.

        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/market/{symbol}/insuranceFundStake", signed=False), {"symbol": symbol, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["MarketInsuranceFundStakeRecord"])

    def market_insurance_fund_stake_of_day(
        self,
        symbol: str,
        year: int,
        month: int,
        day: int,
        *,
        page: str | None = None,
    ) -> CsvPages[MarketInsuranceFundStakeOfDayAnswer, MarketInsuranceFundStakeRecord]:
        """Stakes in a spot market's insurance fund, one day (UTC).

        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/market/{symbol}/insuranceFundStake/{year}/{month}/{day}", signed=False), {"symbol": symbol, "year": year, "month": month, "day": day, "page": page}, columns=COLUMNS["MarketInsuranceFundStakeRecord"])

    def market_candles(
        self,
        symbol: str,
        resolution: Literal["1", "5", "15", "60", "240", "D", "W", "M"],
        *,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Rows[MarketCandlesAnswer, MarketCandlesRecord]:
        """Candles of a market, of any age; unlike records, in human units.

        symbol: market symbol, for example SOL-PERP
        limit: rows per page
        start_ts: newest bucket, unix seconds, inclusive; must be after endTs
        end_ts: oldest bucket, unix seconds, inclusive; must be before startTs
        """
        return Rows(self._sender, Operation("GET", "/market/{symbol}/candles/{resolution}", signed=False), {"symbol": symbol, "resolution": resolution, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["MarketCandlesRecord"])

    def market_candles_bulk(
        self,
        symbol: str,
        resolution: Literal["1", "5", "15", "60", "240", "D", "W", "M"],
        from_: int,
        *,
        to: int | None = None,
    ) -> Table[MarketCandlesAnswer, MarketCandlesRecord]:
        """A range of candles of a market in one answer, as JSON, CSV or Parquet; in human units.

        symbol: market symbol, for example SOL-PERP
        from_: oldest bucket, unix seconds, inclusive
        to: end of the range, unix seconds, exclusive; now when absent
        """
        return Table(self._sender, Operation("GET", "/market/{symbol}/candles/{resolution}/bulk", signed=False), {"symbol": symbol, "resolution": resolution, "from": from_, "to": to}, columns=COLUMNS["MarketCandlesRecord"])

    def trades(
        self,
        *,
        symbol: str | None = None,
        market_name: str | None = None,
        limit: int | None = None,
        page_index: int | None = None,
    ) -> Rows[TradesAnswer, MarketTradesRecord]:
        """Fills of a market, last 31 days, by offset: new rows shift the pages.

        symbol: market symbol, for example SOL-PERP
        market_name: the same as symbol
        limit: rows per page
        page_index: from 0
        """
        return Rows(self._sender, Operation("GET", "/trades", signed=False), {"symbol": symbol, "marketName": market_name, "limit": limit, "pageIndex": page_index}, columns=COLUMNS["MarketTradesRecord"])

    def funding_rates(
        self,
        *,
        symbol: str | None = None,
        market_name: str | None = None,
        limit: int | None = None,
    ) -> Reply[FundingRatesAnswer]:
        """The newest funding rates of a perp market within 30 days, oldest first.

        symbol: market symbol, for example SOL-PERP
        market_name: the same as symbol
        limit: the newest rows alone; absent: all of the 30 days
        """
        return Reply(self._sender, Operation("GET", "/fundingRates", signed=False), {"symbol": symbol, "marketName": market_name, "limit": limit})

    def user_trades(
        self,
        account_id: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[UserTradesAnswer, UserTradesRecord]:
        """Fills with the account as taker or maker, last 31 days.

        account_id: sub-account, base58
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/user/{accountId}/trades", signed=False), {"accountId": account_id, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["UserTradesRecord"])

    def user_trades_of_month(
        self,
        account_id: str,
        year: int,
        month: int,
        *,
        page: str | None = None,
    ) -> CsvPages[UserTradesOfMonthAnswer, UserTradesRecord]:
        """Fills with the account as taker or maker, one month (UTC).

        account_id: sub-account, base58
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/user/{accountId}/trades/{year}/{month}", signed=False), {"accountId": account_id, "year": year, "month": month, "page": page}, columns=COLUMNS["UserTradesRecord"])

    def user_positions(
        self,
        account_id: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[UserPositionsAnswer, UserPositionsRecord]:
        """Fills that reduced, closed or flipped a position, last 31 days.

        account_id: sub-account, base58
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/user/{accountId}/positions", signed=False), {"accountId": account_id, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["UserPositionsRecord"])

    def user_funding_payments(
        self,
        account_id: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[UserFundingPaymentsAnswer, UserFundingPaymentsRecord]:
        """Funding paid and received, last 31 days.

        account_id: sub-account, base58
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/user/{accountId}/fundingPayments", signed=False), {"accountId": account_id, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["UserFundingPaymentsRecord"])

    def user_funding_payments_of_month(
        self,
        account_id: str,
        year: int,
        month: int,
        *,
        page: str | None = None,
    ) -> CsvPages[UserFundingPaymentsOfMonthAnswer, UserFundingPaymentsRecord]:
        """Funding paid and received, one month (UTC).

        account_id: sub-account, base58
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/user/{accountId}/fundingPayments/{year}/{month}", signed=False), {"accountId": account_id, "year": year, "month": month, "page": page}, columns=COLUMNS["UserFundingPaymentsRecord"])

    def user_liquidations(
        self,
        account_id: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[UserLiquidationsAnswer, UserLiquidationsRecord]:
        """Liquidations and bankruptcies of the account, last 31 days.

        account_id: sub-account, base58
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/user/{accountId}/liquidations", signed=False), {"accountId": account_id, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["UserLiquidationsRecord"])

    def user_liquidations_of_month(
        self,
        account_id: str,
        year: int,
        month: int,
        *,
        page: str | None = None,
    ) -> CsvPages[UserLiquidationsOfMonthAnswer, UserLiquidationsRecord]:
        """Liquidations and bankruptcies of the account, one month (UTC).

        account_id: sub-account, base58
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/user/{accountId}/liquidations/{year}/{month}", signed=False), {"accountId": account_id, "year": year, "month": month, "page": page}, columns=COLUMNS["UserLiquidationsRecord"])

    def user_settle_pnl(
        self,
        account_id: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[UserSettlePnlAnswer, UserSettlePnlRecord]:
        """Settlements of profit and loss, last 31 days.

        account_id: sub-account, base58
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/user/{accountId}/settlePnl", signed=False), {"accountId": account_id, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["UserSettlePnlRecord"])

    def user_settle_pnl_of_month(
        self,
        account_id: str,
        year: int,
        month: int,
        *,
        page: str | None = None,
    ) -> CsvPages[UserSettlePnlOfMonthAnswer, UserSettlePnlRecord]:
        """Settlements of profit and loss, one month (UTC).

        account_id: sub-account, base58
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/user/{accountId}/settlePnl/{year}/{month}", signed=False), {"accountId": account_id, "year": year, "month": month, "page": page}, columns=COLUMNS["UserSettlePnlRecord"])

    def user_swaps(
        self,
        account_id: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[MarketSwapsAnswer, MarketSwapsRecord]:
        """Swaps, last 31 days.

        account_id: sub-account, base58
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/user/{accountId}/swaps", signed=False), {"accountId": account_id, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["MarketSwapsRecord"])

    def user_swaps_of_month(
        self,
        account_id: str,
        year: int,
        month: int,
        *,
        page: str | None = None,
    ) -> CsvPages[MarketSwapsOfDayAnswer, MarketSwapsRecord]:
        """Swaps, one month (UTC).

        account_id: sub-account, base58
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/user/{accountId}/swaps/{year}/{month}", signed=False), {"accountId": account_id, "year": year, "month": month, "page": page}, columns=COLUMNS["MarketSwapsRecord"])

    def user_deposits(
        self,
        account_id: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[MarketDepositsAnswer, MarketDepositsRecord]:
        """Deposits, withdrawals and transfers, last 31 days.

        account_id: sub-account, base58
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/user/{accountId}/deposits", signed=False), {"accountId": account_id, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["MarketDepositsRecord"])

    def user_deposits_of_month(
        self,
        account_id: str,
        year: int,
        month: int,
        *,
        page: str | None = None,
    ) -> CsvPages[MarketDepositsOfDayAnswer, MarketDepositsRecord]:
        """Deposits, withdrawals and transfers, one month (UTC).

        account_id: sub-account, base58
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/user/{accountId}/deposits/{year}/{month}", signed=False), {"accountId": account_id, "year": year, "month": month, "page": page}, columns=COLUMNS["MarketDepositsRecord"])

    def user_rewards(
        self,
        account_id: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[MarketDepositsAnswer, MarketDepositsRecord]:
        """Rewards, last 31 days.

        account_id: sub-account, base58
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/user/{accountId}/rewards", signed=False), {"accountId": account_id, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["MarketDepositsRecord"])

    def user_rewards_of_month(
        self,
        account_id: str,
        year: int,
        month: int,
        *,
        page: str | None = None,
    ) -> CsvPages[MarketDepositsOfDayAnswer, MarketDepositsRecord]:
        """Rewards, one month (UTC).

        account_id: sub-account, base58
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/user/{accountId}/rewards/{year}/{month}", signed=False), {"accountId": account_id, "year": year, "month": month, "page": page}, columns=COLUMNS["MarketDepositsRecord"])

    def user_trades_by_symbol(
        self,
        account_id: str,
        symbol: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[UserTradesAnswer, UserTradesRecord]:
        """Fills with the account as taker or maker, of one market, last 31 days.

        account_id: sub-account, base58
        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/user/{accountId}/trades/{symbol}", signed=False), {"accountId": account_id, "symbol": symbol, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["UserTradesRecord"])

    def user_orders(
        self,
        account_id: str,
        market_filter: Literal["perp", "spot"],
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
        has_fill: bool | None = None,
    ) -> Pages[UserOrdersAnswer, UserOrdersRecord]:
        """Orders of one market type, by when they were placed, last 31 days.

        account_id: sub-account, base58
        market_filter: type of market
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        has_fill: only orders with a filled amount
        """
        return Pages(self._sender, Operation("GET", "/user/{accountId}/orders/{marketFilter}", signed=False), {"accountId": account_id, "marketFilter": market_filter, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts, "hasFill": has_fill}, columns=COLUMNS["UserOrdersRecord"])

    def user_orders_by_symbol(
        self,
        account_id: str,
        market_filter: Literal["perp", "spot"],
        symbol: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
        has_fill: bool | None = None,
    ) -> Pages[UserOrdersAnswer, UserOrdersRecord]:
        """Orders of one market, by when they were placed, last 31 days.

        account_id: sub-account, base58
        market_filter: type of market
        symbol: market symbol, for example SOL-PERP
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        has_fill: only orders with a filled amount
        """
        return Pages(self._sender, Operation("GET", "/user/{accountId}/orders/{marketFilter}/{symbol}", signed=False), {"accountId": account_id, "marketFilter": market_filter, "symbol": symbol, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts, "hasFill": has_fill}, columns=COLUMNS["UserOrdersRecord"])

    def user_orders_actions(
        self,
        account_id: str,
        order_id: int,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[UserOrdersActionsAnswer, UserOrdersActionsRecord]:
        """What happened to an order, last 31 days.

        account_id: sub-account, base58
        order_id: the account's order id
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/user/{accountId}/orders/{orderId}/actions", signed=False), {"accountId": account_id, "orderId": order_id, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["UserOrdersActionsRecord"])

    def user_orders_id(
        self,
        account_id: str,
        order_id: int,
    ) -> Reply[UserOrdersIdAnswer]:
        """One order, of any age.

        account_id: sub-account, base58
        order_id: the account's order id
        """
        return Reply(self._sender, Operation("GET", "/user/{accountId}/orders/id/{orderId}", signed=False), {"accountId": account_id, "orderId": order_id})

    def user_orders_id_by_order_id(
        self,
        account_id: str,
        market_filter: Literal["perp", "spot"],
        order_id: int,
    ) -> Reply[UserOrdersIdAnswer]:
        """One order, of any age, of one market type.

        account_id: sub-account, base58
        market_filter: type of market
        order_id: the account's order id
        """
        return Reply(self._sender, Operation("GET", "/user/{accountId}/orders/{marketFilter}/id/{orderId}", signed=False), {"accountId": account_id, "marketFilter": market_filter, "orderId": order_id})

    def user_snapshots_trading(
        self,
        account_id: str,
        *,
        days: int | None = None,
    ) -> Reply[UserSnapshotsTradingAnswer]:
        """Trading of an account.

        account_id: public key, base58
        days: how far back; 1 gives hourly points, more daily ones
        """
        return Reply(self._sender, Operation("GET", "/user/{accountId}/snapshots/trading", signed=False), {"accountId": account_id, "days": days})

    def user_snapshots_earn(
        self,
        account_id: str,
        *,
        days: int | None = None,
    ) -> Reply[UserSnapshotsEarnAnswer]:
        """What the tokens of an account brought.

        account_id: public key, base58
        days: how far back; 1 gives hourly points, more daily ones
        """
        return Reply(self._sender, Operation("GET", "/user/{accountId}/snapshots/earn", signed=False), {"accountId": account_id, "days": days})

    def user_snapshots_vaults(
        self,
        account_id: str,
        *,
        days: int | None = None,
    ) -> Reply[UserSnapshotsVaultsAnswer]:
        """Vault deposits of a depositor account, or of the wallet of a trading account.

        account_id: public key, base58
        days: how far back; 1 gives hourly points, more daily ones
        """
        return Reply(self._sender, Operation("GET", "/user/{accountId}/snapshots/vaults", signed=False), {"accountId": account_id, "days": days})

    def authority_snapshots_overview(
        self,
        authority_id: str,
        *,
        days: int | None = None,
    ) -> Reply[AuthoritySnapshotsOverviewAnswer]:
        """Trading, earning and vaults of the accounts of a wallet.

        authority_id: public key, base58
        days: how far back; 1 gives hourly points, more daily ones
        """
        return Reply(self._sender, Operation("GET", "/authority/{authorityId}/snapshots/overview", signed=False), {"authorityId": authority_id, "days": days})

    def authority_snapshots_trading(
        self,
        authority_id: str,
        *,
        days: int | None = None,
    ) -> Reply[AuthoritySnapshotsTradingAnswer]:
        """Trading of the accounts of a wallet.

        authority_id: public key, base58
        days: how far back; 1 gives hourly points, more daily ones
        """
        return Reply(self._sender, Operation("GET", "/authority/{authorityId}/snapshots/trading", signed=False), {"authorityId": authority_id, "days": days})

    def authority_snapshots_earn(
        self,
        authority_id: str,
        *,
        days: int | None = None,
    ) -> Reply[AuthoritySnapshotsEarnAnswer]:
        """What the tokens of the accounts of a wallet brought.

        authority_id: public key, base58
        days: how far back; 1 gives hourly points, more daily ones
        """
        return Reply(self._sender, Operation("GET", "/authority/{authorityId}/snapshots/earn", signed=False), {"authorityId": authority_id, "days": days})

    def authority_snapshots_vaults(
        self,
        authority_id: str,
        *,
        days: int | None = None,
    ) -> Reply[AuthoritySnapshotsVaultsAnswer]:
        """Vault deposits of a wallet.

        authority_id: public key, base58
        days: how far back; 1 gives hourly points, more daily ones
        """
        return Reply(self._sender, Operation("GET", "/authority/{authorityId}/snapshots/vaults", signed=False), {"authorityId": authority_id, "days": days})

    def authority_snapshots_referrals(
        self,
        authority_id: str,
        *,
        days: int | None = None,
    ) -> Reply[AuthoritySnapshotsReferralsAnswer]:
        """Users that a wallet referred, their volume and the rewards.

        authority_id: public key, base58
        days: how far back; 1 gives hourly points, more daily ones
        """
        return Reply(self._sender, Operation("GET", "/authority/{authorityId}/snapshots/referrals", signed=False), {"authorityId": authority_id, "days": days})

    def authority_insurance_fund_stake(
        self,
        authority_id: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[MarketInsuranceFundStakeAnswer, MarketInsuranceFundStakeRecord]:
        """Insurance-fund stakes of a wallet, last 31 days.

        authority_id: public key, base58
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/authority/{authorityId}/insuranceFundStake", signed=False), {"authorityId": authority_id, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["MarketInsuranceFundStakeRecord"])

    def authority_insurance_fund_stake_of_month(
        self,
        authority_id: str,
        year: int,
        month: int,
        *,
        page: str | None = None,
    ) -> CsvPages[MarketInsuranceFundStakeOfDayAnswer, MarketInsuranceFundStakeRecord]:
        """Insurance-fund stakes of a wallet, one month (UTC).

        authority_id: public key, base58
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/authority/{authorityId}/insuranceFundStake/{year}/{month}", signed=False), {"authorityId": authority_id, "year": year, "month": month, "page": page}, columns=COLUMNS["MarketInsuranceFundStakeRecord"])

    def authority_lp_mint_redeem(
        self,
        authority_id: str,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[AuthorityLpMintRedeemAnswer, AuthorityLpMintRedeemRecord]:
        """What a wallet minted and redeemed of liquidity pools, last 31 days.

        authority_id: public key, base58
        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/authority/{authorityId}/lpMintRedeem", signed=False), {"authorityId": authority_id, "page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["AuthorityLpMintRedeemRecord"])

    def authority_lp_mint_redeem_of_month(
        self,
        authority_id: str,
        year: int,
        month: int,
        *,
        page: str | None = None,
    ) -> CsvPages[AuthorityLpMintRedeemOfMonthAnswer, AuthorityLpMintRedeemRecord]:
        """What a wallet minted and redeemed of liquidity pools, one month (UTC).

        authority_id: public key, base58
        page: meta.nextPage of the previous response, or a page number
        """
        return CsvPages(self._sender, Operation("GET", "/authority/{authorityId}/lpMintRedeem/{year}/{month}", signed=False), {"authorityId": authority_id, "year": year, "month": month, "page": page}, columns=COLUMNS["AuthorityLpMintRedeemRecord"])

    def authority_accounts(
        self,
        authority_id: str,
    ) -> Reply[AuthorityAccountsAnswer]:
        """Sub-accounts of a wallet that were not deleted.

        authority_id: public key, base58
        """
        return Reply(self._sender, Operation("GET", "/authority/{authorityId}/accounts", signed=False), {"authorityId": authority_id})

    def post_authority_exports(
        self,
        authority_id: str,
        body: PostAuthorityExportsBody,
    ) -> Reply[PostAuthorityExportsAnswer]:
        """Ask for a statement: a CSV file of one kind of rows, gzip.

        authority_id: public key, base58
        """
        return Reply(self._sender, Operation("POST", "/authority/{authorityId}/exports", signed=True), {"authorityId": authority_id}, body=body)

    def authority_exports(
        self,
        authority_id: str,
        *,
        page: str | None = None,
    ) -> Pages[AuthorityExportsAnswer, AuthorityExportsRecord]:
        """Statements that a wallet asked for, newest first.

        authority_id: public key, base58
        page: meta.nextPage of the previous response
        """
        return Pages(self._sender, Operation("GET", "/authority/{authorityId}/exports", signed=True), {"authorityId": authority_id, "page": page}, columns=COLUMNS["AuthorityExportsRecord"])

    def exports_files(
        self,
        name: str,
        *,
        expires: int | None = None,
        signature: str | None = None,
    ) -> Reply[bytes]:
        """Download a statement by the URL of the list of exports.

        name: name of the file
        expires: end of the URL, unix seconds
        signature: signature of the service
        """
        return Reply(self._sender, Operation("GET", "/exports/files/{name}", signed=False), {"name": name, "expires": expires, "signature": signature})

    def stats_markets(
        self,
    ) -> Reply[list[StatsMarketsAnswer]]:
        """Market summaries: unlike records, JSON numbers in human units."""
        return Reply(self._sender, Operation("GET", "/stats/markets", signed=False), {})

    def stats_markets_volume_by_interval(
        self,
        interval: Literal["1h", "24h", "30d"],
    ) -> Reply[StatsMarketsVolumeByIntervalAnswer]:
        """Volumes of the markets until now; liquidation fills count, position transfers do not."""
        return Reply(self._sender, Operation("GET", "/stats/markets/volume/{interval}", signed=False), {"interval": interval})

    def stats_markets_volume(
        self,
        start_ts: int,
        end_ts: int,
    ) -> Reply[StatsMarketsVolumeAnswer]:
        """Volumes of the markets over 1 to 24 whole hours; liquidation fills count, position transfers do not.

        start_ts: unix seconds, aligned down to the hour, inclusive
        end_ts: unix seconds, aligned down to the hour, exclusive
        """
        return Reply(self._sender, Operation("GET", "/stats/markets/volume", signed=False), {"startTs": start_ts, "endTs": end_ts})

    def stats_markets_prices(
        self,
    ) -> Reply[StatsMarketsPricesAnswer]:
        """Fill prices of the markets, now and 24 hours ago."""
        return Reply(self._sender, Operation("GET", "/stats/markets/prices", signed=False), {})

    def stats_funding_rates(
        self,
    ) -> Reply[StatsFundingRatesAnswer]:
        """Mean funding of the perp markets."""
        return Reply(self._sender, Operation("GET", "/stats/fundingRates", signed=False), {})

    def stats_funding_rates_external(
        self,
    ) -> Rows[StatsFundingRatesExternalAnswer, StatsFundingRatesExternalRecord]:
        """Funding of other venues, as the deployment names them; a venue that cannot be reached is absent."""
        return Rows(self._sender, Operation("GET", "/stats/fundingRates/external", signed=False), {}, columns=COLUMNS["StatsFundingRatesExternalRecord"])

    def stats_rate_history(
        self,
        symbol: str,
        type_: Literal["deposit", "borrow", "deposit_balance", "borrow_balance"],
    ) -> Reply[StatsRateHistoryAnswer]:
        """Interest rates and balances of a spot market, the last of each hour of 31 days.

        symbol: market symbol, for example SOL-PERP
        """
        return Reply(self._sender, Operation("GET", "/stats/{symbol}/rateHistory/{type}", signed=False), {"symbol": symbol, "type": type_})

    def stats_liquidations(
        self,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[StatsLiquidationsAnswer, UserLiquidationsRecord]:
        """Liquidations, last 31 days, without bankruptcies; stats has their count and amounts.

        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/stats/liquidations", signed=False), {"page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["UserLiquidationsRecord"])

    def stats_bankruptcies(
        self,
        *,
        page: str | None = None,
        limit: int | None = None,
        start_ts: int | None = None,
        end_ts: int | None = None,
    ) -> Pages[StatsBankruptciesAnswer, UserLiquidationsRecord]:
        """Bankruptcies, last 31 days; stats are over all that are stored.

        page: meta.nextPage of the previous response
        limit: rows per page
        start_ts: one end of the interval, unix seconds, inclusive
        end_ts: the other end of the interval, unix seconds, inclusive
        """
        return Pages(self._sender, Operation("GET", "/stats/bankruptcies", signed=False), {"page": page, "limit": limit, "startTs": start_ts, "endTs": end_ts}, columns=COLUMNS["UserLiquidationsRecord"])

    def stats_vaults(
        self,
    ) -> Reply[StatsVaultsAnswer]:
        """Vaults as their accounts say."""
        return Reply(self._sender, Operation("GET", "/stats/vaults", signed=False), {})

    def stats_insurance_fund(
        self,
    ) -> Reply[StatsInsuranceFundAnswer]:
        """Insurance fund of each spot market that has one, from its records."""
        return Reply(self._sender, Operation("GET", "/stats/insuranceFund", signed=False), {})

    def stats_dlp_snapshots(
        self,
        *,
        days: int | None = None,
    ) -> Reply[StatsDlpSnapshotsAnswer]:
        """Value of the liquidity pools; 1 day gives hourly points, more daily ones.

        days: how far back; 1 gives hourly points, more daily ones
        """
        return Reply(self._sender, Operation("GET", "/stats/dlp/snapshots", signed=False), {"days": days})

    def stats_leaderboard(
        self,
        *,
        sort: Literal["pnl", "volume"] | None = None,
        page: str | None = None,
        limit: int | None = None,
    ) -> Reply[StatsLeaderboardAnswer]:
        """Wallets by P&L or volume of perps over the last 30 days.

        page: meta.nextPage of the previous response, or a page number from 1
        limit: rows per page
        """
        return Reply(self._sender, Operation("GET", "/stats/leaderboard", signed=False), {"sort": sort, "page": page, "limit": limit})

    def stats_leaderboard_by_authority_id(
        self,
        authority_id: str,
    ) -> Reply[StatsLeaderboardByAuthorityIdAnswer]:
        """Ranks of a wallet on the boards of the last 30 days.

        authority_id: public key, base58
        """
        return Reply(self._sender, Operation("GET", "/stats/leaderboard/{authorityId}", signed=False), {"authorityId": authority_id})

    def stats_leaderboard_maker(
        self,
        *,
        page: str | None = None,
        limit: int | None = None,
    ) -> Pages[StatsLeaderboardMakerAnswer, StatsLeaderboardMakerRecord]:
        """Wallets by maker volume of perps in the current calendar month (UTC).

        page: meta.nextPage of the previous response, or a page number from 1
        limit: rows per page
        """
        return Pages(self._sender, Operation("GET", "/stats/leaderboard/maker", signed=False), {"page": page, "limit": limit}, columns=COLUMNS["StatsLeaderboardMakerRecord"])

    def stats_leaderboard_taker(
        self,
        *,
        page: str | None = None,
        limit: int | None = None,
    ) -> Pages[StatsLeaderboardMakerAnswer, StatsLeaderboardMakerRecord]:
        """Wallets by taker volume of perps in the current calendar month (UTC).

        page: meta.nextPage of the previous response, or a page number from 1
        limit: rows per page
        """
        return Pages(self._sender, Operation("GET", "/stats/leaderboard/taker", signed=False), {"page": page, "limit": limit}, columns=COLUMNS["StatsLeaderboardMakerRecord"])

    def amm_position(
        self,
        *,
        market_name: str | None = None,
        symbol: str | None = None,
        start: int | None = None,
        end: int | None = None,
        samples: int | None = None,
    ) -> Reply[AmmPositionAnswer]:
        """Users' net position against the AMM.

        market_name: perp market; required
        symbol: another name of marketName
        start: unix seconds, inclusive; a day before the end unless given
        end: unix seconds, inclusive; now unless given
        samples: most points; steps are at least 20 seconds
        """
        return Reply(self._sender, Operation("GET", "/amm/position", signed=False), {"marketName": market_name, "symbol": symbol, "start": start, "end": end, "samples": samples})

    def amm_bid_ask_price(
        self,
        *,
        market_name: str | None = None,
        symbol: str | None = None,
        start: int | None = None,
        end: int | None = None,
        samples: int | None = None,
    ) -> Reply[AmmBidAskPriceAnswer]:
        """What the AMM quotes.

        market_name: perp market; required
        symbol: another name of marketName
        start: unix seconds, inclusive; a day before the end unless given
        end: unix seconds, inclusive; now unless given
        samples: most points; steps are at least 20 seconds
        """
        return Reply(self._sender, Operation("GET", "/amm/bidAskPrice", signed=False), {"marketName": market_name, "symbol": symbol, "start": start, "end": end, "samples": samples})

    def amm_oracle_price(
        self,
        *,
        market_name: str | None = None,
        symbol: str | None = None,
        start: int | None = None,
        end: int | None = None,
        samples: int | None = None,
    ) -> Reply[AmmOraclePriceAnswer]:
        """Oracle price.

        market_name: perp market; required
        symbol: another name of marketName
        start: unix seconds, inclusive; a day before the end unless given
        end: unix seconds, inclusive; now unless given
        samples: most points; steps are at least 20 seconds
        """
        return Reply(self._sender, Operation("GET", "/amm/oraclePrice", signed=False), {"marketName": market_name, "symbol": symbol, "start": start, "end": end, "samples": samples})

    def amm_spreads(
        self,
        *,
        market_name: str | None = None,
        symbol: str | None = None,
        start: int | None = None,
        end: int | None = None,
        samples: int | None = None,
    ) -> Reply[AmmSpreadsAnswer]:
        """Spreads of the AMM.

        market_name: perp market; required
        symbol: another name of marketName
        start: unix seconds, inclusive; a day before the end unless given
        end: unix seconds, inclusive; now unless given
        samples: most points; steps are at least 20 seconds
        """
        return Reply(self._sender, Operation("GET", "/amm/spreads", signed=False), {"marketName": market_name, "symbol": symbol, "start": start, "end": end, "samples": samples})

    def amm_open_interest(
        self,
        *,
        market_name: str | None = None,
        symbol: str | None = None,
        start: int | None = None,
        end: int | None = None,
        samples: int | None = None,
    ) -> Reply[AmmOpenInterestAnswer]:
        """Open interest, the larger side.

        market_name: perp market; required
        symbol: another name of marketName
        start: unix seconds, inclusive; a day before the end unless given
        end: unix seconds, inclusive; now unless given
        samples: most points; steps are at least 20 seconds
        """
        return Reply(self._sender, Operation("GET", "/amm/openInterest", signed=False), {"marketName": market_name, "symbol": symbol, "start": start, "end": end, "samples": samples})

    def params(
        self,
    ) -> Reply[ParamsAnswer]:
        """Parameters of the exchange: its markets, and the decimals that raw integers have."""
        return Reply(self._sender, Operation("GET", "/params", signed=False), {})

    def vaults(
        self,
    ) -> Reply[list[dict[str, Any]]]:
        """Vaults of the deployment."""
        return Reply(self._sender, Operation("GET", "/vaults", signed=False), {})

    def notifications(
        self,
        *,
        page: str | None = None,
        status: Literal["PENDING", "SENT", "FAILED", "READ"] | None = None,
    ) -> Pages[NotificationsAnswer, NotificationsRecord]:
        """Notifications of the wallet, newest first.

        page: token of the previous page
        status: only notifications in this state
        """
        return Pages(self._sender, Operation("GET", "/notifications", signed=True), {"page": page, "status": status}, columns=COLUMNS["NotificationsRecord"])

    def patch_notifications(
        self,
        notification_id: str,
        body: PatchNotificationsBody,
    ) -> Reply[PatchNotificationsAnswer]:
        """Mark a notification as read.

        notification_id: as in the feed
        """
        return Reply(self._sender, Operation("PATCH", "/notifications/{notificationId}", signed=True), {"notificationId": notification_id}, body=body)

    def notifications_preferences(
        self,
    ) -> Reply[NotificationsPreferencesAnswer]:
        """Types that the wallet does not want pushed."""
        return Reply(self._sender, Operation("GET", "/notifications/preferences", signed=True), {})

    def put_notifications_preferences(
        self,
        body: PutNotificationsPreferencesBody,
    ) -> Reply[NotificationsPreferencesAnswer]:
        """Replace the types that the wallet does not want pushed."""
        return Reply(self._sender, Operation("PUT", "/notifications/preferences", signed=True), {}, body=body)

    def notifications_devices(
        self,
    ) -> Reply[NotificationsDevicesAnswer]:
        """Devices that get pushes for the wallet."""
        return Reply(self._sender, Operation("GET", "/notifications/devices", signed=True), {})

    def post_notifications_devices(
        self,
        body: PostNotificationsDevicesBody,
    ) -> Reply[PostNotificationsDevicesAnswer]:
        """Register a device, or replace its token."""
        return Reply(self._sender, Operation("POST", "/notifications/devices", signed=True), {}, body=body)

    def delete_notifications_devices(
        self,
        device_id: str,
    ) -> Reply[PatchNotificationsAnswer]:
        """Remove a device.

        device_id: the client's own name of the device
        """
        return Reply(self._sender, Operation("DELETE", "/notifications/devices/{deviceId}", signed=True), {"deviceId": device_id})

    def external_coingecko_contracts(
        self,
    ) -> Reply[ExternalCoingeckoContractsAnswer]:
        """Perp markets for market-data aggregators."""
        return Reply(self._sender, Operation("GET", "/external/coingecko/contracts", signed=False), {})

    def contracts(
        self,
    ) -> Reply[ExternalCoingeckoContractsAnswer]:
        """Perp markets for market-data aggregators."""
        return Reply(self._sender, Operation("GET", "/contracts", signed=False), {})

    def freshness(
        self,
    ) -> Reply[FreshnessAnswer]:
        """Newest rows of each stream, and gaps."""
        return Reply(self._sender, Operation("GET", "/freshness", signed=False), {})

    def post_tx_deposit(
        self,
        body: PostTxDepositBody,
    ) -> Reply[PostTxDepositAnswer]:
        """Transaction that deposits tokens."""
        return Reply(self._sender, Operation("POST", "/tx/deposit", signed=False), {}, body=body)

    def post_tx_withdraw(
        self,
        body: PostTxDepositBody,
    ) -> Reply[PostTxDepositAnswer]:
        """Transaction that withdraws tokens."""
        return Reply(self._sender, Operation("POST", "/tx/withdraw", signed=False), {}, body=body)

    def post_tx_order_place(
        self,
        body: PostTxOrderPlaceBody,
    ) -> Reply[PostTxOrderPlaceAnswer]:
        """Transaction that places a perp order."""
        return Reply(self._sender, Operation("POST", "/tx/order/place", signed=False), {}, body=body)

    def post_tx_order_cancel(
        self,
        body: PostTxOrderCancelBody,
    ) -> Reply[PostTxDepositAnswer]:
        """Transaction that cancels orders."""
        return Reply(self._sender, Operation("POST", "/tx/order/cancel", signed=False), {}, body=body)

    def post_tx_settle_pnl(
        self,
        body: PostTxSettlePnlBody,
    ) -> Reply[PostTxDepositAnswer]:
        """Transaction that settles P&L."""
        return Reply(self._sender, Operation("POST", "/tx/settlePnl", signed=False), {}, body=body)

    def post_tx_builder_init(
        self,
        body: PostTxBuilderInitBody,
    ) -> Reply[PostTxDepositAnswer]:
        """Transaction that opens the revenue-share account of a builder."""
        return Reply(self._sender, Operation("POST", "/tx/builder/init", signed=False), {}, body=body)

    def post_tx_builder_approve(
        self,
        body: PostTxBuilderApproveBody,
    ) -> Reply[PostTxDepositAnswer]:
        """Transaction that approves a builder."""
        return Reply(self._sender, Operation("POST", "/tx/builder/approve", signed=False), {}, body=body)

    def post_tx_execute(
        self,
        body: PostTxExecuteBody,
    ) -> Reply[PostTxExecuteAnswer]:
        """Send a signed transaction."""
        return Reply(self._sender, Operation("POST", "/tx/execute", signed=False), {}, body=body)
