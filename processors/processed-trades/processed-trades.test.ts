// Fills at processed: published minus withdrawn are the confirmed ones, whatever ingest repeats, loses or forgets.

import fc from 'fast-check';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../platform/index.ts';
import { decodeMessage, encodeEvent, encodeMessage, partitionOf, TOPICS, type Topic } from '../../schemas/index.ts';
import { temporaryLog } from '../../test/support/log/temporary-log.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { fillEvent } from '../../test/support/processors/history/events.ts';
import { keepPieces } from '../../test/support/processors/keep-pieces.ts';
import { Numbering } from '../trades/numbering.ts';
import { type NumberedRecord, ProcessedTrades } from './processed-trades.ts';
import { startProcessedFills } from './role.ts';

const MARKET = { marketType: 'perp', marketIndex: 0 } as const;

/** The event of transaction `n` in a slot. */
function eventOf(n: number, slot: number) {
  const event = fillEvent(n);
  return { ...event, slot, data: { ...event.data, market_type: 'perp', market_index: 0 } };
}

const seen = (n: number, slot: number, commitment: 'processed' | 'confirmed' = 'processed') => ({
  commitment,
  event: encodeEvent(eventOf(n, slot)),
});

/** State of a client of a sequence: the numbers without a hole, and each fill once. */
class Reader {
  #seq = 0;
  /** By transaction and index: slot and number. */
  readonly standing = new Map<string, { readonly slot: number; readonly seq: number }>();

