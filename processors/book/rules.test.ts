// Rules of the published book without check values, by the names in docs/internals/book-rules.md.

import { describe, expect, it } from 'vitest';
import {
  keyOf,
  marketOf,
  oracleOf,
  orderOf,
  ordersOf,
  PERP,
  slotOf,
} from '../../test/support/processors/book/messages.ts';
import { BookEngine, type BookMessage, BookView, indicativeView } from './index.ts';

/** A reader's book after these messages. */
function viewAfter(messages: readonly BookMessage[]): BookView {
  const engine = new BookEngine(PERP);
  const view = new BookView();
  for (const message of messages) {
    const diff = engine.apply(message);
    if (diff) expect(view.apply(diff)).toBe('applied');
  }
  return view;
}

describe('expiry (docs/internals/book-rules.md, "Visibility")', () => {
  it('keeps an order that is expired but still open in every output', () => {
    const size = { baseAssetAmount: 2n, maxTs: 1_700_000_000n };
    const view = viewAfter([
      oracleOf({ slot: 10, price: 100n, publishTs: 1_800_000_000n }),
      ordersOf({
        slot: 10,
        upserts: [
          orderOf({ ...size, maker: keyOf('ann'), price: 90n }),
          orderOf({ ...size, maker: keyOf('bob'), direction: 'short', oraclePriceOffset: 10n }),
        ],
      }),
      slotOf(1_000_000),
    ]);
    const quotes = [{ isOracleOffset: false, bid: { price: 80n, size: 1n }, ask: null }];
    const quoted = indicativeView(view, [{ maker: keyOf('quoter'), lapsesAtMs: 1, quotes }]);
    for (const output of [view, quoted ?? view]) {
      expect(output.l2(1)).toEqual({
        bids: [{ price: 90, dlob: 2n, vamm: 0n }],
        asks: [{ price: 110, dlob: 2n, vamm: 0n }],
      });
      expect(output.grouped(10).bids[0]).toEqual({ price: 90, dlob: 2n, vamm: 0n });
      const { bids, asks } = output.l3();
      expect([bids[0]?.maker, asks[0]?.maker]).toEqual([keyOf('ann'), keyOf('bob')]);
    }
    expect([view.bestMakers('bid'), view.bestMakers('ask')]).toEqual([[keyOf('ann')], [keyOf('bob')]]);
  });
});

describe('vAMM with an old oracle', () => {
  const levels = (oracleSource: string, slot: number) => {
    const oracle = oracleOf({ slot: 100, oracleSlot: 100n });
    return viewAfter([marketOf({ slot: 100, oracleSource }), oracle, slotOf(slot)]).l2();
  };
  it('quotes at 160 slots and not at 161, but always with a pre-launch oracle', () => {
    const counts = (source: string, slot: number) => Object.values(levels(source, slot)).map(({ length }) => length);
    expect(counts('pythLazer', 260)).toEqual([100, 100]);
    expect(counts('pythLazer', 261)).toEqual([0, 0]);
    expect(counts('prelaunch', 261)).toEqual([100, 100]);
    expect(counts('prelaunch', 1_000_000)).toEqual([100, 100]);
  });
});
