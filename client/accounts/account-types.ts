// Accounts of the Velocity program as the decoder returns them, from the built-in chain definition.
// Written by `npm run docs`. Do not edit.

/** Account types by name. */
export interface AccountTypes {
  readonly User: User;
  readonly UserStats: UserStats;
  readonly PerpMarket: PerpMarket;
  readonly SpotMarket: SpotMarket;
  readonly State: State;
  readonly PythLazerOracle: PythLazerOracle;
  readonly PrelaunchOracle: PrelaunchOracle;
  readonly RevenueShare: RevenueShare;
  readonly RevenueShareEscrow: RevenueShareEscrow;
}

export interface User {
  readonly authority: Uint8Array;
  readonly delegate: Uint8Array;
  readonly name: readonly number[];
  readonly spotPositions: readonly SpotPosition[];
  readonly perpPositions: readonly PerpPosition[];
  readonly orders: readonly Order[];
  readonly totalDeposits: bigint;
  readonly totalWithdraws: bigint;
  readonly totalSocialLoss: bigint;
  readonly settledPerpPnl: bigint;
  readonly cumulativeSpotFees: bigint;
  readonly cumulativePerpFunding: bigint;
  readonly liquidationMarginFreed: bigint;
  readonly lastActiveSlot: bigint;
  readonly nextOrderId: number;
  readonly maxMarginRatio: number;
  readonly nextLiquidationId: number;
  readonly subAccountId: number;
  readonly status: number;
  readonly isMarginTradingEnabled: boolean;
  readonly idle: boolean;
  readonly hasOpenOrder: boolean;
  readonly openOrders: number;
  readonly openAuctions: number;
  readonly hasOpenAuction: boolean;
  readonly poolId: number;
  readonly specialUserStatus: number;
  readonly padding: readonly number[];
  readonly equityFloor: bigint;
  readonly equityFloorBuffer: bigint;
}

export interface SpotPosition {
  readonly scaledBalance: bigint;
  readonly openBids: bigint;
  readonly openAsks: bigint;
  readonly cumulativeDeposits: bigint;
  readonly marketIndex: number;
  readonly balanceType: SpotBalanceType;
  readonly openOrders: number;
  readonly padding: readonly number[];
}

export type SpotBalanceType = 'deposit' | 'borrow' | `unknown(${number})`;

export interface PerpPosition {
  readonly lastCumulativeFundingRate: bigint;
  readonly baseAssetAmount: bigint;
  readonly quoteAssetAmount: bigint;
  readonly quoteBreakEvenAmount: bigint;
  readonly quoteEntryAmount: bigint;
  readonly openBids: bigint;
  readonly openAsks: bigint;
  readonly settledPnl: bigint;
  readonly isolatedPositionScaledBalance: bigint;
  readonly reduceOnlyClobOrders: number;
  readonly maxMarginRatio: number;
  readonly marketIndex: number;
  readonly openOrders: number;
  readonly positionFlag: number;
  readonly padding: readonly number[];
}

export interface Order {
  readonly slot: bigint;
  readonly price: bigint;
  readonly baseAssetAmount: bigint;
  readonly baseAssetAmountFilled: bigint;
  readonly quoteAssetAmountFilled: bigint;
  readonly triggerPrice: bigint;
  readonly clobNodeIndex: bigint;
  readonly clobOrderId: bigint;
  readonly maxTs: bigint;
  readonly oraclePriceOffset: bigint;
  readonly orderId: number;
  readonly marketIndex: number;
  readonly status: OrderStatus;
  readonly orderType: OrderType;
  readonly marketType: MarketType;
  readonly userOrderId: number;
  readonly existingPositionDirection: PositionDirection;
  readonly direction: PositionDirection;
  readonly reduceOnly: boolean;
  readonly postOnly: boolean;
  readonly immediateOrCancel: boolean;
  readonly triggerCondition: OrderTriggerCondition;
  readonly unusedAuctionDuration: number;
  readonly postedSlotTail: number;
  readonly bitFlags: number;
  readonly padding: readonly number[];
}

