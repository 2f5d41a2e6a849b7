// Slot gauges of each published book, its market and its oracle, under the predecessor's names.

import { Gauge, type Registry } from 'prom-client';
import { type BookViewHead, type MarketView, marketKey } from '../../schemas/index.ts';
import type { MarketRegistry } from './registry.ts';

const SLOTS: readonly (readonly [name: string, help: string, slotOf: (head: BookViewHead) => number | null])[] = [
  ['dlob_slot', 'Slot of the newest published book', ({ slot }) => slot],
  ['market_slot', 'Slot of the market data in it', ({ marketSlot }) => marketSlot],
  ['oracle_slot', 'Slot of the oracle price in it', ({ oracle }) => (oracle ? Number(oracle.slot) : null)],
];

function labelsOf({ marketIndex, marketType, symbol }: MarketView) {
  return { marketIndex: String(marketIndex), marketType, marketName: symbol.toUpperCase() };
}

/** Registers the gauges. Markets without a published book have no value. */
export function registerSlotMetrics(
  registry: Registry,
  markets: MarketRegistry,
  headOf: (marketKey: string) => BookViewHead | null,
): void {
  for (const [name, help, slotOf] of SLOTS) {
    new Gauge({
      name,
      help,
      labelNames: ['marketIndex', 'marketType', 'marketName'],
      registers: [registry],
      collect() {
        this.reset();
        for (const market of markets.list()) {
          const head = headOf(marketKey(market));
          const slot = head && slotOf(head);
          if (slot !== null) this.set(labelsOf(market), slot);
        }
      },
    });
  }
}
