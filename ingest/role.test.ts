import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import {
  createMetrics,
  LeasedRole,
  type Logger,
  MarkWatch,
  metricTotal,
  type RoleContext,
  readConfig,
  silentLogger,
} from '../platform/index.ts';
import { decodeEvent, decodeMessage, loadDefinition, TOPICS } from '../schemas/index.ts';
import { accountOf, key, SPOT, update } from '../test/support/ingest/accounts.ts';
import { blankAccount, setField } from '../test/support/ingest/bytes.ts';
import { MemoryLog } from '../test/support/ingest/memory-log.ts';
import { logsOf, recordLine } from '../test/support/ingest/records.ts';
import { seededRandom } from '../test/support/platform/chance.ts';
import { until } from '../test/support/platform/eventually.ts';
import { startIngest } from './role.ts';
import { IngestQuality } from './shadow/quality.ts';
import {
  RESUME_MARGIN_SLOTS,
  type ResumePoint,
  type Source,
  type SourceUpdate,
  type TransactionLogs,
} from './source.ts';

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

/** A source that yields fixed batches and then ends. */
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
  it('writes events keyed by market with their index over all records, and slot ticks to every partition', async () => {
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

  it('writes block times to every partition, at most once per sample interval', async () => {
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

  it('completes truncated logs from the transaction itself, and keeps its index in the block', async () => {
    const log = new MemoryLog();
    const lines = [line('SpotInterestRecord', 1), line('SpotInterestRecord', 2), line('SpotInterestRecord', 3)];
    const whole = transaction(10, 0, lines);
    const cut = { ...whole, blockIndex: 7, logs: [...whole.logs.slice(0, 2), 'Log truncated'] };
    await ingest(log, scripted([[cut]], whole));
    expect(eventsIn(log).map(({ txIndex }) => txIndex)).toEqual([7, 7, 7]);
    expect(lettersIn(log)).toEqual([]);
  });

  it('counts open gaps, including those of earlier processes', async () => {
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

  it('keeps the readable part of logs that stay truncated, and parks the rest', async () => {
    const log = new MemoryLog();
    const whole = transaction(10, 0, [line('SpotInterestRecord', 1), line('SpotInterestRecord', 2).slice(0, -9)]);
    const metrics = await ingest(log, scripted([[whole]]));
    const events = eventsIn(log).sort((a, b) => a.eventIndex - b.eventIndex);
    expect(events.map(({ name }) => name)).toEqual(['SpotInterestRecord', 'UnknownRecord']);
    expect(events[1]?.data.record_name).toBe('SpotInterestRecord');
    expect(lettersIn(log).map(({ reason }) => reason)).toEqual(['incomplete_logs', 'damaged_record']);
    expect(await metricTotal(metrics, 'slotbook_ingest_parked_total')).toBe(2);
  });

  it('writes unknown records raw and continues', async () => {
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

  it('writes states of builder accounts and insurance funds by account, apart from all other topics', async () => {
    const log = new MemoryLog();
    const spot = blankAccount(SPOT);
    setField(spot, SPOT.layout, 'insurance_fund.unstaking_period', 60n);
    const share = accountOf('RevenueShare');
    const accounts = [update(key(1), share.owner, blankAccount(share), 5), update(key(2), SPOT.owner, spot, 5)];
    const bracketed: SourceUpdate[] = [
      { kind: 'snapshotBegin', slot: 5 },
      ...accounts,
      { kind: 'snapshotEnd', slot: 5 },
    ];
    await ingest(log, scripted([bracketed]));
    const stored = log.all(TOPICS.accountStates).map((one) => [one.key, decodeMessage(one.value).name]);
    expect(stored.sort()).toEqual([
      [bs58.encode(key(1)), 'RevenueShareState'],
      ['insurance-fund-0', 'InsuranceFundState'],
    ]);
    expect(lettersIn(log)).toEqual([]);
  });

  it('writes every event once, however often and wherever it is killed', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const next = seededRandom(seed);
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
          // A killed process still withdraws its lease mark, so that the next one starts without a wait.
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
      const expected = chain.reduce((sum, { logs }) => sum + logs.length - 2, 0);
      expect(new Set(ids).size).toBe(expected);
      expect(ids.length).toBe(expected);
      expect(given).toBeGreaterThan(chain.length);
    }
  });

  it('counts downtime as one gap that stays open until all accounts are read', async () => {
    const log = new MemoryLog();
    const earlier = new IngestQuality(log, logger);
    earlier.seen({ marketType: 'perp', marketIndex: 0 }, 'user', 5);
    await earlier.flush();
    const live = (...batches: readonly (readonly SourceUpdate[])[]): Source => ({
      ...scripted(batches),
      accounts: async () => ({ slot: 0, newestSlot: 0, updates: [], isWhole: true }),
    });
    const progress = { kind: 'progress', resume: { slot: 10, signatures: {}, chain: 'test' } } as const;
    const lost = { kind: 'reconnect', reason: 'test' } as const;
    const read = [
      { kind: 'snapshotBegin', slot: 11 },
      { kind: 'snapshotEnd', slot: 11 },
    ] as const;
    const counts = () => {
      const rows = log.all(TOPICS.qualityViews).map(({ value }) => decodeMessage(value));
      const last = rows.findLast(({ name }) => name === 'FeedQuality');
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

  it('stops writing and stands by when a newer version starts', async () => {
    const log = new MemoryLog();
    const watches: MarkWatch[] = [];
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
    const process = async (source: Source, version: string) => {
      const watch = await MarkWatch.open(log, 10);
      watches.push(watch);
      const start = (given: RoleContext) => startIngest(given, { definition, source });
      const self = { host: 'box', pid: 1, version, startedMs: 1, machine: null };
      const role = new LeasedRole({ name: 'ingest', lease: 'ingest', start, context: context(log), watch, self });
      await role.begin();
      return role;
    };
    const [first, second] = [feed(10), feed(20)];
    const older = await process(first.source, '1.0.0');
    const newer = await process(second.source, '1.1.0');
    await until(() => older.state === 'stands by');
    first.give();
    await older.stop();
    second.give();
    await newer.done;
    expect(eventsIn(log).map(({ slot }) => slot)).toEqual([20]);
    for (const watch of watches) watch.close();
  });

  it('waits while the log is unavailable and loses nothing', async () => {
    const log = new MemoryLog();
    let failures = 3;
    log.fault = (topic) => (topic !== TOPICS.writers && failures-- > 0 ? failures : null);
    const lines = [line('SpotInterestRecord', 1), line('SpotInterestRecord', 2)];
    await ingest(log, scripted([[transaction(10, 0, lines)], [transaction(11, 1, lines)]]));
    expect(eventsIn(log)).toHaveLength(4);
  });
});
