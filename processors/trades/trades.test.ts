// Fills as the trades channel publishes them: the trade view, the ring of seen ids, and the role over a real log.

import bs58 from 'bs58';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Config, type EventLog, silentLogger } from '../../platform/index.ts';
import {
  type ChainEvent,
  decodeMessage,
  encodeEvent,
  eventKey,
  partitionOf,
  TOPICS,
  type Topic,
  type TradeView,
} from '../../schemas/index.ts';
import { temporaryLog } from '../../test/support/log/temporary-log.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { fillEvent } from '../../test/support/processors/history/events.ts';
import { startTrades } from '../trades.ts';
import { Numbering } from './numbering.ts';
import { TRADES_GROUP } from './role.ts';
import { SEEN_IDS, SeenEvents } from './seen.ts';
import { fillOf, TradeError } from './trade-view.ts';

const withData = (event: ChainEvent, data: Record<string, unknown>): ChainEvent => ({
  ...event,
  data: { ...event.data, ...data },
});

describe('trade view', () => {
  it('keeps raw integers, and null for absent optionals', () => {
    const event = withData(fillEvent(4), { market_type: 'perp', market_index: 3, maker: null, maker_fee: null });
    const trade = fillOf(event);
    expect(trade).toMatchObject({
      marketType: 'perp',
      marketIndex: 3,
      action: 'fill',
      txSig: bs58.encode(event.signature),
      txSigIndex: event.eventIndex,
      slot: event.slot,
      txIndex: event.txIndex,
      maker: null,
      makerFee: null,
      baseAssetAmountFilled: event.data.base_asset_amount_filled,
      quoteAssetAmountFilled: event.data.quote_asset_amount_filled,
    });
  });
  it('ignores every other event and action', () => {
    expect(fillOf(withData(fillEvent(1), { action: 'place' }))).toBeNull();
    expect(fillOf(withData(fillEvent(1), { base_asset_amount_filled: null }))).toBeNull();
    expect(fillOf({ ...fillEvent(1), name: 'OrderRecord' })).toBeNull();
  });
  it('refuses a fill with a malformed field', () => {
    expect(() => fillOf(withData(fillEvent(1), { oracle_price: null }))).toThrow(TradeError);
    expect(() => fillOf(withData(fillEvent(1), { market_type: 'unknown(2)' }))).toThrow(TradeError);
  });
});

