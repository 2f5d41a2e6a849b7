// Draws the depth chart: cumulative size by price around the middle.

import { amount, price as priceText } from '../format.ts';
import { type CanvasFrame, cleared } from '../parts/canvas.ts';
import type { Level } from './rows.ts';

const FONT = '11px system-ui, sans-serif';
const AXIS_HEIGHT = 20;
const PADDING = 8;
/** Share of the price on each side of the middle that the chart shows. */
const REACH = 0.02;

export interface DepthFrame extends CanvasFrame {
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
  readonly baseDecimals: number;
}

interface Point {
  readonly price: number;
  readonly total: number;
}

/** Cumulative sizes of the levels within `reach` of the middle. */
function depthPoints(levels: readonly Level[], middle: number, reach: number): readonly Point[] {
  let total = 0;
  const points: Point[] = [];
  for (const level of levels) {
    const price = Number(level.price);
    if (Math.abs(price - middle) > reach) break;
    total += Number(level.size);
    points.push({ price, total });
  }
  return points;
}

export function drawDepth(canvas: HTMLCanvasElement, frame: DepthFrame): void {
  const { width, height, palette, bids, asks } = frame;
  const context = cleared(canvas, frame, FONT);
  if (!context) return;
  const [bid, ask] = [bids[0], asks[0]];
  if (!bid || !ask) return;
  const middle = (Number(bid.price) + Number(ask.price)) / 2;
  const reach = middle * REACH;
  const below = depthPoints(bids, middle, reach);
  const above = depthPoints(asks, middle, reach);
  const most = Math.max(below.at(-1)?.total ?? 0, above.at(-1)?.total ?? 0, 1);
  const floor = height - AXIS_HEIGHT;
  const xOf = (price: number) => ((price - middle + reach) / (2 * reach)) * width;
  const yOf = (total: number) => floor - (total / most) * (floor - 2 * PADDING);
  area(context, below, 0, xOf, yOf, floor, palette.bid, palette.bidBar);
  area(context, above, width, xOf, yOf, floor, palette.ask, palette.askBar);
  drawAxis(context, frame, middle, reach, most);
}

function area(
  context: CanvasRenderingContext2D,
  points: readonly Point[],
  edge: number,
  xOf: (price: number) => number,
  yOf: (total: number) => number,
  floor: number,
  line: string,
  fill: string,
): void {
  const [first] = points;
  if (!first) return;
  context.beginPath();
  context.moveTo(xOf(first.price), floor);
  let y = floor;
  for (const { price, total } of points) {
    context.lineTo(xOf(price), y);
    y = yOf(total);
    context.lineTo(xOf(price), y);
  }
  context.lineTo(edge, y);
  context.strokeStyle = line;
  context.lineWidth = 1.5;
  context.stroke();
  context.lineTo(edge, floor);
  context.closePath();
  context.fillStyle = fill;
  context.fill();
}

function drawAxis(
  context: CanvasRenderingContext2D,
  { width, height, palette, baseDecimals }: DepthFrame,
  middle: number,
  reach: number,
  most: number,
): void {
  context.fillStyle = palette.muted;
  const y = height - AXIS_HEIGHT / 2;
  const label = (share: number, align: CanvasTextAlign, x: number) => {
    context.textAlign = align;
    context.fillText(priceText((middle + share * reach) / 1e6), x, y);
  };
  label(-1, 'left', PADDING);
  label(0, 'center', width / 2);
  label(1, 'right', width - PADDING);
  context.textAlign = 'left';
  context.fillText(amount(BigInt(Math.round(most)), baseDecimals, 0, 2), PADDING, PADDING + 6);
}
