// Diffs market-level order accounts, one per market that names one: which open nodes changed with an update.

import { CLOB_NODE_BYTES, CLOB_NODES_OFFSET, keyText, type OrderState } from '../../schemas/index.ts';
import { changedBlocks } from '../decode/blocks.ts';
import type { ClobReader } from '../decode/clob.ts';
import type { AccountUpdate } from '../source.ts';
import { type Emit, OrderChanges, type WriteOfAccount } from './output.ts';

interface StoredClob {
  readonly pubkey: Uint8Array;
  readonly marketIndex: number;
  view: DataView;
  bytes: Uint8Array;
  /** Nodes of reduce-only orders by maker. A change of the maker's position affects them. */
  readonly reduceOnly: Map<string, Set<number>>;
}

export interface ClobLookups {
  /** Address of the User account of an authority and sub-account id. */
  userOf(authority: Uint8Array, subAccountId: number): Uint8Array;
  /** See UserDiffer.cappingBase. */
  cappingBase(user: Uint8Array, marketIndex: number): bigint;
}

export class ClobDiffer {
  readonly #reader: ClobReader;
  readonly #lookups: ClobLookups;
  readonly #clobs = new Map<string, StoredClob>();

  constructor(reader: ClobReader, lookups: ClobLookups) {
    this.#reader = reader;
    this.#lookups = lookups;
  }

  /** Applies the account's new state. Throws AccountError for unreadable data and then changes nothing. */
  apply(update: AccountUpdate, emit: Emit): void {
    const view = this.#reader.open(update.data);
    const key = keyText(update.pubkey);
    const marketIndex = this.#reader.marketIndex(view);
    const before = this.#clobs.get(key);
    if (before && before.marketIndex !== marketIndex) this.close(update, emit);
    const stored = this.#clobs.get(key) ?? {
      pubkey: update.pubkey,
      marketIndex,
      view: new DataView(new ArrayBuffer(CLOB_NODES_OFFSET)),
      bytes: new Uint8Array(CLOB_NODES_OFFSET),
      reduceOnly: new Map(),
    };
    this.#clobs.set(key, stored);
    this.#difference(stored, view, new Uint8Array(view.buffer, view.byteOffset, view.byteLength), update, emit);
  }

  /** Removes all orders of a closed account. */
  close(update: AccountUpdate, emit: Emit): void {
    const stored = this.#clobs.get(keyText(update.pubkey));
    if (!stored) return;
    const bytes = new Uint8Array(CLOB_NODES_OFFSET);
    this.#difference(stored, new DataView(bytes.buffer), bytes, update, emit);
    this.#clobs.delete(keyText(update.pubkey));
  }

  /** Emits a maker's reduce-only orders again, with the position that caps them. */
  positionChanged(user: Uint8Array, marketIndex: number, write: WriteOfAccount, emit: Emit): void {
    for (const stored of this.#clobs.values()) {
      if (stored.marketIndex !== marketIndex) continue;
      const nodes = stored.reduceOnly.get(keyText(user));
      if (!nodes) continue;
      const changes = new OrderChanges('clob', stored.pubkey, write);
      for (const node of nodes) changes.upsert('perp', marketIndex, this.#state(stored, stored.view, node));
      changes.emit(emit);
    }
  }

  #difference(stored: StoredClob, view: DataView, bytes: Uint8Array, write: WriteOfAccount, emit: Emit): void {
    const reader = this.#reader;
    const changed = changedNodes(reader, stored, view, bytes);
    const removed: number[] = [];
    const upserted: number[] = [];
    for (const node of changed) {
      if (node < reader.capacity(stored.view) && reader.isOpen(stored.view, node)) {
        removed.push(node);
        this.#forget(stored, node);
      }
    }
    for (const node of changed) {
      if (node >= reader.capacity(view) || !reader.isOpen(view, node)) continue;
      upserted.push(node);
    }
    const changes = new OrderChanges('clob', stored.pubkey, write);
    const identities = new Set(upserted.map((node) => this.#identity(view, node)));
    for (const node of removed) {
      if (identities.has(this.#identity(stored.view, node))) continue;
      changes.remove('perp', stored.marketIndex, {
        maker: this.#maker(stored.view, node),
        orderId: reader.clientOrderId(stored.view, node),
      });
    }
    for (const node of upserted) {
      if (reader.isReduceOnly(view, node)) this.#remember(stored, view, node);
      if (!sameOrder(stored, bytes, node, reader)) {
        changes.upsert('perp', stored.marketIndex, this.#state(stored, view, node));
      }
    }
    stored.view = view;
    stored.bytes = bytes;
    changes.emit(emit);
  }

  /** The identity of an order in the book: maker and client order id. */
  #identity(view: DataView, node: number): string {
    return `${keyText(this.#maker(view, node))}${this.#reader.clientOrderId(view, node)}`;
  }

  #maker(view: DataView, node: number): Uint8Array {
    return this.#lookups.userOf(this.#reader.authority(view, node), this.#reader.subAccountId(view, node));
  }

  #state(stored: StoredClob, view: DataView, node: number): OrderState {
    const order = this.#reader.order(view, node);
    const maker = this.#maker(view, node);
    return {
      ...order,
      maker,
      positionBaseAmount: order.reduceOnly ? this.#lookups.cappingBase(maker, stored.marketIndex) : 0n,
    };
  }

  #remember(stored: StoredClob, view: DataView, node: number): void {
    const maker = keyText(this.#maker(view, node));
    const nodes = stored.reduceOnly.get(maker) ?? new Set<number>();
    stored.reduceOnly.set(maker, nodes.add(node));
  }

  #forget(stored: StoredClob, node: number): void {
    if (!this.#reader.isReduceOnly(stored.view, node)) return;
    const maker = keyText(this.#maker(stored.view, node));
    const nodes = stored.reduceOnly.get(maker);
    nodes?.delete(node);
    if (nodes?.size === 0) stored.reduceOnly.delete(maker);
  }
}

/** Nodes that differ in any byte. After a resize also the nodes that only one of the two has. */
function changedNodes(reader: ClobReader, stored: StoredClob, view: DataView, bytes: Uint8Array): number[] {
  const before = reader.capacity(stored.view);
  const after = reader.capacity(view);
  const nodes: number[] = [];
  const blocks = { offset: CLOB_NODES_OFFSET, stride: CLOB_NODE_BYTES, count: Math.min(before, after) };
  changedBlocks(stored.bytes, bytes, blocks, (node) => nodes.push(node));
  for (let node = blocks.count; node < Math.max(before, after); node++) nodes.push(node);
  return nodes;
}

/** Whether only a node's list links changed. */
function sameOrder(stored: StoredClob, bytes: Uint8Array, node: number, reader: ClobReader): boolean {
  if (node >= reader.capacity(stored.view) || !reader.isOpen(stored.view, node)) return false;
  const at = CLOB_NODES_OFFSET + node * CLOB_NODE_BYTES;
  const before = Buffer.from(stored.bytes.buffer, stored.bytes.byteOffset, stored.bytes.byteLength);
  return (
    before.compare(bytes, at, at + reader.links.from, at, at + reader.links.from) === 0 &&
    before.compare(bytes, at + reader.links.to, at + CLOB_NODE_BYTES, at + reader.links.to, at + CLOB_NODE_BYTES) === 0
  );
}