export type OrderStatus = 'init' | 'open' | 'filled' | 'canceled' | `unknown(${number})`;

export type OrderType = 'market' | 'limit' | 'triggerMarket' | 'triggerLimit' | 'oracle' | `unknown(${number})`;

export type MarketType = 'spot' | 'perp' | `unknown(${number})`;

export type PositionDirection = 'long' | 'short' | `unknown(${number})`;

export type OrderTriggerCondition = 'above' | 'below' | 'triggeredAbove' | 'triggeredBelow' | `unknown(${number})`;

export interface UserStats {
  readonly authority: Uint8Array;
  readonly referrer: Uint8Array;
  readonly fees: UserFees;
  readonly makerVolume30d: bigint;
  readonly takerVolume30d: bigint;
  readonly fillerVolume30d: bigint;
  readonly lastMakerVolume30dTs: bigint;
  readonly lastTakerVolume30dTs: bigint;
  readonly lastFillerVolume30dTs: bigint;
  readonly ifStakedQuoteAssetAmount: bigint;
  readonly numberOfSubAccounts: number;
  readonly numberOfSubAccountsCreated: number;
  readonly referrerStatus: number;
  readonly disableUpdatePerpBidAskTwap: number;
  readonly pausedOperations: number;
  readonly padding1: readonly number[];
  readonly delegatePermissions: number;
  readonly equityBreakerTripped: number;
  readonly acceleratedReferralStatus: number;
  readonly padding: readonly number[];
}

export interface UserFees {
  readonly totalFeePaid: bigint;
  readonly totalFeeRebate: bigint;
  readonly totalTokenDiscount: bigint;
  readonly totalRefereeDiscount: bigint;
}

export interface PerpMarket {
  readonly pubkey: Uint8Array;
  readonly baseAssetAmountLong: bigint;
  readonly baseAssetAmountShort: bigint;
  readonly quoteAssetAmount: bigint;
  readonly quoteEntryAmountLong: bigint;
  readonly quoteEntryAmountShort: bigint;
  readonly quoteBreakEvenAmountLong: bigint;
  readonly quoteBreakEvenAmountShort: bigint;
  readonly maxOpenInterest: bigint;
  readonly totalSocialLoss: bigint;
  readonly cumulativeFundingRateLong: bigint;
  readonly cumulativeFundingRateShort: bigint;
  readonly feeLedger: FeeLedger;
  readonly oracle: Uint8Array;
  readonly pnlPool: PoolBalance;
  readonly protocolFeePool: PoolBalance;
  readonly protocolLiquidationFee: number;
  readonly _paddingBuffer: readonly number[];
  readonly feePoolBufferTarget: bigint;
  readonly name: readonly number[];
  readonly insuranceClaim: InsuranceClaim;
  readonly lastFundingRate: bigint;
  readonly lastFundingRateLong: bigint;
  readonly lastFundingRateShort: bigint;
  readonly lastFundingRateTs: bigint;
  readonly netUnsettledFundingPnl: bigint;
  readonly fundingClampThreshold: number;
  readonly fundingRampSlope: number;
  readonly orderStepSize: bigint;
  readonly orderTickSize: bigint;
  readonly unrealizedPnlMaxImbalance: bigint;
  readonly expiryTs: bigint;
  readonly expiryPrice: bigint;
  readonly nextFillRecordId: bigint;
  readonly nextFundingRateRecordId: bigint;
  readonly imfFactor: number;
  readonly unrealizedPnlImfFactor: number;
  readonly liquidatorFee: number;
  readonly ifLiquidationFee: number;
  readonly marginRatioInitial: number;
  readonly marginRatioMaintenance: number;
  readonly unrealizedPnlInitialAssetWeight: number;
  readonly unrealizedPnlMaintenanceAssetWeight: number;
  readonly numberOfUsersWithBase: number;
  readonly numberOfUsers: number;
  readonly marketIndex: number;
  readonly status: MarketStatus;
  readonly contractType: ContractType;
  readonly contractTier: ContractTier;
  readonly pausedOperations: number;
  readonly quoteSpotMarketIndex: number;
  readonly feeAdjustment: number;
  readonly pendingBankruptcyClaims: number;
  readonly _paddingAlignLfp: readonly number[];
  readonly lastFillPrice: bigint;
  readonly poolId: number;
  readonly _paddingPmm: readonly number[];
  readonly _paddingHedge: readonly number[];
  readonly marketConfig: number;
  readonly oracleSource: OracleSource;
  readonly oracleSlotDelayOverride: number;
  readonly oracleLowRiskSlotDelayOverride: number;
  readonly bankruptcyIfFloorPct: number;
  readonly marketStats: MarketStats;
  readonly pendingRevenueShare: bigint;
  readonly amm: AMM;
  readonly hedgeConfig: HedgeConfig;
  readonly clobMarket: Uint8Array;
  readonly quoterSlab: Uint8Array;
  readonly _paddingFuture: readonly number[];
}

