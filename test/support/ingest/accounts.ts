// Accounts as bytes for tests: users with orders and positions, book accounts with nodes, markets that name a book.

import bs58 from 'bs58';
import { Differ } from '../../../ingest/differ.ts';
import { compileReaders } from '../../../ingest/readers.ts';
import type { AccountUpdate } from '../../../ingest/source.ts';
import {
  type AccountDefinition,
  CLOB_NODE_BYTES,
  CLOB_NODE_FLAGS,
  CLOB_NODES_OFFSET,
  loadDefinition,
  ORDER_FLAG_PLACED_ON_CLOB,
} from '../../../schemas/index.ts';
import { blankAccount, setField } from './bytes.ts';

const definition = loadDefinition('velocity');
const { programs } = definition;

/** An account of the definition, with its owner program. Throws when the name does not exist. */
export function accountOf(name: string): AccountDefinition & { readonly owner: Uint8Array } {
  for (const program of programs) {
    const found = program.accounts.get(name);
    if (found) return { ...found, owner: bs58.decode(program.programId) };
  }
  throw new Error(`no ${name}`);
}

export const USER = accountOf('User');
export const CLOB = accountOf('ClobHeaderV0');
export const PERP = accountOf('PerpMarket');
export const SPOT = accountOf('SpotMarket');
export const LAZER = accountOf('PythLazerOracle');
export const STATE = accountOf('State');
const nodeLayout = programs
  .flatMap((program) => [...program.types.values()])
  .find(({ name }) => name === 'OrderNodeV0');
if (!nodeLayout) throw new Error('no node');
const NODE = nodeLayout;
const readers = compileReaders(definition);

/** An address that begins with these bytes. */
export const key = (...bytes: number[]) => Uint8Array.from({ length: 32 }, (_, index) => bytes[index] ?? 0);
/** Stands in for the PDA: any pure function works. */
const deriveUser = (authority: Uint8Array, subAccountId: number) => {
  const derived = Uint8Array.from(authority);
  derived[30] = subAccountId;
  derived[31] = 1;
  return derived;
};
export const newDiffer = () => new Differ(readers, deriveUser);

interface Order {
  readonly slot: number;
  readonly orderId: number;
  readonly marketIndex: number;
  readonly price: bigint;
  readonly size: bigint;
  readonly filled: bigint;
  readonly quoteFilled?: bigint;
  readonly reduceOnly: boolean;
  readonly spot?: boolean;
  readonly shadow?: boolean;
}
interface Position {
  readonly marketIndex: number;
  readonly base: bigint;
  readonly openOrders: number;
}
export interface UserState {
  readonly user: number;
  readonly orders: readonly Order[];
  readonly positions: readonly Position[];
}
export interface BookNode {
  readonly node: number;
  readonly maker: number;
  readonly clientOrderId: number;
  readonly bookOrderId: bigint;
  readonly price: bigint;
  readonly size: bigint;
  readonly ask: boolean;
  readonly reduceOnly: boolean;
  readonly next: number;
}

const authorityOf = (user: number) => key(9, user);
export const userKey = (user: number) => deriveUser(authorityOf(user), 0);
/** Keys of a market's book accounts. Most tests name the first one. */
export const clobKey = (market: number, account = 0) => key(7, market, account);
export const marketKeyOf = (market: number) => key(3, market);

export function userBytes({ user, orders, positions }: UserState): Buffer {
  const bytes = blankAccount(USER);
  const set = (path: string, value: Parameters<typeof setField>[3]) => setField(bytes, USER.layout, path, value);
  set('authority', authorityOf(user));
  for (const order of orders) {
    const at = `orders.${order.slot}`;
    set(`${at}.status`, 'open');
    set(`${at}.order_type`, 'limit');
    set(`${at}.market_type`, order.spot ? 'spot' : 'perp');
    set(`${at}.order_id`, order.orderId);
    set(`${at}.market_index`, order.marketIndex);
    set(`${at}.price`, order.price);
    set(`${at}.base_asset_amount`, order.size);
    set(`${at}.base_asset_amount_filled`, order.filled);
    set(`${at}.quote_asset_amount_filled`, order.quoteFilled ?? 0n);
    set(`${at}.reduce_only`, order.reduceOnly);
    if (order.shadow) set(`${at}.bit_flags`, ORDER_FLAG_PLACED_ON_CLOB);
  }
  for (const [index, position] of positions.entries()) {
    set(`perp_positions.${index}.market_index`, position.marketIndex);
    set(`perp_positions.${index}.base_asset_amount`, position.base);
    set(`perp_positions.${index}.open_orders`, position.openOrders);
  }
  return bytes;
}

export function clobBytes(market: number, capacity: number, nodes: readonly BookNode[]): Buffer {
  const bytes = Buffer.concat([blankAccount(CLOB), Buffer.alloc(8 + capacity * CLOB_NODE_BYTES)]);
  setField(bytes, CLOB.layout, 'market_index', market);
  for (const node of nodes) {
    const start = CLOB_NODES_OFFSET + node.node * CLOB_NODE_BYTES;
    const set = (path: string, value: Parameters<typeof setField>[3]) => setField(bytes, NODE, path, value, start);
    set('authority', authorityOf(node.maker));
    set('price', node.price);
    set('base_asset_amount', node.size);
    set('order_id', node.bookOrderId);
    set('client_order_id', node.clientOrderId);
    set('next', node.next);
    const { open, ask, reduceOnly } = CLOB_NODE_FLAGS;
    set('bit_flags', open | (node.ask ? ask : 0) | (node.reduceOnly ? reduceOnly : 0));
  }
  return bytes;
}

/** Bytes of a perp market account that names a book, or none. */
export function marketBytes(market: number, clob: Uint8Array | null): Buffer {
  const bytes = blankAccount(PERP);
  setField(bytes, PERP.layout, 'market_index', market);
  if (clob) setField(bytes, PERP.layout, 'clob_market', clob);
  return bytes;
}

export function update(
  pubkey: Uint8Array,
  owner: Uint8Array,
  data: Uint8Array,
  slot: number,
  writeVersion: bigint | null = null,
): AccountUpdate {
  return { kind: 'account', slot, writeVersion, pubkey, owner, data };
}
