// Accounts recorded on mainnet, as a validator takes them at its genesis, and the books that they make by their recorded values.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import type { GenesisAccount } from './validator.ts';

export const FIXTURES = new URL('../../../../../shared/fixtures/', import.meta.url);
export const DRIFT = 'dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH';
/** Owner of price accounts that Pyth's push service writes. Each is its own write authority. */
const PYTH = 'rec5EKMGg6MxZYaMdyBfgwp4d5rB9T1VQH5pJv5LtFJ';
const LAMPORTS = 10_000_000_000;

export interface RecordedOrder {
  readonly marketType: 'Perp' | 'Spot';
  readonly marketIndex: number;
  readonly orderId: number;
  readonly orderType: string;
  readonly status: string;
  readonly price: string;
  readonly direction: 'Long' | 'Short';
  readonly reduceOnly: boolean;
  readonly baseAssetAmount: string;
  readonly baseAssetAmountFilled: string;
}
export interface RecordedUser {
  readonly data: string;
  readonly decoded: {
    readonly authority: string;
    readonly subAccountId: number;
    readonly orders: readonly RecordedOrder[];
    readonly perpPositions: readonly {
      readonly marketIndex: number;
      readonly baseAssetAmount: string;
      readonly openOrders: number;
    }[];
  };
}
interface RecordedAccount {
  readonly account: string;
  readonly data: string;
  readonly decoded: { readonly pubkey?: string; readonly writeAuthority?: string };
}

/** Size by price and side, of one market. */
export type Levels = Readonly<Record<'bids' | 'asks', Readonly<Record<string, string>>>>;

export interface RecordedExchange {
  readonly accounts: readonly GenesisAccount[];
  /** A user account with an order in a book. */
  readonly maker: string;
  /** By path and query. */
  readonly books: ReadonlyMap<string, Levels>;
}

/** Null where the recorded data is not present. */
export function recordedExchange(): RecordedExchange | null {
  if (!existsSync(FIXTURES)) return null;
  const users = read<RecordedUser>('drift-user-accounts.json');
  const others = read<RecordedAccount>('drift-accounts.json').filter(({ account }) => account !== 'User');
  const maker = users.find(({ decoded }) => decoded.orders.some(isVisible));
  if (maker === undefined) throw new Error('no recorded account has an order in a book');
  const accounts = [
    ...users.map(({ data, decoded }) => ({ pubkey: userAddress(decoded), owner: DRIFT, data, lamports: LAMPORTS })),
    ...others.map(genesisAccount),
  ];
  return { accounts, maker: userAddress(maker.decoded), books: booksOf(users) };
}

function read<T>(file: string): readonly T[] {
  return (JSON.parse(readFileSync(new URL(file, FIXTURES), 'utf8')) as { readonly accounts: readonly T[] }).accounts;
}

export function userAddress({ authority, subAccountId }: RecordedUser['decoded']): string {
  const index = Buffer.alloc(2);
  index.writeUInt16LE(subAccountId);
  const seeds = [Buffer.from('user'), bs58.decode(authority), index];
  return PublicKey.findProgramAddressSync(seeds, new PublicKey(DRIFT))[0].toBase58();
}

/** Oracles of the program were recorded without their keys. */
function genesisAccount({ data, account, decoded: { pubkey, writeAuthority } }: RecordedAccount): GenesisAccount {
  if (writeAuthority !== undefined) return { pubkey: writeAuthority, owner: PYTH, data, lamports: LAMPORTS };
  const unknown = bs58.encode(createHash('sha256').update(account).digest());
  return { pubkey: pubkey ?? unknown, owner: DRIFT, data, lamports: LAMPORTS };
}

const isVisible = ({ status, orderType }: RecordedOrder) => status === 'Open' && orderType === 'Limit';

/** Per market the sizes left in /l3, and in /l2 those that positions bound (docs/internals/book-rules.md, "Sizes"). */
function booksOf(users: readonly RecordedUser[]): ReadonlyMap<string, Levels> {
  const books = new Map<string, { bids: Record<string, string>; asks: Record<string, string> }>();
  for (const { decoded } of users) {
    for (const order of decoded.orders.filter(isVisible)) {
      const filled = BigInt(order.baseAssetAmountFilled);
      const amounts = { l2: boundAmount(order, decoded), l3: BigInt(order.baseAssetAmount) };
      for (const [path, amount] of Object.entries(amounts)) {
        const market = `/${path}?marketType=${order.marketType.toLowerCase()}&marketIndex=${order.marketIndex}`;
        const book = books.get(market) ?? { bids: {}, asks: {} };
        books.set(market, book);
        const side = order.direction === 'Long' ? book.bids : book.asks;
        if (amount > filled) side[order.price] = String(BigInt(side[order.price] ?? 0) + amount - filled);
      }
    }
  }
  return books;
}

function boundAmount(order: RecordedOrder, { perpPositions }: RecordedUser['decoded']): bigint {
  const amount = BigInt(order.baseAssetAmount);
  if (!order.reduceOnly) return amount;
  const position = perpPositions.find((one) => one.marketIndex === order.marketIndex && one.openOrders > 0);
  const base = BigInt(position?.baseAssetAmount ?? 0);
  const reducible = order.direction === 'Long' ? -base : base;
  return reducible < 0n ? 0n : reducible < amount ? reducible : amount;
}
