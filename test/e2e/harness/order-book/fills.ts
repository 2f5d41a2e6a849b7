// Tests what the guide says of a fill and its diff (docs/guides/follow-a-book.md). A diff reduces the maker's order to the rest
// that the fill leaves. It has the slot of the fill, or is the first message of a later slot at the latest.

import { describe, expect, it } from 'vitest';
import { BookFeedClient } from '../../../../client/index.ts';
import { eventually } from '../../../support/processes/processes.ts';
import { FeedClient } from '../keeper/feed-client.ts';
import type { OrderBookRun } from './run.ts';

/** Fills of makers whose orders were seen in the book. */
const FILLS_AT_LEAST = 10;
const BASE = 1e9;
const WAIT_MS = 120_000;

interface Fill {
  readonly slot: number;
  readonly maker: string;
  readonly makerOrderId: number;
  readonly makerOrderBaseAssetAmount: number;
  readonly makerOrderCumulativeBaseAssetAmountFilled: number;
}

/** Size of an order after a message, 1e9; 0 when it is gone. `message`: its number in the stream. */
interface Sight {
  readonly message: number;
  readonly slot: number;
  readonly size: number;
}

export function describeFills(run: () => OrderBookRun): void {
  describe('a fill beside the book', () => {
    it('shows in the order of its maker, at its slot or later', async () => {
      const url = run().server.endpoints.gateway ?? '';
      const sights = new Map<string, Sight[]>();
      /** Slots of the stream's messages. */
      const slots: number[] = [];
      const see = (id: string, size: number): void => {
        const sight = { message: slots.length - 1, slot: slots.at(-1) ?? 0, size };
        sights.set(id, [...(sights.get(id) ?? []), sight]);
      };
      const client = new BookFeedClient({ url });
      client.on('book', ({ stream, message }) => {
        if (!stream.startsWith('perp_0_')) return;
        const { slot, bids = [], asks = [] } = message;
        slots.push(slot);
        if ('gone' in message) {
          for (const { maker, orderId } of message.gone ?? []) see(`${maker} ${orderId}`, 0);
        }
        for (const entry of [...bids, ...asks]) {
          if ('maker' in entry) see(`${entry.maker} ${entry.orderId}`, Number(entry.size));
        }
      });
      // Every market, so that it does not matter whether this one is listed yet.
      client.subscribe({ market: '*', marketType: 'perp', level: 'l3', checksum: true });
      client.connect();
      const trades = await FeedClient.connect(url);
      await eventually('the book', () => sights.size > 0, WAIT_MS);
      trades.send({ type: 'subscribe', channel: 'trades', market: 'SOL-PERP', marketType: 'perp' });
      const fills = (): Fill[] =>
        trades.messages.flatMap(({ data }) => (data && 'maker' in data ? [data as unknown as Fill] : []));
      const isKnown = ({ maker, makerOrderId, slot }: Fill): boolean =>
        sights.get(`${maker} ${makerOrderId}`)?.some((sight) => sight.slot < slot) ?? false;
      await eventually('fills of orders in the book', () => fills().filter(isKnown).length >= FILLS_AT_LEAST, WAIT_MS);
      for (const fill of fills().filter(isKnown)) {
        const left = Math.round(
          (fill.makerOrderBaseAssetAmount - fill.makerOrderCumulativeBaseAssetAmountFilled) * BASE,
        );
        const seen = (): readonly Sight[] => sights.get(`${fill.maker} ${fill.makerOrderId}`) ?? [];
        // Gone and back is an order that moves between an account and the market-level book, so only the last word counts.
        const rest = (): Sight | undefined => {
          const last = seen().at(-1);
          if (left === 0) return last?.size === 0 ? last : undefined;
          return seen().find(({ size }) => size > 0 && size <= left) ?? (last?.size === 0 ? last : undefined);
        };
        const { slot } = await eventually(`the diff of a fill in slot ${fill.slot}`, rest, WAIT_MS);
        expect(slot).toBeGreaterThanOrEqual(fill.slot);
        // By slot, fills first, no change stands before its fill. An order that moves is gone for a moment, so zero proves nothing.
        const early = seen().filter((sight) => sight.slot < fill.slot && sight.size > 0 && sight.size <= left);
        expect(early, `fill of slot ${fill.slot}, ${left} left`).toEqual([]);
        const beyond = (): number => slots.findIndex((one) => one > fill.slot);
        await eventually(`a book beyond slot ${fill.slot}`, () => beyond() >= 0, WAIT_MS);
        const then = seen().findLast((sight) => sight.message <= beyond());
        expect(then?.size ?? 0, `the book beyond slot ${fill.slot}`).toBeLessThanOrEqual(left);
      }
      client.close();
      trades.close();
    });
  });
}
