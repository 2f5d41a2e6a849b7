// Market-level order accounts, one for each market that names one: what an update changed among the open nodes.

import type { OrderState } from '../../schemas/index.ts';
import { CLOB_NODE_BYTES, CLOB_NODES_OFFSET } from '../../schemas/index.ts';
import { changedBlocks } from '../decode/blocks.ts';
import type { ClobReader } from '../decode/clob.ts';
import type { AccountUpdate } from '../source.ts';
import { type Emit, keyText, OrderChanges } from './output.ts';

interface HeldClob {
  readonly pubkey: Uint8Array;
  readonly marketIndex: number;
  view: DataView;
  bytes: Uint8Array;
  /** Nodes of reduce-only orders by maker: a change of the maker's position concerns them. */
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
  readonly #clobs = new Map<string, HeldClob>();

  constructor(reader: ClobReader, lookups: ClobLookups) {
    this.#reader = reader;
    this.#lookups = lookups;
  }

  /** Takes the account as it is now. Throws AccountError when it cannot be read; nothing is changed then. */
  apply(update: AccountUpdate, emit: Emit): void {
    const view = this.#reader.open(update.data);
    const key = keyText(update.pubkey);
    const marketIndex = this.#reader.marketIndex(view);
    const before = this.#clobs.get(key);
    if (before && before.marketIndex !== marketIndex) this.close(update, emit);
    const held = this.#clobs.get(key) ?? {
      pubkey: update.pubkey,
      marketIndex,
      view: new DataView(new ArrayBuffer(CLOB_NODES_OFFSET)),
      bytes: new Uint8Array(CLOB_NODES_OFFSET),
      reduceOnly: new Map(),
    };
    this.#clobs.set(key, held);
    this.#difference(held, view, new Uint8Array(view.buffer, view.byteOffset, view.byteLength), update.slot, emit);
  }

  /** The account is gone and all its orders with it. */
  close(update: AccountUpdate, emit: Emit): void {
    const held = this.#clobs.get(keyText(update.pubkey));
    if (!held) return;
    const bytes = new Uint8Array(CLOB_NODES_OFFSET);
    this.#difference(held, new DataView(bytes.buffer), bytes, update.slot, emit);
    this.#clobs.delete(keyText(update.pubkey));
  }

  /** Repeats the reduce-only orders of a maker with the position that now caps them. */
  positionChanged(user: Uint8Array, marketIndex: number, slot: number, emit: Emit): void {
    for (const held of this.#clobs.values()) {
      if (held.marketIndex !== marketIndex) continue;
      const nodes = held.reduceOnly.get(keyText(user));
      if (!nodes) continue;
      const changes = new OrderChanges('clob', held.pubkey, slot);
      for (const node of nodes) changes.upsert('perp', marketIndex, this.#state(held, held.view, node));
      changes.emit(emit);
    }
  }

  #difference(held: HeldClob, view: DataView, bytes: Uint8Array, slot: number, emit: Emit): void {
    const reader = this.#reader;
    const changed = changedNodes(reader, held, view, bytes);
    const removed: number[] = [];
    const upserted: number[] = [];
    for (const node of changed) {
      if (node < reader.capacity(held.view) && reader.isOpen(held.view, node)) {
        removed.push(node);
        this.#forget(held, node);
      }
    }
    for (const node of changed) {
      if (node >= reader.capacity(view) || !reader.isOpen(view, node)) continue;
      upserted.push(node);
    }
    const changes = new OrderChanges('clob', held.pubkey, slot);
    const identities = new Set(upserted.map((node) => this.#identity(view, node)));
    for (const node of removed) {
      if (identities.has(this.#identity(held.view, node))) continue;
      changes.remove('perp', held.marketIndex, {
        maker: this.#maker(held.view, node),
        orderId: reader.clientOrderId(held.view, node),
      });
    }
    for (const node of upserted) {
      if (reader.isReduceOnly(view, node)) this.#remember(held, view, node);
      if (!sameOrder(held, bytes, node, reader)) {
        changes.upsert('perp', held.marketIndex, this.#state(held, view, node));
      }
    }
    held.view = view;
    held.bytes = bytes;
    changes.emit(emit);
  }

  /** What readers of the book know an order by: its maker and client order id. */
  #identity(view: DataView, node: number): string {
    return `${keyText(this.#maker(view, node))}${this.#reader.clientOrderId(view, node)}`;
  }

  #maker(view: DataView, node: number): Uint8Array {
    return this.#lookups.userOf(this.#reader.authority(view, node), this.#reader.subAccountId(view, node));
  }

  #state(held: HeldClob, view: DataView, node: number): OrderState {
    const order = this.#reader.order(view, node);
    const maker = this.#maker(view, node);
    return {
      ...order,
      maker,
      positionBaseAmount: order.reduceOnly ? this.#lookups.cappingBase(maker, held.marketIndex) : 0n,
    };
  }

  #remember(held: HeldClob, view: DataView, node: number): void {
    const maker = keyText(this.#maker(view, node));
    const nodes = held.reduceOnly.get(maker) ?? new Set<number>();
    held.reduceOnly.set(maker, nodes.add(node));
  }

  #forget(held: HeldClob, node: number): void {
    if (!this.#reader.isReduceOnly(held.view, node)) return;
    const maker = keyText(this.#maker(held.view, node));
    const nodes = held.reduceOnly.get(maker);
    nodes?.delete(node);
    if (nodes?.size === 0) held.reduceOnly.delete(maker);
  }
}

/** Nodes that differ in any byte; after a resize also those that only one of the two has. */
function changedNodes(reader: ClobReader, held: HeldClob, view: DataView, bytes: Uint8Array): number[] {
  const before = reader.capacity(held.view);
  const after = reader.capacity(view);
  const nodes: number[] = [];
  const blocks = { offset: CLOB_NODES_OFFSET, stride: CLOB_NODE_BYTES, count: Math.min(before, after) };
  changedBlocks(held.bytes, bytes, blocks, (node) => nodes.push(node));
  for (let node = blocks.count; node < Math.max(before, after); node++) nodes.push(node);
  return nodes;
}

/** Whether a node changed in nothing but its list links. */
function sameOrder(held: HeldClob, bytes: Uint8Array, node: number, reader: ClobReader): boolean {
  if (node >= reader.capacity(held.view) || !reader.isOpen(held.view, node)) return false;
  const at = CLOB_NODES_OFFSET + node * CLOB_NODE_BYTES;
  const before = Buffer.from(held.bytes.buffer, held.bytes.byteOffset, held.bytes.byteLength);
  return (
    before.compare(bytes, at, at + reader.links.from, at, at + reader.links.from) === 0 &&
    before.compare(bytes, at + reader.links.to, at + CLOB_NODE_BYTES, at + reader.links.to, at + CLOB_NODE_BYTES) === 0
  );
}
