// The calls of the differential tests to @drift-labs/sdk, with types: its own would drag its whole tree into the compiler.

import { requirePeer } from '../../../peers/dlob/peer.ts';

/** Big number of the peer. */
export interface Big {
  toString(): string;
}

export interface PeerLevel {
  readonly price: Big;
  readonly size: Big;
  readonly sources: Readonly<Record<string, Big>>;
}

export interface PeerBookLevels {
  readonly bids: readonly PeerLevel[];
  readonly asks: readonly PeerLevel[];
}

export type PeerStruct = Readonly<Record<string, unknown>>;

export interface PeerReserves {
  readonly baseAssetReserve: Big;
  readonly quoteAssetReserve: Big;
}

export interface PeerCurve extends PeerReserves {
  readonly sqrtK: Big;
  readonly pegMultiplier: Big;
  readonly totalFeeMinusDistributions: Big;
  readonly netRevenueSinceLastFunding: Big;
}

export interface PeerOracle {
  readonly price: Big;
  readonly slot: Big;
  readonly confidence: Big;
  readonly isMMOracleActive: boolean;
}

export interface PeerKey {
  toBase58(): string;
}

export interface PeerNode {
  readonly price: Big;
  readonly size: Big;
  readonly maker: PeerKey;
  readonly orderId: number;
}

/** The library's order book. */
export interface PeerDlob {
  insertOrder(order: PeerStruct, account: string, slot: number, isProtected: boolean, base: Big): void;
  getL2(request: PeerStruct): PeerBookLevels;
  getL3(request: PeerStruct): { readonly bids: readonly PeerNode[]; readonly asks: readonly PeerNode[] };
  getBestMakers(request: PeerStruct): PeerKey[];
}

export interface Sdk {
  readonly DLOB: new () => PeerDlob;
  /** Its oracle selection reads no more of the client than what is given here. */
  readonly DriftClient: {
    readonly prototype: {
      getMMOracleDataForPerpMarket(this: PeerStruct, marketIndex: number): PeerOracle;
    };
  };
  readonly BN: new (text: string) => Big;
  readonly PerpOperation: { readonly AMM_FILL: number };
  readonly DEFAULT_TOP_OF_BOOK_QUOTE_AMOUNTS: readonly Big[];
  readonly MAJORS_TOP_OF_BOOK_QUOTE_AMOUNTS: readonly Big[];
  calculateEstimatedEntryPriceWithL2(
    assetType: 'base' | 'quote',
    amount: Big,
    direction: object,
    basePrecision: Big,
    l2: { bids: readonly object[]; asks: readonly object[] },
  ): Readonly<Record<string, Big>>;
  calculateUpdatedAMM(amm: PeerStruct, oracle: PeerStruct): PeerCurve;
  /** Long spread, then short spread, 1e6 = 100 %; halves are possible. */
  calculateSpread(amm: object, oracle: PeerStruct, now: Big): readonly [number, number];
  /** Bid reserves, then ask reserves. */
  calculateSpreadReserves(
    amm: object,
    oracle: PeerStruct,
    now: Big,
    isPrediction?: boolean,
    latestSlot?: Big,
  ): readonly [PeerReserves, PeerReserves];
  calculateInventoryLiquidityRatioForReferencePriceOffset(inventory: Big, base: Big, min: Big, max: Big): Big;
  calculateReferencePriceOffset(
    reservePrice: Big,
    last24hAvgFundingRate: Big,
    liquidityFraction: Big,
    oracleTwapFast: Big,
    markTwapFast: Big,
    oracleTwapSlow: Big,
    markTwapSlow: Big,
    maxOffsetPct: number,
  ): Big;
  getVammL2Generator(request: PeerStruct): {
    getL2Bids(): Generator<PeerLevel>;
    getL2Asks(): Generator<PeerLevel>;
  };
  mergeL2LevelGenerators(
    generators: readonly Iterator<PeerLevel>[],
    isBetter: (left: PeerLevel, right: PeerLevel) => boolean,
  ): Generator<PeerLevel>;
  createL2Levels(generator: Iterable<PeerLevel>, depth: number): PeerLevel[];
  groupL2(l2: PeerBookLevels, grouping: Big, depth: number): PeerBookLevels;
}

/** The client library; installed first when it is not there. Throws an Error when that fails. */
export function loadSdk(): Sdk {
  return requirePeer()('@drift-labs/sdk') as Sdk;
}