export interface FeeLedger {
  readonly totalExchangeFee: bigint;
  readonly totalLiquidationFee: bigint;
  readonly pendingProtocolFee: bigint;
  readonly pendingIfFee: bigint;
  readonly ammProtocolFeesReceived: bigint;
  readonly pendingAmmProvision: bigint;
}

export interface PoolBalance {
  readonly scaledBalance: bigint;
  readonly marketIndex: number;
  readonly padding: readonly number[];
  readonly pendingInterestSplitDust: number;
  readonly pendingInterestDust: bigint;
}

export interface InsuranceClaim {
  readonly revenueWithdrawSinceLastSettle: bigint;
  readonly maxRevenueWithdrawPerPeriod: bigint;
  readonly quoteMaxInsurance: bigint;
  readonly quoteSettledInsurance: bigint;
  readonly lastRevenueWithdrawTs: bigint;
}

export type MarketStatus = 'initialized' | 'active' | 'reduceOnly' | 'settlement' | 'delisted' | `unknown(${number})`;

export type ContractType = 'perpetual' | 'future' | 'prediction' | `unknown(${number})`;

export type ContractTier = 'a' | 'b' | 'c' | 'speculative' | 'highlySpeculative' | 'isolated' | `unknown(${number})`;

export type OracleSource =
  | 'pyth'
  | 'switchboard'
  | 'quoteAsset'
  | 'pyth1K'
  | 'pyth1M'
  | 'pythStableCoin'
  | 'prelaunch'
  | 'pythPull'
  | 'pyth1KPull'
  | 'pyth1MPull'
  | 'pythStableCoinPull'
  | 'switchboardOnDemand'
  | 'pythLazer'
  | 'pythLazer1K'
  | 'pythLazer1M'
  | 'pythLazerStableCoin'
  | `unknown(${number})`;

export interface MarketStats {
  readonly lastMarkPriceTwap: bigint;
  readonly lastMarkPriceTwap5min: bigint;
  readonly lastMarkPriceTwapTs: bigint;
  readonly lastBidPriceTwap: bigint;
  readonly lastAskPriceTwap: bigint;
  readonly markStd: bigint;
  readonly oracleStd: bigint;
  readonly lastOracleConfPct: bigint;
  readonly volume24h: bigint;
  readonly longIntensityVolume: bigint;
  readonly shortIntensityVolume: bigint;
  readonly lastTradeTs: bigint;
  readonly last24hAvgFundingRate: bigint;
  readonly fundingPeriod: bigint;
  readonly minOrderSize: bigint;
  readonly mmOraclePrice: bigint;
  readonly mmOracleSlot: bigint;
  readonly mmOracleSequenceId: bigint;
  readonly lastOracleNormalisedPrice: bigint;
  readonly lastReferencePriceOffset: number;
  readonly lastOracleValid: boolean;
  readonly padding: readonly number[];
  readonly lastFundingOracleTwap: bigint;
  readonly historicalOracleData: HistoricalOracleData;
}

