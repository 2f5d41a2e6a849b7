import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import {
  createMetrics,
  type Logger,
  metricTotal,
  type RoleContext,
  readConfig,
  silentLogger,
} from '../platform/index.ts';
import { decodeEvent, decodeMessage, loadDefinition, TOPICS } from '../schemas/index.ts';
import { startIngest } from './role.ts';
import { IngestQuality } from './shadow/quality.ts';
import {
  RESUME_MARGIN_SLOTS,
  type ResumePoint,
  type Source,
  type SourceUpdate,
  type TransactionLogs,
} from './source.ts';
import { random } from './testing/bytes.ts';
import { MemoryLog } from './testing/memory-log.ts';
import { logsOf, recordLine } from './testing/records.ts';

const definition = loadDefinition('velocity');
const PROGRAM = definition.programs.find((program) => program.accounts.has('User'))?.programId ?? '';
const logger: Logger = silentLogger();

function context(log: MemoryLog): RoleContext {
  return { config: readConfig({}), log, logger, metrics: createMetrics(['ingest']) };
}

function transaction(slot: number, index: number, lines: readonly string[]): TransactionLogs {
  const bytes = Buffer.alloc(64, 1);
  bytes.writeUInt32LE(slot, 0);
  bytes.writeUInt32LE(index, 4);
  return {
    kind: 'transaction',
    slot,
    signature: bs58.encode(bytes),
    failed: false,
    logs: logsOf(PROGRAM, lines),
    blockIndex: null,
    blockTime: null,
  };
}

const line = (name: string, marketIndex = 0) => {
  const head = Buffer.alloc(10);
  head.writeUInt16LE(marketIndex, 8);
  return recordLine(definition, name, head);
};

/** A source that gives fixed batches and then ends. */
function scripted(batches: readonly (readonly SourceUpdate[])[], whole: TransactionLogs | null = null): Source {
  return {
    async *updates() {
      yield* batches;
    },
    transaction: async () => whole,
  };
}

async function ingest(log: MemoryLog, source: Source) {
  const running = context(log);
  const role = await startIngest(running, { definition, source });
  await role.done;
  await role.stop();
  return running.metrics;
}

const eventsIn = (log: MemoryLog) => log.all(TOPICS.events).map(({ value }) => decodeEvent(value));
const lettersIn = (log: MemoryLog) =>
  log.all(TOPICS.deadLetters).flatMap(({ value }) => {
    const message = decodeMessage(value);
    return message.name === 'DeadLetter' ? [message.value] : [];
  });

