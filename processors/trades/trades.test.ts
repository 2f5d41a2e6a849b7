// Fills as the trades channel publishes them: the projection, the memory of what was seen, and the role over a real log.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import bs58 from 'bs58';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { type EventLog, openEventLog, readConfig, silentLogger } from '../../platform/index.ts';
import { eventually } from '../../platform/testing/eventually.ts';
import { type ChainEvent, decodeMessage, encodeEvent, eventKey, partitionOf, TOPICS } from '../../schemas/index.ts';
import { fillEvent } from '../history/testing/events.ts';
import { ProjectionError, tradeOf } from './projection.ts';
import { startTrades, TRADES_GROUP } from './role.ts';
import { SEEN_IDS, SeenEvents } from './seen.ts';

const withData = (event: ChainEvent, data: Record<string, unknown>): ChainEvent => ({
  ...event,
  data: { ...event.data, ...data },
});

describe('projection', () => {
  it('keeps raw integers and says null where the program says nothing', () => {
    const event = withData(fillEvent(4), { market_type: 'perp', market_index: 3, maker: null, maker_fee: null });
    const trade = tradeOf(event);
    expect(trade).toMatchObject({
      marketType: 'perp',
      marketIndex: 3,
      action: 'fill',
      txSig: bs58.encode(event.signature),
      txSigIndex: event.eventIndex,
      slot: event.slot,
      maker: null,
      makerFee: null,
      baseAssetAmountFilled: event.data.base_asset_amount_filled,
      quoteAssetAmountFilled: event.data.quote_asset_amount_filled,
    });
  });
  it('passes over every other event and action', () => {
    expect(tradeOf(withData(fillEvent(1), { action: 'place' }))).toBeNull();
    expect(tradeOf(withData(fillEvent(1), { base_asset_amount_filled: null }))).toBeNull();
    expect(tradeOf({ ...fillEvent(1), name: 'OrderRecord' })).toBeNull();
  });
  it('refuses a fill whose fields are not what they must be', () => {
    expect(() => tradeOf(withData(fillEvent(1), { oracle_price: null }))).toThrow(ProjectionError);
    expect(() => tradeOf(withData(fillEvent(1), { market_type: 'unknown(2)' }))).toThrow(ProjectionError);
  });
});

describe('seen events', () => {
  const signature = (n: number) => {
    const bytes = Buffer.alloc(64);
    bytes.writeUInt32LE(n, 0);
    return bytes;
  };

  it('is the same after a restart, wherever it stood', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 900 }), fc.nat(40), (numbers, every) => {
        const whole = new SeenEvents();
        let broken = new SeenEvents();
        const saved = new Map<string, Uint8Array>();
        for (const [at, number] of numbers.entries()) {
          const isNew = broken.add(signature(number), number % 3);
          expect(isNew).toBe(whole.add(signature(number), number % 3));
          if (at % (every + 1) !== 0) continue;
          for (const { name, bytes } of broken.takeChanges()) saved.set(name, bytes);
          broken = new SeenEvents();
          broken.restore([...saved].map(([name, bytes]) => ({ name, bytes })));
        }
      }),
      { numRuns: 20 },
    );
  });
  it('forgets the oldest first', () => {
    const seen = new SeenEvents();
    for (let n = 0; n <= SEEN_IDS; n++) seen.add(signature(n), 0);
    expect(seen.add(signature(1), 0)).toBe(false);
    expect(seen.add(signature(0), 0)).toBe(true);
  });
});

describe('trades role', () => {
  it('publishes each fill once, also when it is repeated after a restart', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'trades-role-'));
    const config = readConfig({}, { dataDir: folder, logLevel: 'silent' });
    const log = await openEventLog(config, silentLogger());
    try {
      await log.ensureTopics([TOPICS.events]);
      const events = [1, 2, 3].map((n) => withData(fillEvent(n), { market_type: 'perp', market_index: 0 }));
      const feed = (some: readonly ChainEvent[]) =>
        log.append(
          TOPICS.events,
          some.map((event) => ({ key: eventKey(event), value: encodeEvent(event) })),
        );
      const start = () => startTrades({ config, log, logger: silentLogger(), metrics: new Registry() });
      await feed([events[0], events[1], events[0]] as ChainEvent[]);
      await log.append(TOPICS.events, [{ key: 'perp-0', value: Buffer.from('no record') }]);
      const first = await start();
      await caughtUp(log, 4n);
      await first.stop();
      await feed([events[1], events[2]] as ChainEvent[]);
      const second = await start();
      await caughtUp(log, 6n);
      await second.stop();
      const partition = partitionOf(TOPICS.tradeViews, 'perp-0');
      const trades = await log.read(TOPICS.tradeViews, partition, 0n, 100);
      const signatures = trades.map(({ value }) => {
        const { name, value: trade } = decodeMessage(value);
        return name === 'TradeView' ? trade.txSig : '';
      });
      expect(signatures).toEqual(events.map(({ signature }) => bs58.encode(signature)));
      expect((await log.bounds(TOPICS.deadLetters, 0)).next).toBe(1n);
    } finally {
      await log.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

function caughtUp(log: EventLog, next: bigint): Promise<void> {
  const key = `${TOPICS.events.name}/${partitionOf(TOPICS.events, 'perp-0')}`;
  return eventually(async () => {
    const { positions } = await log.load(TRADES_GROUP);
    expect(positions.get(key)).toBe(next);
  });
}
