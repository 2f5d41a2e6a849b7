// Reads the market-level order account: a header and an arena of nodes
// (docs/internals/accounts.md, "Market-level order account").

import type { AccountDefinition, OrderState, StructLayout } from '../../schemas/index.ts';
import { CLOB_NODE_BYTES, CLOB_NODE_FLAGS, CLOB_NODES_OFFSET, PUBKEY_BYTES } from '../../schemas/index.ts';
import { AccountError, type CompiledAccount, compileAccount } from './account.ts';
import { requireField } from './layout.ts';
import { bytesAt } from './values.ts';

const { open: FLAG_OPEN, ask: FLAG_ASK, reduceOnly: FLAG_REDUCE_ONLY } = CLOB_NODE_FLAGS;

/** A book order without its maker's address and position, which come from other accounts. */
export type NodeOrder = Omit<OrderState, 'maker' | 'positionBaseAmount'>;

export interface ClobReader {
  readonly account: CompiledAccount;
  /** Throws AccountError when the data is another account or ends before the nodes. */
  open(data: Uint8Array): DataView;
  marketIndex(view: DataView): number;
  /** Number of nodes that fit in the data. Bounds all reads, whatever the header claims. */
  capacity(view: DataView): number;
  isOpen(view: DataView, node: number): boolean;
  isReduceOnly(view: DataView, node: number): boolean;
  /** Order id from the exchange program, unique per maker. */
  clientOrderId(view: DataView, node: number): number;
  authority(view: DataView, node: number): Uint8Array;
  subAccountId(view: DataView, node: number): number;
  order(view: DataView, node: number): NodeOrder;
  /** Byte range of a node's list links, as offsets in the node. A neighbour's change alters them, so diffs skip them. */
  readonly links: { readonly from: number; readonly to: number };
}

/** Throws DefinitionError when the header or node lacks a field that the book needs. */
export function compileClob(definition: AccountDefinition, node: StructLayout): ClobReader {
  const account = compileAccount(definition);
  const marketAt = requireField(definition.layout, 'market_index').offset;
  const within = (name: string) => CLOB_NODES_OFFSET + requireField(node, name).offset;
  const flagsAt = within('bit_flags');
  const clientOrderIdAt = within('client_order_id');
  const authorityAt = within('authority');
  const subAccountAt = within('sub_account_id');
  const read = nodeReader(node);
  const flags = (view: DataView, index: number) => view.getUint8(flagsAt + index * CLOB_NODE_BYTES);
  return {
    account,
    open: (data) => {
      const view = account.open(data);
      if (data.byteLength < CLOB_NODES_OFFSET) {
        throw new AccountError(
          'wrong_length',
          `${account.name} has ${data.byteLength} bytes, needs ${CLOB_NODES_OFFSET}`,
        );
      }
      return view;
    },
    marketIndex: (view) => view.getUint16(marketAt, true),
    capacity: (view) => Math.max(0, Math.floor((view.byteLength - CLOB_NODES_OFFSET) / CLOB_NODE_BYTES)),
    isOpen: (view, index) => (flags(view, index) & FLAG_OPEN) !== 0,
    isReduceOnly: (view, index) => (flags(view, index) & FLAG_REDUCE_ONLY) !== 0,
    clientOrderId: (view, index) => view.getUint32(clientOrderIdAt + index * CLOB_NODE_BYTES, true),
    authority: (view, index) => bytesAt(view, authorityAt + index * CLOB_NODE_BYTES, PUBKEY_BYTES),
    subAccountId: (view, index) => view.getUint16(subAccountAt + index * CLOB_NODE_BYTES, true),
    order: (view, index) => read(view, CLOB_NODES_OFFSET + index * CLOB_NODE_BYTES),
    links: { from: requireField(node, 'prev').offset, to: requireField(node, 'bit_flags').offset },
  };
}

function nodeReader(node: StructLayout): (view: DataView, at: number) => NodeOrder {
  const at = (name: string) => requireField(node, name).offset;
  const [flagsAt, clientAt, priceAt, sizeAt] = [
    at('bit_flags'),
    at('client_order_id'),
    at('price'),
    at('base_asset_amount'),
  ];
  const [placedAt, maxTsAt, idAt] = [at('placed_slot'), at('max_ts'), at('order_id')];
  return (view, start) => {
    const flags = view.getUint8(start + flagsAt);
    return {
      orderId: view.getUint32(start + clientAt, true),
      orderType: 'limit',
      direction: (flags & FLAG_ASK) !== 0 ? 'short' : 'long',
      price: view.getBigUint64(start + priceAt, true),
      baseAssetAmount: view.getBigUint64(start + sizeAt, true),
      baseAssetAmountFilled: 0n,
      triggerPrice: 0n,
      triggerCondition: 'above',
      oraclePriceOffset: 0n,
      postOnly: false,
      reduceOnly: (flags & FLAG_REDUCE_ONLY) !== 0,
      auctionDurationSlots: 0,
      auctionStartPrice: 0n,
      auctionEndPrice: 0n,
      placedSlot: Number(view.getBigUint64(start + placedAt, true)),
      maxTs: view.getBigInt64(start + maxTsAt, true),
      bitFlags: flags,
      bookOrderId: view.getBigUint64(start + idAt, true),
    };
  };
}
