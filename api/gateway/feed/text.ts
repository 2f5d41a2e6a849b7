// JSON and checksum texts of the `book` channel. Quoted values are digits, base58 or names of ours, so only the symbol needs
// escaping.

import { crc32 } from 'node:zlib';
import type { BookView, Side } from '../../../processors/book/index.ts';
import type { BookVersion, ViewLevel, ViewOrder, ViewOrderRef } from '../../../schemas/index.ts';
import { base58 } from '../../http/base58.ts';
import { causeBody } from '../../views/bodies.ts';

/** JSON fragments of a change or a book. `gone` is null on L2 streams, which have no orders. */
export interface Body {
  readonly bids: readonly string[];
  readonly asks: readonly string[];
  readonly gone: readonly string[] | null;
}

/** The first of the slots that two changes undo; null when neither undoes one. */
export function firstReverted(one: number | null, other: number | null | undefined): number | null {
  return one === null || other === null || other === undefined ? (one ?? other ?? null) : Math.min(one, other);
}

export const EMPTY_BODY: Body = { bids: [], asks: [], gone: null };

export function isEmptyLevel({ dlob, vamm }: ViewLevel): boolean {
  return dlob === 0n && vamm === 0n;
}

export function levelEntry(level: ViewLevel): string {
  const { price, dlob, vamm } = level;
  if (isEmptyLevel(level)) return goneLevelEntry(price);
  if (vamm === 0n) return `["${price}","${dlob}"]`;
  if (dlob === 0n) return `["${price}","${vamm}","vamm"]`;
  return `["${price}","${dlob + vamm}",{"dlob":"${dlob}","vamm":"${vamm}"}]`;
}

export function goneLevelEntry(price: number): string {
  return `["${price}","0"]`;
}

/** `hasCause`: with the transaction that last wrote the order. */
export function orderEntry(order: ViewOrder, hasCause = false): string {
  const { price, size, maker, orderId, source, rank } = order;
  return `{"price":"${price}","size":"${size}","maker":"${base58(maker)}","orderId":${orderId},"source":"${source}","rank":[${rank.join()}]${hasCause ? causeMember(order) : ''}}`;
}

/** `hasCause`: with the transaction that removed the order. */
export function goneOrderEntry(order: ViewOrderRef, hasCause = false): string {
  const { maker, orderId, source } = order;
  return `{"maker":"${base58(maker)}","orderId":${orderId},"source":"${source}"${hasCause ? causeMember(order) : ''}}`;
}

function causeMember({ cause }: Pick<ViewOrderRef, 'cause'>): string {
  return `,"cause":${JSON.stringify(causeBody(cause))}`;
}

/** Identity of an order in one market. */
export function orderKey({ maker, orderId, source }: ViewOrderRef): string {
  return `${source}:${orderId}:${base58(maker)}`;
}

/** Orders of a side in queue order, down to `depth` price levels, without orders of size 0. */
export function* publishedOrders(view: BookView, side: Side, depth = Number.POSITIVE_INFINITY): Generator<ViewOrder> {
  let levels = 0;
  let price = Number.NaN;
  for (const order of view.walk(side)) {
    if (order.size <= 0n) continue;
    if (order.price !== price) {
      levels += 1;
      if (levels > depth) return;
      price = order.price;
    }
    yield order;
  }
}

function levelLine({ price, dlob, vamm }: ViewLevel): string {
  const sources = [dlob === 0n ? '' : `dlob=${dlob}`, vamm === 0n ? '' : `vamm=${vamm}`];
  return `${price} ${dlob + vamm} ${sources.filter((text) => text !== '').join()}`;
}

function orderLine({ price, size, maker, orderId, source }: ViewOrder): string {
  return `${price} ${size} ${base58(maker)} ${orderId} ${source}`;
}

/** The text under a checksum: one entry per price level, best first. README.md, Checksum. */
export interface ChecksumLines {
  /** Price levels per side; fewer only when the book has no more. */
  readonly levels: number;
  readonly bids: readonly string[];
  readonly asks: readonly string[];
}

export const EMPTY_LINES: ChecksumLines = { levels: 0, bids: [], asks: [] };

export function checksumLines(view: BookView, level: 'l2' | 'l3', levels: number): ChecksumLines {
  if (level === 'l3') return { levels, bids: orderLines(view, 'bid', levels), asks: orderLines(view, 'ask', levels) };
  const { bids, asks } = view.l2(levels);
  return { levels, bids: bids.map(levelLine), asks: asks.map(levelLine) };
}

function orderLines(view: BookView, side: Side, levels: number): string[] {
  const lines: string[] = [];
  let price = Number.NaN;
  for (const order of publishedOrders(view, side, levels)) {
    const line = orderLine(order);
    if (order.price === price) lines.push(`${lines.pop()}\n${line}`);
    else lines.push(line);
    price = order.price;
  }
  return lines;
}

/** CRC32 (IEEE) of the best `levels` price levels. */
export function checksumOf({ bids, asks }: ChecksumLines, levels: number): number {
  return crc32(['bids', ...bids.slice(0, levels), 'asks', ...asks.slice(0, levels)].join('\n'));
}

export interface StreamState extends BookVersion {
  readonly slot: number;
  /** Wall-clock milliseconds at which the server published this state; in a backfill, rendered the message. */
  readonly ts: number;
}

/** Members of a snapshot that describe its stream; diffs repeat only the number. */
export interface StreamHead {
  readonly name: string;
  readonly streamId: number;
  readonly market: string;
  readonly level: 'l2' | 'l3';
  readonly marketType: string;
  readonly marketIndex: number;
}

const checksumMember = (checksum: number | null): string => (checksum === null ? '' : `,"checksum":${checksum}`);
const listMember = (name: string, entries: readonly string[] | null): string =>
  entries === null || entries.length === 0 ? '' : `,"${name}":[${entries.join()}]`;

/** Kept short, because most messages are diffs. Leaves out lists without entries. */
export function diffFrame(
  streamId: number,
  { epoch, seq, slot, ts }: StreamState,
  prevSeq: number,
  { bids, asks, gone }: Body,
  checksum: number | null,
  revert: number | null,
): Buffer {
  const undone = revert === null ? '' : `,"revert":${revert}`;
  const version = `"epoch":${epoch},"seq":${seq},"prevSeq":${prevSeq},"slot":${slot},"ts":${ts}${undone}`;
  const changes = listMember('gone', gone) + listMember('bids', bids) + listMember('asks', asks);
  return Buffer.from(`{"diff":${streamId},${version}${changes}${checksumMember(checksum)}}`);
}

export function snapshotFrame(
  { name, streamId, market, level, marketType, marketIndex }: StreamHead,
  { epoch, seq, slot, ts }: StreamState,
  { bids, asks }: Body,
  checksum: number | null,
): Buffer {
  const stream = `"stream":"${name}","streamId":${streamId},"market":${JSON.stringify(market)},"level":"${level}"`;
  const index = `"marketType":"${marketType}","marketIndex":${marketIndex}`;
  const version = `"epoch":${epoch},"seq":${seq},"slot":${slot},"ts":${ts}`;
  const sides = `"bids":[${bids.join()}],"asks":[${asks.join()}]`;
  return Buffer.from(
    `{"channel":"book","type":"snapshot",${stream},${index},${version},${sides}${checksumMember(checksum)}}`,
  );
}
