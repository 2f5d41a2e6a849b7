// Compares what the ladder of the page shows with `/l2` at the same slot, while the book moves.

import type { Page } from 'playwright-core';
import { BookFeedClient } from '../../../../client/index.ts';

interface DisplayedRow {
  readonly price: string;
  readonly size: string;
  readonly sources: Readonly<Record<string, string>>;
}

export interface DisplayedLadder {
  readonly slot: number;
  readonly epoch: number;
  readonly seq: number;
  readonly bids: readonly DisplayedRow[];
  readonly asks: readonly DisplayedRow[];
}

/** The last sequence of each slot, as a client of its own sees it. */
export class LastSequences {
  readonly #client: BookFeedClient;
  readonly #bySlot = new Map<number, number>();
  #newest = 0;

  constructor(gateway: string, market: string, marketType: 'perp' | 'spot') {
    this.#client = new BookFeedClient({ url: gateway });
    this.#client.on('book', ({ message }) => {
      this.#bySlot.set(message.slot, message.seq);
      this.#newest = message.slot;
    });
    this.#client.subscribe({ market, marketType });
    this.#client.connect();
  }

  /** True when the book of a finished slot stands at this sequence. */
  isLast({ slot, seq }: DisplayedLadder): boolean {
    return slot < this.#newest && this.#bySlot.get(slot) === seq;
  }

  close(): void {
    this.#client.close();
  }
}

/** Looks in every frame; each sequence once. */
const LOOK = `(forMs) => new Promise((resolve) => {
  const seen = new Map();
  const until = performance.now() + forMs;
  const look = () => {
    const ladder = window.slotbook.ladder();
    if (ladder && !seen.has(ladder.seq)) seen.set(ladder.seq, ladder);
    if (performance.now() < until) requestAnimationFrame(look);
    else resolve([...seen.values()]);
  };
  look();
})`;

/** The ladders that the frames of a time draw. */
export function displayedLadders(page: Page, forMs: number): Promise<readonly DisplayedLadder[]> {
  return page.evaluate(`(${LOOK})(${forMs})`);
}

interface L2 {
  readonly bids: readonly DisplayedRow[];
  readonly asks: readonly DisplayedRow[];
}

/** `/l2` of a slot, cut to as many rows as the ladder shows. */
export async function l2At(orderbook: string, market: string, ladder: DisplayedLadder): Promise<L2> {
  const depth = Math.max(ladder.bids.length, ladder.asks.length);
  const answer = await fetch(`${orderbook}/l2?marketName=${market}&slot=${ladder.slot}&depth=${depth}`);
  if (!answer.ok) throw new Error(`/l2 of slot ${ladder.slot}: ${answer.status} ${await answer.text()}`);
  const { bids, asks } = (await answer.json()) as L2;
  const rows = (levels: readonly DisplayedRow[], count: number) =>
    levels.slice(0, count).map(({ price, size, sources }) => ({ price, size, sources }));
  return { bids: rows(bids, ladder.bids.length), asks: rows(asks, ladder.asks.length) };
}
