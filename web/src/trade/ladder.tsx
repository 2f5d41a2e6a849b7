// The ladder: a canvas, its choices, and the same rows as a table for screen readers.

import { effect, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { amount, count } from '../format.ts';
import { palette } from '../parts/palette.ts';
import { useSize } from '../parts/use-size.ts';
import { requestDraw } from '../state/clock.ts';
import { freshness } from '../state/freshness.ts';
import { parametersOf } from '../state/markets.ts';
import { displayedBook, drawn, groups, ownPrices } from './book-view.ts';
import type { DisplayedBook } from './displayed-book.ts';
import {
  drawLadder,
  type LadderFrame,
  priceDecimalsOf,
  rowAt,
  rowsThatFit,
  sizeDecimalsOf,
  sizeText,
} from './ladder-canvas.ts';
import { type LadderRow, ladderRows, type Side } from './rows.ts';

const TABLE_INTERVAL_MS = 1_000;
const PRICE_DECIMALS = 6;
const SOURCE_NAMES: Readonly<Record<string, string>> = {
  dlob: 'resting orders',
  vamm: 'vAMM',
  indicative: 'indicative quotes',
};

export interface DisplayedLadder {
  readonly book: DisplayedBook;
  readonly bids: readonly LadderRow[];
  readonly asks: readonly LadderRow[];
}

/** The rows of the newest frame. */
export const displayedLadder: { current: DisplayedLadder | null } = { current: null };
/** The same, at most once a second, for the table. */
const tableRows = signal<DisplayedLadder | null>(null);

export function Ladder({ market }: { readonly market: string }) {
  const { ref, size } = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const chosen = useRef<LadderFrame['chosen']>(null);
  const details = useRef<HTMLOutputElement>(null);
  const { baseDecimals, tickSize } = parametersOf(market);
  const least = useRef({ market: '', decimals: 0 });
  if (least.current.market !== market) least.current = { market, decimals: 0 };

  useEffect(() => {
    let tableAtMs = 0;
    const draw = () => {
      const book = displayedBook.peek();
      if (!canvas.current || size.width === 0) return;
      const fit = rowsThatFit(size.height);
      const group = BigInt(groups.peek()[market] ?? '0');
      const isOfMarket = book?.market === market;
      const bids = isOfMarket ? ladderRows(book.bids, 'bids', group, fit) : [];
      const asks = isOfMarket ? ladderRows(book.asks, 'asks', group, fit) : [];
      // Decimals only grow, so that the columns stay where they are.
      const decimals = priceDecimalsOf([...bids, ...asks], least.current.decimals);
      least.current.decimals = decimals;
      drawLadder(canvas.current, {
        ...{ width: size.width, height: size.height, bids, asks, baseDecimals, priceDecimals: decimals },
        sizeDecimals: sizeDecimalsOf(bids, asks, baseDecimals),
        ...{ own: ownPrices.peek(), chosen: chosen.current, palette: palette.peek() },
        isStale: freshness.peek().isStale,
      });
      displayedLadder.current = isOfMarket ? { book, bids, asks } : null;
      describe(details.current, chosen.current, displayedLadder.current, baseDecimals);
      if (isOfMarket) drawn.value = { book };
      const nowMs = performance.now();
      if (nowMs - tableAtMs > TABLE_INTERVAL_MS || tableRows.peek()?.book.market !== book?.market) {
        tableAtMs = nowMs;
        tableRows.value = displayedLadder.current;
      }
    };
    return effect(() => {
      // Each of these brings a new frame.
      void [displayedBook.value, groups.value, ownPrices.value, palette.value, freshness.value.isStale];
      requestDraw(draw);
    });
  }, [market, size.width, size.height, baseDecimals]);

  const choose = (next: LadderFrame['chosen']) => {
    chosen.current = next;
    groups.value = { ...groups.value };
  };
  const onKey = (event: KeyboardEvent) => {
    const next = movedBy(event.key, chosen.current, displayedLadder.current);
    if (next === undefined) return;
    event.preventDefault();
    choose(next);
  };
  return (
    <div class="ladder">
      <div class="ladder-head" aria-hidden="true">
        <span>Price</span>
        <span>Size</span>
        <span>Total</span>
      </div>
      <div class="ladder-body" ref={ref}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`Order book of ${market}. Arrow keys move along the rows; the table below has the same rows.`}
          tabIndex={0}
          onPointerMove={({ offsetY }) => {
            const ladder = displayedLadder.current;
            choose(rowAt(offsetY, size.height, ladder?.asks.length ?? 0, ladder?.bids.length ?? 0));
          }}
          onPointerLeave={() => choose(null)}
          onBlur={() => choose(null)}
          onKeyDown={onKey}
        />
        <output class="ladder-details" ref={details} aria-live="polite" />
      </div>
      <LadderTable baseDecimals={baseDecimals} tickSize={tickSize} />
    </div>
  );
}