export interface HistoricalOracleData {
  readonly lastOraclePrice: bigint;
  readonly lastOracleConf: bigint;
  readonly lastOracleDelay: bigint;
  readonly lastOraclePriceTwap: bigint;
  readonly lastOraclePriceTwap5min: bigint;
  readonly lastOraclePriceTwapTs: bigint;
}

export interface AMM {
  readonly feePool: PoolBalance;
  readonly baseAssetReserve: bigint;
  readonly quoteAssetReserve: bigint;
  readonly concentrationCoef: bigint;
  readonly minBaseAssetReserve: bigint;
  readonly maxBaseAssetReserve: bigint;
  readonly sqrtK: bigint;
  readonly pegMultiplier: bigint;
  readonly terminalQuoteAssetReserve: bigint;
  readonly baseAssetAmountWithAmm: bigint;
  readonly totalFee: bigint;
  readonly totalMmFee: bigint;
  readonly totalFeeMinusDistributions: bigint;
  readonly totalFeeWithdrawn: bigint;
  readonly askBaseAssetReserve: bigint;
  readonly askQuoteAssetReserve: bigint;
  readonly bidBaseAssetReserve: bigint;
  readonly bidQuoteAssetReserve: bigint;
  readonly lastUpdateSlot: bigint;
  readonly netRevenueSinceLastFunding: bigint;
  readonly lastCumulativeFundingRateLong: bigint;
  readonly lastCumulativeFundingRateShort: bigint;
  readonly lastOracleReservePriceSpreadPct: bigint;
  readonly lastSpreadUpdateSlot: bigint;
  readonly baseSpread: number;
  readonly maxSpread: number;
  readonly longSpread: number;
  readonly shortSpread: number;
  readonly referencePriceOffset: number;
  readonly maxFillReserveFraction: number;
  readonly maxSlippageRatio: number;
  readonly curveUpdateIntensity: number;
  readonly ammJitIntensity: number;
  readonly ammSpreadAdjustment: number;
  readonly ammInventorySpreadAdjustment: number;
  readonly referencePriceOffsetDeadbandPct: number;
  readonly fundingBiasSensitivity: number;
  readonly paddingPostAmm: readonly number[];
}

export interface HedgeConfig {
  readonly poolId: number;
  readonly status: number;
  readonly pausedOperations: number;
  readonly exchangeFeeExclusionScalar: number;
  readonly feeTransferScalar: number;
  readonly padding: readonly number[];
}

