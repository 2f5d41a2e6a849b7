// The depth chart of the shown book.

import { effect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { palette } from '../parts/palette.ts';
import { useSize } from '../parts/use-size.ts';
import { requestDraw } from '../state/clock.ts';
import { freshness } from '../state/freshness.ts';
import { parametersOf } from '../state/markets.ts';
import { displayedBook } from './book-view.ts';
import { drawDepth } from './depth-canvas.ts';

export function Depth({ market }: { readonly market: string }) {
  const { ref, size } = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const { baseDecimals } = parametersOf(market);
  useEffect(() => {
    const draw = () => {
      const book = displayedBook.peek();
      if (!canvas.current || size.width === 0 || book?.market !== market) return;
      drawDepth(canvas.current, {
        ...{ width: size.width, height: size.height, bids: book.bids, asks: book.asks, baseDecimals },
        ...{ isStale: freshness.peek().isStale, palette: palette.peek() },
      });
    };
    return effect(() => {
      void [displayedBook.value, palette.value, freshness.value.isStale];
      requestDraw(draw);
    });
  }, [market, size.width, size.height, baseDecimals]);
  return (
    <div class="depth" ref={ref}>
      <canvas ref={canvas} role="img" aria-label={`Depth of ${market} within 2 percent of the middle price`} />
    </div>
  );
}