describe('ingest role', () => {
  it('writes events keyed by market with their index over all records, and ticks to every partition', async () => {
    const log = new MemoryLog();
    const lines = [line('FundingRateRecord', 1), line('SpotInterestRecord', 2), 'Program log: text'];
    const failed = { ...transaction(10, 1, lines), failed: true };
    const metrics = await ingest(
      log,
      scripted([[transaction(10, 0, lines), failed, { kind: 'slot', slot: 10 }, { kind: 'slot', slot: 9 }]]),
    );
    expect(eventsIn(log).map(({ name, eventIndex, slot }) => [name, eventIndex, slot])).toHaveLength(2);
    const byIndex = eventsIn(log).sort((a, b) => a.eventIndex - b.eventIndex);
    expect(byIndex.map(({ name }) => name)).toEqual(['FundingRateRecord', 'SpotInterestRecord']);
    const ticks = log.all(TOPICS.book).map(({ partition, value }) => [partition, decodeMessage(value).value]);
    expect(ticks).toEqual([0, 1, 2, 3].map((partition) => [partition, { slot: 10 }]));
    expect(await metricTotal(metrics, 'slotbook_ingest_events_total')).toBe(2);
    expect(await metricTotal(metrics, 'slotbook_ingest_slot')).toBe(10);
  });

  it('writes block times to every partition, not more often than samples are wanted', async () => {
    const log = new MemoryLog();
    const timed = (slot: number): TransactionLogs => ({ ...transaction(slot, 0, []), blockTime: slot * 10 });
    await ingest(
      log,
      scripted([
        [{ kind: 'slot', slot: 100 }, timed(99), timed(100), { kind: 'time', slot: 149, ts: 1490 }],
        [{ kind: 'time', slot: 150, ts: 1500 }, { kind: 'time', slot: 120, ts: 1200 }, timed(200)],
      ]),
    );
    const times = log.all(TOPICS.book).flatMap(({ partition, value }) => {
      const message = decodeMessage(value);
      return message.name === 'BookTime' ? [[partition, message.value.slot, message.value.ts]] : [];
    });
    const expected = [0, 1, 2, 3].flatMap((partition) => [100, 150, 200].map((slot) => [partition, slot, slot * 10]));
    expect(times.sort()).toEqual(expected.sort());
  });

  it('fills logs that were cut from the transaction itself', async () => {
    const log = new MemoryLog();
    const lines = [line('SpotInterestRecord', 1), line('SpotInterestRecord', 2), line('SpotInterestRecord', 3)];
    const whole = transaction(10, 0, lines);
    const cut = { ...whole, logs: [...whole.logs.slice(0, 2), 'Log truncated'] };
    await ingest(log, scripted([[cut]], whole));
    expect(eventsIn(log)).toHaveLength(3);
    expect(lettersIn(log)).toEqual([]);
  });

  it('tells how many gaps are open, those of earlier processes among them', async () => {
    const log = new MemoryLog();
    const gap = { kind: 'gap', fromSlot: 5, toSlot: 9, reason: 'test', filled: false } as const;
    const open = async (...updates: readonly SourceUpdate[]) => {
      const metric = (await ingest(log, scripted([updates]))).getSingleMetric('slotbook_ingest_open_gaps');
      const values = (await metric?.get())?.values ?? [];
      return Object.fromEntries(values.map(({ labels, value }) => [String(labels.lasting), value]));
    };
    expect(await open()).toEqual({ false: 0, true: 0 });
    expect(await open(gap, { ...gap, isLasting: true })).toEqual({ false: 1, true: 1 });
    expect(await open()).toEqual({ false: 1, true: 1 });
    expect(await open({ ...gap, filled: true })).toEqual({ false: 0, true: 1 });
  });

  it('keeps what can be read of logs that stay cut, and parks the rest', async () => {
    const log = new MemoryLog();
    const whole = transaction(10, 0, [line('SpotInterestRecord', 1), line('SpotInterestRecord', 2).slice(0, -9)]);
    const metrics = await ingest(log, scripted([[whole]]));
    const events = eventsIn(log).sort((a, b) => a.eventIndex - b.eventIndex);
    expect(events.map(({ name }) => name)).toEqual(['SpotInterestRecord', 'UnknownRecord']);
    expect(events[1]?.data.record_name).toBe('SpotInterestRecord');
    expect(lettersIn(log).map(({ reason }) => reason)).toEqual(['incomplete_logs', 'damaged_record']);
    expect(await metricTotal(metrics, 'slotbook_ingest_parked_total')).toBe(2);
  });

  it('carries unknown discriminators raw and goes on', async () => {
    const log = new MemoryLog();
    const unknown = Buffer.from('0123456789abcdef0011', 'hex');
    const lines = [`Program data: ${unknown.toString('base64')}`, line('SpotInterestRecord', 2)];
    const garbage: SourceUpdate = {
      kind: 'garbage',
      reason: 'garbage_frame',
      detail: 'x',
      origin: 'pubsub',
      bytes: Buffer.alloc(9000, 7),
    };
    await ingest(log, scripted([[garbage, transaction(10, 0, lines)]]));
    const raw = eventsIn(log).find(({ name }) => name === 'UnknownRecord');
    expect(raw).toMatchObject({ eventIndex: 0, data: { record_name: null } });
    expect(Buffer.from(raw?.data.raw as Uint8Array)).toEqual(unknown);
    expect(eventsIn(log).find(({ name }) => name === 'SpotInterestRecord')?.eventIndex).toBe(1);
    expect(lettersIn(log).map(({ reason, bytes }) => [reason, bytes.length])).toEqual([
      ['garbage_frame', 4096],
      ['unknown_record', 10],
    ]);
  });

  it('puts every event into the log once, however often and wherever it is killed', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const next = random(seed);
      const log = new MemoryLog();
      const chain = Array.from({ length: 400 }, (_, index) => {
        const lines = Array.from({ length: 1 + Math.floor(next() * 3) }, (__, at) => line('SpotInterestRecord', at));
        return transaction(1000 + Math.floor(index / 2), index, lines);
      });
      let given = 0;
      const source: Source = {
        async *updates(resume: ResumePoint | null, signal) {
          const floor = resume === null ? 0 : resume.slot - RESUME_MARGIN_SLOTS;
          const todo = chain.filter(({ slot }) => slot >= floor);
          for (let at = 0; at < todo.length; ) {
            if (signal.aborted) return;
            const batch = todo.slice(at, at + 1 + Math.floor(next() * 20));
            at += batch.length;
            given += batch.length;
            const slot = (batch.at(-1)?.slot ?? 1) - 1;
            yield [...batch, { kind: 'progress', resume: { slot, signatures: {}, chain: 'test' } }];
            await new Promise((resolve) => setImmediate(resolve));
          }
        },
        transaction: async () => null,
      };
      for (let life = 0; life < 8; life++) {
        let appends = Math.floor(next() * 12) + (life === 7 ? 1e9 : 0);
        let dead = false;
        let kill = () => {};
        const died = new Promise<void>((resolve) => {
          kill = resolve;
        });
        log.fault = (topic) => {
          // No life waits for the one before: their marks are always told.
          if (dead && topic !== TOPICS.writers) throw new Error('process is dead');
          if (topic !== TOPICS.events || appends-- > 0) return null;
          dead = true;
          kill();
          return Math.floor(next() * 4);
        };
        const role = await startIngest(context(log), { definition, source });
        await Promise.race([role.done, died]);
        await role.stop();
      }
      const ids = eventsIn(log).map(({ signature, eventIndex }) => `${bs58.encode(signature)} ${eventIndex}`);
      const wanted = chain.reduce((sum, { logs }) => sum + logs.length - 2, 0);
      expect(new Set(ids).size).toBe(wanted);
      expect(ids.length).toBe(wanted);
      expect(given).toBeGreaterThan(chain.length);
    }
  });

  it('counts the time in which it did not run as one gap, open until all accounts are read', async () => {
    const log = new MemoryLog();
    const earlier = new IngestQuality(log, logger);
    earlier.seen({ marketType: 'perp', marketIndex: 0 }, 'user', 5);
    await earlier.flush();
    const live = (...batches: readonly (readonly SourceUpdate[])[]): Source => ({
      ...scripted(batches),
      accounts: async () => ({ slot: 0, updates: [] }),
    });
    const progress = { kind: 'progress', resume: { slot: 10, signatures: {}, chain: 'test' } } as const;
    const lost = { kind: 'reconnect', reason: 'test' } as const;
    const read = [
      { kind: 'snapshotBegin', slot: 11 },
      { kind: 'snapshotEnd', slot: 11 },
    ] as const;
    const counts = () => {
      const told = log.all(TOPICS.qualityViews).map(({ value }) => decodeMessage(value));
      const last = told.findLast(({ name }) => name === 'FeedQuality');
      return last?.name === 'FeedQuality' ? [last.value.gapsFound, last.value.gapsFilled] : null;
    };
    await ingest(log, live([...read, progress]));
    expect(counts()).toEqual([0, 0]);
    await ingest(log, live([lost], [lost]));
    expect(counts()).toEqual([1, 0]);
    await ingest(log, live([lost], [...read]));
    expect(counts()).toEqual([1, 1]);
    await ingest(log, live([...read]));
    expect(counts()).toEqual([2, 2]);
    await ingest(log, scripted([[]]));
    expect(counts()).toEqual([2, 2]);
  });

  it('ends when another is started: it writes nothing more, and says who took over', async () => {
    const log = new MemoryLog();
    const feed = (slot: number) => {
      let give = () => {};
      const given = new Promise<void>((resolve) => {
        give = resolve;
      });
      const source: Source = {
        async *updates(_, signal) {
          await Promise.race([given, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
          yield [transaction(slot, 0, [line('SpotInterestRecord', 1)])];
        },
        transaction: async () => null,
      };
      return { source, give };
    };
    const [first, second] = [feed(10), feed(20)];
    const older = await startIngest(context(log), { definition, source: first.source });
    const newer = await startIngest(context(log), { definition, source: second.source });
    await expect(older.done).rejects.toThrow(/another ingest process has taken over/);
    second.give();
    await newer.done;
    expect(eventsIn(log).map(({ slot }) => slot)).toEqual([20]);
  });

  it('holds on while the log is away and loses nothing', async () => {
    const log = new MemoryLog();
    let failures = 3;
    log.fault = (topic) => (topic !== TOPICS.writers && failures-- > 0 ? failures : null);
    const lines = [line('SpotInterestRecord', 1), line('SpotInterestRecord', 2)];
    await ingest(log, scripted([[transaction(10, 0, lines)], [transaction(11, 1, lines)]]));
    expect(eventsIn(log)).toHaveLength(4);
  });
});