export interface SpotMarket {
  readonly pubkey: Uint8Array;
  readonly oracle: Uint8Array;
  readonly mint: Uint8Array;
  readonly vault: Uint8Array;
  readonly name: readonly number[];
  readonly insuranceFund: InsuranceFund;
  readonly totalSpotFee: bigint;
  readonly depositBalance: bigint;
  readonly borrowBalance: bigint;
  readonly cumulativeDepositInterest: bigint;
  readonly cumulativeBorrowInterest: bigint;
  readonly totalSocialLoss: bigint;
  readonly totalQuoteSocialLoss: bigint;
  readonly revenuePool: PoolBalance;
  readonly spotFeePool: PoolBalance;
  readonly historicalOracleData: HistoricalOracleData;
  readonly historicalIndexData: HistoricalIndexData;
  readonly withdrawGuardThreshold: bigint;
  readonly maxTokenDeposits: bigint;
  readonly depositTokenTwap: bigint;
  readonly borrowTokenTwap: bigint;
  readonly utilizationTwap: bigint;
  readonly lastInterestTs: bigint;
  readonly lastTwapTs: bigint;
  readonly expiryTs: bigint;
  readonly orderStepSize: bigint;
  readonly orderTickSize: bigint;
  readonly minOrderSize: bigint;
  readonly maxPositionSize: bigint;
  readonly nextFillRecordId: bigint;
  readonly nextDepositRecordId: bigint;
  readonly initialAssetWeight: number;
  readonly maintenanceAssetWeight: number;
  readonly initialLiabilityWeight: number;
  readonly maintenanceLiabilityWeight: number;
  readonly imfFactor: number;
  readonly liquidatorFee: number;
  readonly ifLiquidationFee: number;
  readonly optimalUtilization: number;
  readonly optimalBorrowRate: number;
  readonly maxBorrowRate: number;
  readonly decimals: number;
  readonly marketIndex: number;
  readonly ordersEnabled: boolean;
  readonly oracleSource: OracleSource;
  readonly status: MarketStatus;
  readonly assetTier: AssetTier;
  readonly pausedOperations: number;
  readonly ifPausedOperations: number;
  readonly feeAdjustment: number;
  readonly maxTokenBorrowsFraction: number;
  readonly flashLoanAmount: bigint;
  readonly flashLoanInitialTokenAmount: bigint;
  readonly totalSwapFee: bigint;
  readonly scaleInitialAssetWeightStart: bigint;
  readonly minBorrowRate: number;
  readonly tokenProgramFlag: number;
  readonly poolId: number;
  readonly _paddingAlignPfp: number;
  readonly withdrawCircuitBreakerBps: number;
  readonly maxDepositBpsPerDay: number;
  readonly depositGuardThreshold: bigint;
  readonly protocolFeePool: PoolBalance;
  readonly protocolLiquidationFee: number;
  readonly protocolFeeFactor: number;
  readonly ifLastSettleVaultAmount: bigint;
  readonly _paddingFuture: readonly number[];
}

export interface InsuranceFund {
  readonly vault: Uint8Array;
  readonly totalShares: bigint;
  readonly userShares: bigint;
  readonly sharesBase: bigint;
  readonly unstakingPeriod: bigint;
  readonly lastRevenueSettleTs: bigint;
  readonly revenueSettlePeriod: bigint;
  readonly ifFeeFactor: number;
  readonly _paddingIf: readonly number[];
}

export interface HistoricalIndexData {
  readonly lastIndexBidPrice: bigint;
  readonly lastIndexAskPrice: bigint;
  readonly lastIndexPriceTwap: bigint;
  readonly lastIndexPriceTwap5min: bigint;
  readonly lastIndexPriceTwapTs: bigint;
}

export type AssetTier = 'collateral' | 'protected' | 'cross' | 'isolated' | 'unlisted' | `unknown(${number})`;

export interface State {
  readonly coldAdmin: Uint8Array;
  readonly warmAdmin: Uint8Array;
  readonly pauseAdmin: Uint8Array;
  readonly hotAmmCrank: Uint8Array;
  readonly hotLpCache: Uint8Array;
  readonly hotLpSwap: Uint8Array;
  readonly hotLpSettle: Uint8Array;
  readonly hotFeatureFlag: Uint8Array;
  readonly hotFuel: Uint8Array;
  readonly hotUserFlag: Uint8Array;
  readonly hotVaultDeposit: Uint8Array;
  readonly hotMmOracleCrank: Uint8Array;
  readonly hotAmmSpreadAdjust: Uint8Array;
  readonly whitelistMint: Uint8Array;
  readonly discountMint: Uint8Array;
  readonly signer: Uint8Array;
  readonly srmVault: Uint8Array;
  readonly perpFeeStructure: FeeStructure;
  readonly spotFeeStructure: FeeStructure;
  readonly oracleGuardRails: OracleGuardRails;
  readonly numberOfAuthorities: bigint;
  readonly numberOfSubAccounts: bigint;
  readonly liquidationMarginBufferRatio: number;
  readonly settlementDuration: number;
  readonly numberOfMarkets: number;
  readonly numberOfSpotMarkets: number;
  readonly signerNonce: number;
  readonly minPerpAuctionDuration: number;
  readonly defaultMarketOrderTimeInForce: number;
  readonly defaultSpotAuctionDuration: number;
  readonly exchangeStatus: number;
  readonly liquidationDuration: number;
  readonly initialPctToLiquidate: number;
  readonly maxNumberOfSubAccounts: number;
  readonly maxInitializeUserFee: number;
  readonly featureBitFlags: number;
  readonly lpPoolFeatureBitFlags: number;
  readonly solvencyStatus: number;
  readonly protocolFeeRecipientPerp: Uint8Array;
  readonly protocolFeeRecipientSpot: Uint8Array;
  readonly hotFeeWithdraw: Uint8Array;
  readonly hotAccountExtension: Uint8Array;
  readonly promoFeeTier: number;
  readonly slotDurationMs: number;
  readonly pendingSlotDurationMs: number;
  readonly slotDurationPad: readonly number[];
  readonly slotDurationEffectiveSlot: bigint;
  readonly slotDurationTransitionSlots: readonly bigint[];
  readonly hotVammQuoteManagement: Uint8Array;
  readonly hotFlowAuthority: Uint8Array;
  readonly transactionFeeRails: TransactionFeeRails;
  readonly liquidationCrankReimbursementBps: number;
  readonly solSpotMarketIndex: number;
  readonly padding0: readonly number[];
  readonly hotConditionsSync: Uint8Array;
  readonly padding: readonly number[];
}