/** The next row by key; undefined for a key that moves nothing. */
function movedBy(
  key: string,
  from: LadderFrame['chosen'],
  ladder: DisplayedLadder | null,
): LadderFrame['chosen'] | undefined {
  if (key === 'Escape') return null;
  if (!ladder || (key !== 'ArrowUp' && key !== 'ArrowDown')) return undefined;
  const rows = [
    ...ladder.asks.map((_, index) => ({ side: 'asks' as const, index })).reverse(),
    ...ladder.bids.map((_, index) => ({ side: 'bids' as const, index })),
  ];
  const at = from ? rows.findIndex(({ side, index }) => side === from.side && index === from.index) : -1;
  const first = ladder.asks.length - (key === 'ArrowUp' ? 1 : 0);
  const to = at < 0 ? first : at + (key === 'ArrowUp' ? -1 : 1);
  return rows[Math.max(0, Math.min(rows.length - 1, to))] ?? null;
}

/** Writes the parts of the chosen row: total, distance from the middle, and sources. */
function describe(
  element: HTMLOutputElement | null,
  chosen: LadderFrame['chosen'],
  ladder: DisplayedLadder | null,
  baseDecimals: number,
): void {
  if (!element) return;
  const row = chosen && ladder?.[chosen.side][chosen.index];
  const text = row && chosen ? rowText(row, chosen.side, baseDecimals) : '';
  if (element.textContent !== text) element.textContent = text;
  element.hidden = text === '';
}

function rowText({ price, size, total, sources, levels }: LadderRow, side: Side, baseDecimals: number): string {
  const parts = Object.entries(sources).map(
    ([name, part]) => `${SOURCE_NAMES[name] ?? name} ${sizeText(part ?? 0n, baseDecimals)}`,
  );
  const grouped = levels > 1 ? `, ${count(levels)} levels` : '';
  return [
    `${side === 'bids' ? 'Bid' : 'Ask'} ${amount(price, PRICE_DECIMALS)}${grouped}`,
    `size ${sizeText(size, baseDecimals)}, total ${sizeText(total, baseDecimals)}`,
    `of ${parts.join(' and ')}`,
  ].join('\n');
}

function LadderTable({ baseDecimals }: { readonly baseDecimals: number; readonly tickSize: string }) {
  const ladder = tableRows.value;
  if (!ladder) return null;
  const { book } = ladder;
  const rows = [
    ...ladder.asks.toReversed().map((row) => ({ side: 'Ask', row })),
    ...ladder.bids.map((row) => ({ side: 'Bid', row })),
  ];
  return (
    <table class="hidden" data-testid="ladder-table" data-slot={book.slot} data-seq={book.seq} data-epoch={book.epoch}>
      <caption>
        Order book of {book.market} at slot {count(book.slot)}
      </caption>
      <thead>
        <tr>
          {['Side', 'Price', 'Size', 'Total'].map((head) => (
            <th key={head} scope="col">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ side, row }) => (
          <tr key={`${side}${row.price}`} data-price={String(row.price)} data-size={String(row.size)}>
            <td>{side}</td>
            <td>{amount(row.price, PRICE_DECIMALS)}</td>
            <td>{sizeText(row.size, baseDecimals)}</td>
            <td>{sizeText(row.total, baseDecimals)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
