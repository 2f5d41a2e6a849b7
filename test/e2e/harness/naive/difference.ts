// Compares a client's book with the accounts of the chain.

import type { BookKeeper } from '../../../../client/index.ts';
import { byPrice, type NaiveBook, type NaiveOrder } from './book.ts';

export interface Shape {
  readonly level: 'l2' | 'l3';
  readonly depth: number | null;
}

/** One line per level (price, size by source) or order (price, size, maker, id, source), best first, orders in queue order. */
export interface BookLines {
  readonly bids: readonly string[];
  readonly asks: readonly string[];
}

const SIDES = ['bids', 'asks'] as const;

export function keeperLines(keeper: BookKeeper): BookLines {
  const lines = (side: 'bids' | 'asks') =>
    keeper.level === 'l2'
      ? keeper.levels(side).map(({ price, sources }) => levelLine(price, sources))
      : keeper
          .orders(side)
          .map(({ price, size, maker, orderId, source }) => `${price} ${size} ${maker} ${orderId} ${source}`);
  return { bids: lines('bids'), asks: lines('asks') };
}

/** Null when they agree. Of orders at one price, accounts give the queue only of those on the market-level book. */
export function differenceOf(naive: NaiveBook, held: BookLines, { level, depth }: Shape): string | null {
  for (const side of SIDES) {
    if (level === 'l2') {
      const levels = naive.l2[side].slice(0, depth ?? undefined);
      const expected = levels.map(({ price, sources }) => levelLine(price, sources));
      const difference = firstDifference(held[side], expected);
      if (difference) return `${side} of l2: ${difference}`;
      continue;
    }
    const orders = held[side].map(orderOf);
    const prices = new Set([...new Set(naive.l3[side].map(({ price }) => price))].slice(0, depth ?? undefined));
    const visible = naive.l3[side].filter(({ price }) => prices.has(price));
    const line = ({ price, size, maker, orderId }: NaiveOrder) => `${price} ${size} ${maker} ${orderId}`;
    const difference = firstDifference(
      [...orders].sort(byPrice(side)).map(line),
      [...visible].sort(byPrice(side)).map(line),
    );
    if (difference) return `${side} of l3: ${difference}`;
    const onBook = new Set(visible.map(({ maker, orderId }) => `${maker}:${orderId}`));
    const queue = orders.filter(({ source }) => source === 'clob').map(({ maker, orderId }) => `${maker}:${orderId}`);
    const wrong = firstDifference(
      queue,
      naive.clobQueue[side].filter((id) => onBook.has(id)),
    );
    if (wrong) return `${side} queue: ${wrong}`;
  }
  return null;
}

function levelLine(
  price: bigint | string,
  { dlob = 0n, vamm = 0n }: Readonly<Record<string, bigint | string>>,
): string {
  return `${price} ${dlob} ${vamm}`;
}

function orderOf(line: string) {
  const [price = '', size = '', maker = '', orderId, source = ''] = line.split(' ');
  return { price, size, maker, orderId: Number(orderId), source };
}

function firstDifference(held: readonly string[], expected: readonly string[]): string | null {
  const length = Math.max(held.length, expected.length);
  for (let at = 0; at < length; at += 1) {
    if (held[at] !== expected[at]) return `${held[at] ?? 'nothing'} instead of ${expected[at] ?? 'nothing'} at ${at}`;
  }
  return null;
}
