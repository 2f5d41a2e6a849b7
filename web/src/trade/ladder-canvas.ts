// Draws the ladder: asks above, the spread between, bids below, with bars of cumulative depth.

import { amount, decimal, decimalsNeeded } from '../format.ts';
import { type CanvasFrame, cleared } from '../parts/canvas.ts';
import type { LadderRow, Side } from './rows.ts';

const ROW_HEIGHT = 20;
const SPREAD_HEIGHT = 28;
const FONT = '12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace';
const PADDING = 10;
const PRICE_DECIMALS = 6;
const OWN_MARK_WIDTH = 3;

export interface LadderFrame extends CanvasFrame {
  readonly bids: readonly LadderRow[];
  readonly asks: readonly LadderRow[];
  readonly baseDecimals: number;
  /** Decimals of every price in the frame. */
  readonly priceDecimals: number;
  /** Decimals of every size and total in the frame. */
  readonly sizeDecimals: number;
  readonly own: Readonly<Record<Side, ReadonlySet<string>>>;
  /** The row under the pointer or chosen by key. */
  readonly chosen: { readonly side: Side; readonly index: number } | null;
}

/** How many rows of each side fit. */
export function rowsThatFit(height: number): number {
  return Math.max(1, Math.floor((height - SPREAD_HEIGHT) / 2 / ROW_HEIGHT));
}

/** Decimals that write every price exactly, at least `least`. */
export function priceDecimalsOf(rows: readonly LadderRow[], least: number): number {
  return rows.reduce((most, { price }) => Math.max(most, decimalsNeeded(price, PRICE_DECIMALS)), least);
}

/** The row at a height of the canvas; null on the spread and below the last row. */
export function rowAt(y: number, height: number, asks: number, bids: number): LadderFrame['chosen'] {
  const middle = spreadTop(height);
  if (y < middle) {
    const index = Math.floor((middle - y) / ROW_HEIGHT);
    return index < asks ? { side: 'asks', index } : null;
  }
  const index = Math.floor((y - middle - SPREAD_HEIGHT) / ROW_HEIGHT);
  return index >= 0 && index < bids ? { side: 'bids', index } : null;
}

function spreadTop(height: number): number {
  return rowsThatFit(height) * ROW_HEIGHT;
}

export function drawLadder(canvas: HTMLCanvasElement, frame: LadderFrame): void {
  const context = cleared(canvas, frame, FONT);
  if (!context) return;
  const { height } = frame;
  const deepest = [frame.bids.at(-1)?.total ?? 0n, frame.asks.at(-1)?.total ?? 0n].reduce((a, b) => (a > b ? a : b));
  const top = spreadTop(height);
  frame.asks.forEach((row, index) => {
    drawRow(context, frame, 'asks', row, index, top - (index + 1) * ROW_HEIGHT, deepest);
  });
  frame.bids.forEach((row, index) => {
    drawRow(context, frame, 'bids', row, index, top + SPREAD_HEIGHT + index * ROW_HEIGHT, deepest);
  });
  drawSpread(context, frame, top);
}

function drawRow(
  context: CanvasRenderingContext2D,
  { width, palette, baseDecimals, priceDecimals, sizeDecimals, own, chosen }: LadderFrame,
  side: Side,
  row: LadderRow,
  index: number,
  y: number,
  deepest: bigint,
): void {
  const bar = deepest === 0n ? 0 : (Number(row.total) / Number(deepest)) * width;
  const part = deepest === 0n ? 0 : (Number(row.size) / Number(deepest)) * width;
  context.fillStyle = side === 'bids' ? palette.bidBar : palette.askBar;
  context.fillRect(width - bar, y, bar, ROW_HEIGHT - 1);
  context.fillStyle = side === 'bids' ? palette.bidBarStrong : palette.askBarStrong;
  context.fillRect(width - part, y, part, ROW_HEIGHT - 1);
  if (chosen?.side === side && chosen.index === index) {
    context.fillStyle = palette.chosen;
    context.fillRect(0, y, width, ROW_HEIGHT - 1);
  }
  if (own[side].has(String(row.price))) {
    context.fillStyle = palette.own;
    context.fillRect(0, y, OWN_MARK_WIDTH, ROW_HEIGHT - 1);
  }
  const middle = y + ROW_HEIGHT / 2;
  context.textAlign = 'left';
  context.fillStyle = side === 'bids' ? palette.bid : palette.ask;
  context.fillText(amount(row.price, PRICE_DECIMALS, priceDecimals, priceDecimals), PADDING, middle);
  context.textAlign = 'right';
  context.fillStyle = palette.text;
  context.fillText(amount(row.size, baseDecimals, sizeDecimals, sizeDecimals), width * 0.68, middle);
  context.fillStyle = palette.muted;
  context.fillText(amount(row.total, baseDecimals, sizeDecimals, sizeDecimals), width - PADDING, middle);
}

/** Decimals for sizes beside a total: fewer for larger ones, so that a column fits. */
export function sizeDecimalsOf(bids: readonly LadderRow[], asks: readonly LadderRow[], baseDecimals: number): number {
  const whole = Math.max(...[bids, asks].map((rows) => Number(rows.at(-1)?.total ?? 0n))) / 10 ** baseDecimals;
  return Math.min(baseDecimals, whole >= 10_000 ? 1 : whole >= 100 ? 2 : whole >= 1 ? 4 : 6);
}

/** A size with 1 to 5 decimals, more for smaller ones. */
export function sizeText(size: bigint, baseDecimals: number): string {
  const whole = Number(size) / 10 ** baseDecimals;
  const decimals = whole >= 1000 ? 1 : whole >= 1 ? 3 : 5;
  return amount(size, baseDecimals, Math.min(decimals, baseDecimals), decimals);
}

function drawSpread(context: CanvasRenderingContext2D, frame: LadderFrame, top: number): void {
  const { width, palette, bids, asks, priceDecimals } = frame;
  context.fillStyle = palette.raised;
  context.fillRect(0, top, width, SPREAD_HEIGHT);
  const middle = top + SPREAD_HEIGHT / 2;
  context.fillStyle = palette.muted;
  const [bid] = bids;
  const [ask] = asks;
  context.textAlign = 'left';
  if (!bid || !ask) {
    context.fillText(!bid && !ask ? 'No orders' : bid ? 'No asks' : 'No bids', PADDING, middle);
    return;
  }
  const spread = ask.price - bid.price;
  const mid = (ask.price + bid.price) / 2n;
  const share = mid === 0n ? 0 : (Number(spread) / Number(mid)) * 100;
  context.fillText('Spread', PADDING, middle);
  context.textAlign = 'right';
  context.fillText(amount(spread, PRICE_DECIMALS, priceDecimals, priceDecimals), width * 0.68, middle);
  context.fillText(`${decimal(share, 3)} %`, width - PADDING, middle);
}
