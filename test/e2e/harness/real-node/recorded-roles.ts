// The pipeline over a real validator that has the recorded accounts: ingest alone, so that it can be killed, and the readers.

import path from 'node:path';
import { expect } from 'vitest';
import { type ChainGap, decodeGaps, GAPS_GROUP, GAPS_KEY } from '../../../../schemas/index.ts';
import { driftIdlPath } from '../../../peers/drift-idl.ts';
import { openLogAt } from '../../../support/log/open-at.ts';
import { eventually, type Running, type Settings, startRoles } from '../../../support/processes/processes.ts';
import type { Levels, RecordedExchange } from './recorded-exchange.ts';
import type { Validator } from './validator.ts';

/** A level of /l2, or an order of /l3. */
interface Level {
  readonly price: string;
  readonly size: string;
  readonly sources?: Readonly<Record<string, string>>;
}
interface Book {
  readonly slot: number;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

export class RecordedRoles {
  readonly #dataDir: string;
  readonly #settings: Settings;
  readonly #exchange: RecordedExchange;
  readonly #readers: Running;
  #ingest: Running;

  private constructor(settings: Settings, exchange: RecordedExchange, ingest: Running, readers: Running) {
    this.#dataDir = String(settings.DATA_DIR);
    this.#settings = settings;
    this.#exchange = exchange;
    this.#ingest = ingest;
    this.#readers = readers;
  }

  static async start({ rpcUrl, wsUrl }: Validator, folder: string, exchange: RecordedExchange): Promise<RecordedRoles> {
    const settings = {
      DATA_DIR: path.join(folder, 'data'),
      DEFINITION: await driftIdlPath(),
      RPC_URL: rpcUrl,
      RPC_WS_URL: wsUrl,
      SLOT_STALL_MS: 2_000,
    };
    const [ingest, readers] = await Promise.all([
      startRoles(['ingest'], settings),
      startRoles(['book', 'orderbook'], settings),
    ]);
    return new RecordedRoles(settings, exchange, ingest, readers);
  }

  async restartIngestAfterKill(): Promise<void> {
    await this.#ingest.kill9();
    this.#ingest = await startRoles(['ingest'], this.#settings);
  }

  /** Waits until each book stands at `slot` or later, and is the one of the recorded orders. */
  async expectBooks(slot: number): Promise<void> {
    for (const [market, levels] of this.#exchange.books) {
      const compare = async () => {
        const book = await this.#book(market);
        expect(book.slot).toBeGreaterThanOrEqual(slot);
        expect(ordersOf(book), market).toEqual(levels);
        return true;
      };
      await eventually(`${market} at slot ${slot}`, compare).catch(compare);
    }
  }

  /** Waits for a filled gap of this reason. */
  async filledGap(reason: string): Promise<void> {
    const wanted = { reason, filledAtMs: expect.any(Number) };
    const compare = async () => {
      expect(await this.#gaps()).toContainEqual(expect.objectContaining(wanted));
      return true;
    };
    await eventually(`gap ${reason}`, compare).catch(compare);
  }

  /** Waits for a gap that stays open and ends at this slot or later. */
  async openGap(slot: number): Promise<void> {
    const compare = async () => {
      const open = (await this.#gaps()).filter(({ filledAtMs }) => filledAtMs === null);
      expect(Math.max(...open.map(({ toSlot }) => toSlot))).toBeGreaterThanOrEqual(slot);
      return true;
    };
    await eventually(`open gap at slot ${slot}`, compare).catch(compare);
  }

  /** Waits until no gap is open, but those of a reason. */
  async untilFilled(exceptReason: string): Promise<void> {
    const isOpen = ({ filledAtMs, reason }: ChainGap) => filledAtMs === null && reason !== exceptReason;
    const compare = async () => {
      expect((await this.#gaps()).filter(isOpen)).toEqual([]);
      return true;
    };
    await eventually('all gaps filled', compare).catch(compare);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#ingest.stop(), this.#readers.stop()]);
  }

  async #gaps(): Promise<readonly ChainGap[]> {
    const log = await openLogAt(this.#dataDir);
    try {
      const { state } = await log.load(GAPS_GROUP);
      return decodeGaps(state.get(GAPS_KEY) ?? Buffer.from('[]'));
    } finally {
      await log.close();
    }
  }

  async #book(market: string): Promise<Book> {
    const response = await fetch(`${this.#readers.endpoints.orderbook}${market}`);
    if (!response.ok) throw new Error(`${market} answers ${response.status}`);
    return (await response.json()) as Book;
  }
}

/** Size by price of the orders, without that of the vAMM. */
function ordersOf(book: Book): Levels {
  const side = (levels: readonly Level[]) => {
    const sizes: Record<string, string> = {};
    for (const { price, size, sources } of levels) {
      const ofOrders = sources === undefined ? size : sources.dlob;
      if (ofOrders !== undefined) sizes[price] = String(BigInt(sizes[price] ?? 0) + BigInt(ofOrders));
    }
    return sizes;
  };
  return { bids: side(book.bids), asks: side(book.asks) };
}
