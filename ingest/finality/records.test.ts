import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { createMetrics, readConfig, silentLogger } from '../../platform/index.ts';
import { decodeEvent, decodeGaps, GAPS_GROUP, GAPS_KEY, loadDefinition, TOPICS } from '../../schemas/index.ts';
import { MemoryLog } from '../../test/support/ingest/memory-log.ts';
import { logsOf, recordLine } from '../../test/support/ingest/records.ts';
import { until } from '../../test/support/platform/eventually.ts';
import { startIngest } from '../role.ts';
import type { Source, SourceUpdate, TransactionLogs } from '../source.ts';

const definition = loadDefinition('velocity');
const PROGRAM = definition.programs.find((program) => program.accounts.has('User'))?.programId ?? '';
const SIGNATURE = bs58.encode(Buffer.alloc(64, 7));
const OTHER = bs58.encode(Buffer.alloc(64, 8));

function transaction(slot: number, signature: string, isCut = false): TransactionLogs {
  const whole = logsOf(PROGRAM, [
    recordLine(definition, 'FundingRateRecord'),
    recordLine(definition, 'SpotInterestRecord'),
  ]);
  const logs = isCut ? ['Log truncated'] : whole;
  return { kind: 'transaction', slot, signature, failed: false, logs, blockIndex: null, blockTime: null };
}

/** A chain that dropped slot 10 and has the first of its transactions in slot 13. `rounds` counts answers. */
function chain(
  updates: readonly SourceUpdate[],
  later: () => Promise<readonly SourceUpdate[]> = async () => [],
  isCut = false,
) {
  const rounds = { landed: 0 };
  const source: Source = {
    async *updates() {
      yield updates;
      yield await later();
    },
    transaction: async (signature) => (signature === SIGNATURE ? transaction(13, SIGNATURE, isCut) : null),
    finality: () => ({
      lacking: async (places) => places.filter(({ slot }) => slot === 10),
      landed: async (signatures) => {
        rounds.landed += 1;
        return signatures.includes(SIGNATURE) ? [{ signature: SIGNATURE, slot: 13 }] : [];
      },
    }),
  };
  return { source, rounds };
}

async function ingest(log: MemoryLog, source: Source) {
  const context = { config: readConfig({}), log, logger: silentLogger(), metrics: createMetrics(['ingest']) };
  const role = await startIngest(context, { definition, source });
  await role.done;
  return role;
}

const slotsOf = (log: MemoryLog, signature: string) =>
  log
    .all(TOPICS.events)
    .map(({ value }) => decodeEvent(value))
    .filter((event) => bs58.encode(event.signature) === signature)
    .map(({ slot, eventIndex }) => [slot, eventIndex])
    .sort();

// Each test has a log of its own, and waits for the check of what is final.
describe.concurrent('a dropped transaction that landed again', () => {
  it('has its events once more with the new slot, and not again after a restart', async () => {
    const log = new MemoryLog();
    const updates = [
      transaction(10, SIGNATURE),
      transaction(10, OTHER),
      { kind: 'slot', slot: 20 },
      { kind: 'final', slot: 100, ts: 1 },
    ] as const;
    const once = [
      [10, 0],
      [10, 1],
      [13, 0],
      [13, 1],
    ];
    const first = await ingest(log, chain(updates).source);
    await until(() => slotsOf(log, SIGNATURE).length === 4);
    await first.stop();
    expect(slotsOf(log, SIGNATURE)).toEqual(once);
    expect(slotsOf(log, OTHER)).toEqual(once.slice(0, 2));
    const retractions = log.all(TOPICS.retractions).length;
    expect(retractions).toBe(1);

    // The source repeats the transactions of its resume margin, and the check finds the slot dropped again.
    const again = chain(updates);
    const second = await ingest(log, again.source);
    await until(() => again.rounds.landed >= 2 && log.all(TOPICS.retractions).length > retractions);
    await second.stop();
    expect(slotsOf(log, SIGNATURE)).toEqual(once);
  });

  it('is a lasting gap of its new slot when its log was cut there', async () => {
    const log = new MemoryLog();
    const updates = [
      transaction(10, SIGNATURE),
      { kind: 'slot', slot: 20 },
      { kind: 'final', slot: 100, ts: 1 },
    ] as const;
    const role = await ingest(log, chain(updates, undefined, true).source);
    const lasting = async () =>
      decodeGaps((await log.load(GAPS_GROUP)).state.get(GAPS_KEY) ?? Buffer.from('[]'))
        .filter(({ isLasting }) => isLasting)
        .map(({ fromSlot, toSlot }) => [fromSlot, toSlot]);
    await until(async () => (await lasting()).length === 2);
    await role.stop();
    expect(await lasting()).toEqual([
      [10, 10],
      [13, 13],
    ]);
  });

  it('has its events when only the log of the dropped slot was cut', async () => {
    const log = new MemoryLog();
    const updates = [
      transaction(10, SIGNATURE, true),
      { kind: 'slot', slot: 20 },
      { kind: 'final', slot: 100, ts: 1 },
    ] as const;
    const { source } = chain(updates);
    // No node has it whole while it waits in the dropped slot.
    let isFinal = false;
    const { transaction: whole, finality } = source;
    source.transaction = async (signature) => (isFinal ? whole(signature) : null);
    source.finality = (signal) => {
      const reader = finality?.(signal);
      if (!reader) throw new Error('no reader');
      const landed = async (signatures: readonly string[]) => {
        isFinal = true;
        return reader.landed(signatures);
      };
      return { ...reader, landed };
    };
    const role = await ingest(log, source);
    await until(() => slotsOf(log, SIGNATURE).length === 2);
    await role.stop();
    expect(slotsOf(log, SIGNATURE)).toEqual([
      [13, 0],
      [13, 1],
    ]);
  });

  it('has them once also when a read from the resume point brings it after that', async () => {
    const log = new MemoryLog();
    // This process ends before the chain has passed the slot.
    await (await ingest(log, chain([transaction(10, SIGNATURE), { kind: 'slot', slot: 20 }]).source)).stop();
    const landedAgain = async () => {
      await until(() => slotsOf(log, SIGNATURE).length === 4);
      return [transaction(13, SIGNATURE), { kind: 'slot', slot: 101 }] as const;
    };
    const second = await ingest(log, chain([{ kind: 'final', slot: 100, ts: 1 }], landedAgain).source);
    await second.stop();
    expect(slotsOf(log, SIGNATURE)).toEqual([
      [10, 0],
      [10, 1],
      [13, 0],
      [13, 1],
    ]);
  });
});