export interface FeeStructure {
  readonly feeTiers: readonly FeeTier[];
  readonly fillerRewardStructure: OrderFillerRewardStructure;
  readonly flatFillerFee: bigint;
  readonly ammFeeNumerator: number;
  readonly ifFeeNumerator: number;
}

export interface FeeTier {
  readonly feeNumerator: number;
  readonly feeDenominator: number;
  readonly makerRebateNumerator: number;
  readonly makerRebateDenominator: number;
  readonly referrerRewardNumerator: number;
  readonly referrerRewardDenominator: number;
  readonly refereeFeeNumerator: number;
  readonly refereeFeeDenominator: number;
}

export interface OrderFillerRewardStructure {
  readonly timeBasedRewardLowerBound: bigint;
  readonly rewardNumerator: number;
  readonly rewardDenominator: number;
  readonly padding: readonly number[];
}

export interface OracleGuardRails {
  readonly markOraclePercentDivergence: bigint;
  readonly oracleTwap5minPercentDivergence: bigint;
  readonly slotsBeforeStaleForAmm: bigint;
  readonly slotsBeforeStaleForMargin: bigint;
  readonly confidenceIntervalMaxSize: bigint;
  readonly tooVolatileRatio: bigint;
}

export interface TransactionFeeRails {
  readonly raw: readonly number[];
}

export interface PythLazerOracle {
  readonly price: bigint;
  readonly publishTime: bigint;
  readonly postedSlot: bigint;
  readonly exponent: number;
  readonly padding: readonly number[];
  readonly conf: bigint;
}

export interface PrelaunchOracle {
  readonly price: bigint;
  readonly maxPrice: bigint;
  readonly confidence: bigint;
  readonly lastUpdateSlot: bigint;
  readonly ammLastUpdateSlot: bigint;
  readonly perpMarketIndex: number;
  readonly padding: readonly number[];
}

export interface RevenueShare {
  readonly authority: Uint8Array;
  readonly totalReferrerRewards: bigint;
  readonly totalBuilderRewards: bigint;
  readonly padding: readonly number[];
}

export interface RevenueShareEscrow {
  readonly authority: Uint8Array;
  readonly referrer: Uint8Array;
  readonly reserved: readonly number[];
  readonly orders: readonly RevenueShareOrder[];
  readonly padding: number;
  readonly approvedBuilders: readonly BuilderInfo[];
}

export interface RevenueShareOrder {
  readonly feesAccrued: bigint;
  readonly orderId: number;
  readonly feeTenthBps: number;
  readonly marketIndex: number;
  readonly subAccountId: number;
  readonly rest: readonly number[];
}

export interface BuilderInfo {
  readonly authority: Uint8Array;
  readonly maxFeeTenthBps: number;
  readonly padding: readonly number[];
}