  take(records: readonly NumberedRecord[]): void {
    for (const { name, value } of records) {
      this.#seq += 1;
      expect(value.seq).toBe(this.#seq);
      const id = `${value.txSig}:${value.txSigIndex}`;
      if (name === 'TradeView') {
        expect(this.standing.has(id)).toBe(false);
        this.standing.set(id, { slot: value.slot, seq: this.#seq });
      } else {
        expect(this.standing.get(id)).toEqual({ slot: value.slot, seq: value.tradeSeq });
        this.standing.delete(id);
      }
    }
  }

  get slots(): number[] {
    return [...this.standing.values()].map(({ slot }) => slot);
  }
}

const stage = () => ({ trades: new ProcessedTrades(new Numbering(1)), reader: new Reader() });

describe('a fill at processed', () => {
  it('is published once, and not again when it is confirmed', () => {
    const { trades, reader } = stage();
    for (const commitment of ['processed', 'processed', 'confirmed', 'confirmed', 'processed'] as const)
      reader.take(trades.fill(seen(1, 10, commitment)));
    reader.take(trades.resolve(10));
    expect([reader.slots, trades.openFills]).toEqual([[10], 0]);
  });

  it('is withdrawn by number when its slot dies, once', () => {
    const { trades, reader } = stage();
    reader.take(trades.fill(seen(1, 10)));
    const { signature, eventIndex } = fillEvent(1);
    expect(trades.withdraw({ slot: 11, signature, eventIndex })).toEqual([]);
    const records = trades.withdraw({ slot: 10, signature, eventIndex });
    expect(records).toMatchObject([{ name: 'TradeWithdrawal', value: { seq: 2, tradeSeq: 1, slot: 10 } }]);
    expect(trades.withdraw({ slot: 10, signature, eventIndex })).toEqual([]);
  });

  it('that confirms in another slot is withdrawn and published again there', () => {
    const { trades } = stage();
    trades.fill(seen(1, 10));
    expect(trades.fill(seen(1, 12, 'confirmed'))).toMatchObject([
      { name: 'TradeWithdrawal', value: { slot: 10, tradeSeq: 1, seq: 2 } },
      { name: 'TradeView', value: { slot: 12, seq: 3 } },
    ]);
    expect(trades.resolve(20)).toEqual([]);
  });

  it('that the stream at processed missed is published when it is confirmed', () => {
    expect(stage().trades.fill(seen(1, 10, 'confirmed'))).toMatchObject([{ name: 'TradeView', value: { slot: 10 } }]);
  });
});

interface Life {
  /** Slots of the forks on which the fill stood. */
  readonly slots: readonly number[];
  /** The slot of the confirmed chain; null: it never landed. */
  readonly confirmed: number | null;
}

const SLOTS = 20;
const life: fc.Arbitrary<Life> = fc.record({
  slots: fc.uniqueArray(fc.nat(SLOTS), { maxLength: 4 }),
  confirmed: fc.option(fc.nat(SLOTS)),
});

type Step = { readonly n: number; readonly slot: number; readonly is: 'processed' | 'withdrawn' | 'confirmed' };

/** The records of ingest, of which any but the confirmed ones may be lost, repeated or out of order. */
const histories = fc.array(life, { minLength: 1, maxLength: 8 }).chain((lives) => {
  const unsure = lives.flatMap(({ slots }, n) =>
    slots.flatMap((slot): Step[] => [
      { n, slot, is: 'processed' },
      { n, slot, is: 'withdrawn' },
      { n, slot, is: 'processed' },
    ]),
  );
  const sure = lives.flatMap(({ confirmed }, n): Step[] =>
    confirmed === null ? [] : [{ n, slot: confirmed, is: 'confirmed' }],
  );
  const order = fc
    .tuple(fc.shuffledSubarray(unsure), fc.array(fc.nat(1000), { minLength: sure.length, maxLength: sure.length }))
    .map(([steps, places]) => {
      const all = [...steps];
      for (const [at, step] of sure.entries()) all.splice((places[at] ?? 0) % (all.length + 1), 0, step);
      return all;
    });
  return fc.record({
    lives: fc.constant(lives),
    steps: order,
    repeats: fc.nat(12),
    restartEvery: fc.integer({ min: 1, max: 9 }),
  });
});

describe('fills at processed', () => {
  it('that were published and not withdrawn are the confirmed ones, with loss, repeats, disorder and restarts', () => {
    fc.assert(
      fc.property(histories, ({ lives, steps, repeats, restartEvery }) => {
        let numbering = new Numbering(1);
        let trades = new ProcessedTrades(numbering);
        const saved = new Map<string, Uint8Array>();
        const numbers = new Map<string, Uint8Array>();
        const reader = new Reader();
        const apply = ({ n, slot, is }: Step): NumberedRecord[] => {
          const { signature, eventIndex } = fillEvent(n);
          return is === 'withdrawn' ? trades.withdraw({ slot, signature, eventIndex }) : trades.fill(seen(n, slot, is));
        };
        const save = (): void => {
          keepPieces(saved, trades.takeChanges());
          for (const { name, bytes } of numbering.takeChanges()) if (bytes) numbers.set(name, bytes);
        };
        for (const [at, step] of [...steps, ...steps.slice(-repeats || steps.length)].entries()) {
          reader.take(apply(step));
          save();
          if (at % restartEvery !== 0) continue;
          numbering = new Numbering(1);
          numbering.restore([...numbers].map(([name, bytes]) => ({ name, bytes })));
          trades = new ProcessedTrades(numbering);
          trades.restore([...saved].map(([name, bytes]) => ({ name, bytes })));
        }
        reader.take(trades.resolve(SLOTS));
        const confirmed = lives.flatMap(({ confirmed: slot }) => (slot === null ? [] : [slot]));
        expect(reader.slots.sort((one, other) => one - other)).toEqual(confirmed.sort((one, other) => one - other));
        expect(trades.openFills).toBe(0);
      }),
    );
  });
});

describe('the role', () => {
  it('writes fills and withdrawals in one sequence, their newest as head, and goes on after a restart', async () => {
    const { log, config } = await temporaryLog();
    const append = (value: Uint8Array) => log.append(TOPICS.processedFills, [{ key: 'perp-0', value }]);
    const fill = (n: number, slot: number, commitment: 'processed' | 'confirmed') =>
      append(encodeMessage('ProcessedFill', { ...MARKET, slot, txIndex: null, ...seen(n, slot, commitment) }));
    const records = (topic: Topic) => log.read(topic, partitionOf(topic, 'perp-0'), 0n, 100);
    const written = async () => (await records(TOPICS.processedTradeViews)).map(({ value }) => decodeMessage(value));
    const start = () => startProcessedFills({ config, log, logger: silentLogger(), metrics: new Registry() });
    await log.ensureTopics([TOPICS.processedFills]);
    const first = await start();
    await fill(1, 10, 'processed');
    await append(new Uint8Array([1, 2]));
    await fill(2, 10, 'processed');
    await eventually(async () => expect(await written()).toHaveLength(2));
    await first.stop();
    await fill(2, 10, 'confirmed');
    await append(encodeMessage('FillsResolved', { slot: 10 }));
    const second = await start();
    await eventually(async () => expect(await written()).toHaveLength(3));
    await second.stop();
    expect(await written()).toMatchObject([
      { name: 'TradeView', value: { seq: 1, slot: 10 } },
      { name: 'TradeView', value: { seq: 2, slot: 10 } },
      { name: 'TradeWithdrawal', value: { seq: 3, tradeSeq: 1, slot: 10 } },
    ]);
    const newest = (await records(TOPICS.processedTradeViews)).at(-1)?.value;
    expect((await records(TOPICS.processedTradeHeads)).at(-1)?.value).toEqual(newest);
    expect((await log.bounds(TOPICS.deadLetters, 0)).next).toBe(1n);
  });
});
