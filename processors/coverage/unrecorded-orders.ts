// Orders that states of accounts show, while no record of their placing is stored.

import { type AccountOrder, marketKey, type ReconstructedOrder } from '../../schemas/index.ts';
import type { StatePiece } from '../follow/pieces.ts';
import { PieceMap } from './piece-map.ts';

/** Orders in memory, about 500 bytes each. The one that appeared longest ago is forgotten first. */
const UNRECORDED_MAX = 10_000;
/** Orders that a hole names: the oldest numbers. */
const HOLE_ORDERS_MAX = 100;

export class UnrecordedOrders {
  /** By account and order number. */
  readonly #orders: PieceMap<ReconstructedOrder>;
  readonly #accounts = new Map<string, Set<number>>();

  constructor(max = UNRECORDED_MAX) {
    this.#orders = new PieceMap<ReconstructedOrder>({
      prefix: 'shown:',
      max,
      save: (order) => order,
      load: (saved) => saved as ReconstructedOrder,
      forgotten: (key) => this.#unlist(key),
    });
  }

  /** `account` in base58. The first state of an order counts: a trigger changes its slot. */
  add(account: string, { orderId, direction, orderType, placedSlot, ...order }: AccountOrder): void {
    const key = keyOf(account, orderId);
    if (this.#orders.has(key)) return;
    const [price, baseAssetAmount] = [String(order.price), String(order.baseAssetAmount)];
    const market = marketKey(order);
    this.#list(key);
    this.#orders.set(key, { orderId, market, direction, orderType, price, baseAssetAmount, placedSlot });
  }

  /** The record of the order is stored. */
  delete(account: string, orderId: number): void {
    const key = keyOf(account, orderId);
    if (!this.#orders.has(key)) return;
    this.#orders.delete(key);
    this.#unlist(key);
  }

  /** The account was deleted and opened again: its numbers begin anew. */
  forget(account: string): void {
    for (const orderId of [...(this.#accounts.get(account) ?? [])]) this.delete(account, orderId);
  }

  /** Orders of an account with these numbers, in their order. */
  of(account: string, fromId: number, toId: number): readonly ReconstructedOrder[] {
    const ids = [...(this.#accounts.get(account) ?? [])].filter((id) => id >= fromId && id <= toId);
    const first = ids.sort((one, other) => one - other).slice(0, HOLE_ORDERS_MAX);
    return first.flatMap((id) => this.#orders.get(keyOf(account, id)) ?? []);
  }

  takeChanges(): StatePiece[] {
    return this.#orders.takeChanges();
  }

  restore(name: string, text: string): boolean {
    const key = this.#orders.restore(name, text);
    if (key !== null) this.#list(key);
    return key !== null;
  }

  #list(key: string): void {
    const [account, orderId] = partsOf(key);
    const ids = this.#accounts.get(account) ?? new Set();
    this.#accounts.set(account, ids.add(orderId));
  }

  #unlist(key: string): void {
    const [account, orderId] = partsOf(key);
    const ids = this.#accounts.get(account);
    ids?.delete(orderId);
    if (ids?.size === 0) this.#accounts.delete(account);
  }
}

const keyOf = (account: string, orderId: number): string => `${account}/${orderId}`;

function partsOf(key: string): readonly [account: string, orderId: number] {
  const at = key.indexOf('/');
  return [key.slice(0, at), Number(key.slice(at + 1))];
}
