// The accounts that the exchange needs to check the margin of a user after a swap.

import { type Decoder, toBase58 } from '../accounts/index.ts';
import { type ProgramAddresses, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './addresses.ts';
import type { SwapMarket } from './bracket.ts';
import { type SwapAccountMeta, SwapError } from './types.ts';

/** Data of accounts by address, in the order asked; null for one that does not exist. */
export type LoadAccounts = (addresses: readonly string[]) => Promise<readonly (Uint8Array | null)[]>;

const QUOTE_MARKET = 0;
const IS_TOKEN_2022 = 1;
const NO_ORACLE = '11111111111111111111111111111111';

interface Positions {
  readonly spotPositions: readonly {
    readonly marketIndex: number;
    readonly scaledBalance: bigint;
    readonly openOrders: number;
  }[];
  readonly perpPositions: readonly ({
    readonly marketIndex: number;
    readonly baseAssetAmount: bigint;
    readonly quoteAssetAmount: bigint;
    readonly openOrders: number;
  } & Readonly<Record<string, unknown>>)[];
}

interface Market {
  readonly mint?: Uint8Array;
  readonly vault?: Uint8Array;
  readonly oracle?: Uint8Array;
  readonly amm?: { readonly oracle?: Uint8Array };
  readonly tokenProgramFlag?: number;
}

export interface SwapAccounts {
  readonly inMarket: SwapMarket;
  readonly outMarket: SwapMarket;
  /** Oracles, spot markets, perp markets, then token program and mints. */
  readonly remaining: readonly SwapAccountMeta[];
}

/** Reads user and markets. Throws SwapError when one of them does not exist. */
export async function swapAccounts(
  decoder: Decoder<object>,
  addresses: ProgramAddresses,
  load: LoadAccounts,
  user: string,
  inIndex: number,
  outIndex: number,
): Promise<SwapAccounts> {
  const [userData] = await load([user]);
  if (!userData) throw new SwapError(`user account ${user} does not exist`);
  const positions = decoder.decode('User', userData) as unknown as Positions;
  const spots = [...new Set([inIndex, outIndex, QUOTE_MARKET, ...usedSpots(positions)])];
  const perps = usedPerps(positions);
  const keys = [
    ...spots.map((index) => addresses.spotMarket(index)),
    ...perps.map((index) => addresses.perpMarket(index)),
  ];
  const loaded = await load(keys);
  const markets = keys.map((key, at) => {
    const data = loaded[at];
    if (!data) throw new SwapError(`market account ${key} does not exist`);
    return decoder.decode(at < spots.length ? 'SpotMarket' : 'PerpMarket', data) as Market;
  });
  const marketOf = (index: number): SwapMarket => swapMarket(index, markets[spots.indexOf(index)] ?? {});
  const [inMarket, outMarket] = [marketOf(inIndex), marketOf(outIndex)];
  const isWritable = (at: number): boolean => spots[at] === inIndex || spots[at] === outIndex;
  const oracles = new Set(markets.map(oracleOf).filter((oracle) => oracle !== NO_ORACLE));
  const remaining = [
    ...[...oracles].map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
    ...keys.map((pubkey, at) => ({ pubkey, isSigner: false, isWritable: at < spots.length && isWritable(at) })),
    ...tokenAccounts(inMarket, outMarket).map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
  ];
  return { inMarket, outMarket, remaining };
}

function usedSpots({ spotPositions }: Positions): number[] {
  return spotPositions
    .filter(({ scaledBalance, openOrders }) => scaledBalance !== 0n || openOrders !== 0)
    .map(({ marketIndex }) => marketIndex);
}

function usedPerps({ perpPositions }: Positions): number[] {
  const isUsed = (position: Positions['perpPositions'][number]): boolean =>
    position.openOrders !== 0 ||
    ['baseAssetAmount', 'quoteAssetAmount', 'isolatedPositionScaledBalance', 'lpShares', 'positionFlag'].some(
      (name) => {
        const value = position[name];
        return value !== undefined && BigInt(value as bigint | number) !== 0n;
      },
    );
  return perpPositions.filter(isUsed).map(({ marketIndex }) => marketIndex);
}

function oracleOf({ oracle, amm }: Market): string {
  const key = oracle ?? amm?.oracle;
  return key ? toBase58(key) : NO_ORACLE;
}

function swapMarket(index: number, { mint, vault, tokenProgramFlag = 0 }: Market): SwapMarket {
  if (!mint || !vault) throw new SwapError(`spot market ${index} has no mint or vault`);
  const tokenProgram = (tokenProgramFlag & IS_TOKEN_2022) === 0 ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM;
  return { index, mint: toBase58(mint), vault: toBase58(vault), tokenProgram };
}

/** The token program of the output when it differs, and the mints of Token-2022 markets. */
function tokenAccounts(inMarket: SwapMarket, outMarket: SwapMarket): string[] {
  const program = outMarket.tokenProgram === inMarket.tokenProgram ? [] : [outMarket.tokenProgram];
  const mints = [inMarket, outMarket].filter(({ tokenProgram }) => tokenProgram === TOKEN_2022_PROGRAM);
  return [...program, ...mints.map(({ mint }) => mint)];
}