describe('seen events', () => {
  const signature = (n: number) => {
    const bytes = Buffer.alloc(64);
    bytes.writeUInt32LE(n, 0);
    return bytes;
  };

  it('is the same after a restart at any index', () => {
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
  it('drops the oldest first', () => {
    const seen = new SeenEvents();
    for (let n = 0; n <= SEEN_IDS; n++) seen.add(signature(n), 0);
    expect(seen.add(signature(1), 0)).toBe(false);
    expect(seen.add(signature(0), 0)).toBe(true);
  });
});

describe('the numbers of fills', () => {
  it('are contiguous in each market, and the same after a restart at any fill', () => {
    const market = fc.constantFrom('perp-0', 'perp-1', 'spot-0');
    const step = fc.record({ market, slot: fc.nat(1000), isSaved: fc.boolean(), isRestarted: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let numbering = new Numbering(7);
        const saved = new Map<string, Uint8Array>();
        const counts = new Map<string, number>();
        let kept = { counts: new Map<string, number>(), newestSlot: 0 };
        for (const { market, slot, isSaved, isRestarted } of steps) {
          const seq = (counts.get(market) ?? 0) + 1;
          expect(numbering.next(market)).toEqual({ epoch: 7, seq });
          numbering.take(market);
          numbering.see(slot);
          counts.set(market, seq);
          if (isSaved) {
            for (const { name, bytes } of numbering.takeChanges()) if (bytes) saved.set(name, bytes);
            kept = { counts: new Map(counts), newestSlot: numbering.newestSlot };
          }
          if (!isRestarted || saved.size === 0) continue;
          // Unsaved fills are taken again, with the numbers they had.
          numbering = new Numbering(99);
          numbering.restore([...saved].map(([name, bytes]) => ({ name, bytes })));
          counts.clear();
          for (const [name, count] of kept.counts) counts.set(name, count);
          expect(numbering.newestSlot).toBe(kept.newestSlot);
        }
      }),
    );
  });
  it('refuses saved numbers that are none', () => {
    const restore = () => new Numbering(1).restore([{ name: 'key:perp-0', bytes: Buffer.from('x') }]);
    expect(restore).toThrow('key:perp-0');
  });
});

describe('trades role', () => {
  let log: EventLog;
  let config: Config;
  const events = [1, 2, 3, 4, 5].map((n) => withData(fillEvent(n), { market_type: 'perp', market_index: 0 }));
  const feed = (...some: readonly (ChainEvent | undefined)[]) =>
    log.append(
      TOPICS.events,
      some.flatMap((event) => (event ? [{ key: eventKey(event), value: encodeEvent(event) }] : [])),
    );
  const start = (on = log) => startTrades({ config, log: on, logger: silentLogger(), metrics: new Registry() });
  const records = (topic: Topic) => log.read(topic, partitionOf(topic, 'perp-0'), 0n, 100);
  const numbers = async (topic: Topic) => (await records(topic)).map(({ value }) => tradeIn(value)).map(numberOf);

  beforeEach(async () => {
    ({ log, config } = await temporaryLog(TOPICS.events));
  });

  it('publishes each fill once, also when a restart repeats it', async () => {
    const [first, second, third] = events;
    await feed(first, second, first);
    await log.append(TOPICS.events, [{ key: 'perp-0', value: Buffer.from('no record') }]);
    const before = await start();
    await caughtUp(log, 4n);
    await before.stop();
    await feed(second, third);
    const after = await start();
    await caughtUp(log, 6n);
    await after.stop();
    const trades = (await records(TOPICS.tradeViews)).map(({ value }) => tradeIn(value));
    expect(trades.map(({ txSig }) => txSig)).toEqual(
      [first, second, third].map((event) => bs58.encode(event?.signature ?? [])),
    );
    expect(trades.map(numberOf)).toEqual(['1/1', '1/2', '1/3']);
    expect((await numbers(TOPICS.tradeHeads)).at(-1)).toBe('1/3');
    expect((await log.bounds(TOPICS.deadLetters, 0)).next).toBe(1n);
  });

  it('repeats the same bytes after a death between its output and its offset', async () => {
    await feed(events[0]);
    const before = await start();
    await caughtUp(log, 1n);
    await before.stop();
    await feed(events[1], events[2]);
    // Kafka may store outputs without the offset; the embedded log does not.
    const commit: EventLog['commit'] = async (_, { outputs = [] }) => {
      for (const { topic, records } of outputs) await log.append(topic, records);
      throw new Error('the process died');
    };
    const dying = await start(withCommit(log, commit));
    await expect(dying.done).rejects.toThrow('the process died');
    await dying.stop();
    await feed(events[3]);
    const after = await start();
    await caughtUp(log, 4n);
    await after.stop();
    const stored = (await records(TOPICS.tradeViews)).map(({ value }) => Buffer.from(value).toString('hex'));
    expect(await numbers(TOPICS.tradeViews)).toEqual(['1/1', '1/2', '1/3', '1/2', '1/3', '1/4']);
    expect(stored.slice(1, 3)).toEqual(stored.slice(3, 5));
  });

  it('begins a later epoch when it has lost its state', async () => {
    await feed(events[0], events[1]);
    const before = await start();
    await caughtUp(log, 2n);
    await before.stop();
    await log.forget(TRADES_GROUP);
    const after = await start();
    await caughtUp(log, 2n);
    await after.stop();
    expect(await numbers(TOPICS.tradeViews)).toEqual(['1/1', '1/2', '3/1', '3/2']);
  });
});

function tradeIn(bytes: Uint8Array): TradeView {
  const message = decodeMessage(bytes);
  if (message.name !== 'TradeView') throw new Error(`${message.name} is no fill`);
  return message.value;
}

const numberOf = ({ epoch, seq }: TradeView): string => `${epoch}/${seq}`;

function withCommit(log: EventLog, commit: EventLog['commit']): EventLog {
  return new Proxy(log, {
    get: (target, name) => {
      const member: unknown = name === 'commit' ? commit : Reflect.get(target, name);
      return typeof member === 'function' && name !== 'commit' ? member.bind(target) : member;
    },
  });
}

function caughtUp(log: EventLog, next: bigint): Promise<void> {
  const key = `${TOPICS.events.name}/${partitionOf(TOPICS.events, 'perp-0')}`;
  return eventually(async () => {
    const { offsets } = await log.load(TRADES_GROUP);
    expect(offsets.get(key)).toBe(next);
  });
}
