import { describe, expect, it } from 'vitest';
import { type ClickHouseClient, metricTotal } from '../../platform/index.ts';
import {
  type ChainEvent,
  cleanDaysSql,
  DAY_S,
  EVENT_NAMES,
  encodeMessage,
  FILL_SUMS,
  fillSidesByTime,
  fillSumsSql,
  LOOKUP_TABLES,
  TOPICS,
  tableOf,
  UNKNOWN_RECORD,
} from '../../schemas/index.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { times } from '../../test/support/platform/times.ts';
import { fillEvent, sampleEvent } from '../../test/support/processors/history/events.ts';
import { sinkStage } from '../../test/support/processors/history/sink-stage.ts';

const stage = sinkStage('retractions');
const NAMES = [...EVENT_NAMES, UNKNOWN_RECORD];
const TABLES = [...NAMES.map(tableOf), ...Object.keys(LOOKUP_TABLES)];
const NUMBERS = Array.from({ length: times(6, 12) }, (_, n) => n);
const isDropped = (n: number) => n % 3 === 0;

/** One transaction: an event of each kind, or of the ones named. */
function transaction(n: number, names: readonly string[] = NAMES): ChainEvent[] {
  return names.map((name) => {
    const event = sampleEvent(name, n);
    if (name === UNKNOWN_RECORD) event.data.record_name = null;
    return event;
  });
}

/** The same transaction in a later slot, at a later time. */
function landedAgain(event: ChainEvent): ChainEvent {
  const { ts } = event.data;
  return {
    ...event,
    slot: event.slot + 50,
    data: typeof ts === 'bigint' ? { ...event.data, ts: ts + 20n } : event.data,
  };
}

async function retract(events: readonly ChainEvent[]): Promise<void> {
  const records = events.map(({ slot, signature }) => {
    return { key: String(slot), value: encodeMessage('SlotRetraction', { slot, signatures: [signature] }) };
  });
  await stage.log.append(TOPICS.retractions, records);
}

/** Waits until the sink's offsets are behind every event and every retraction. */
async function caughtUp(): Promise<void> {
  await eventually(async () => {
    const { offsets } = await stage.log.load('history-sink');
    for (const topic of [TOPICS.events, TOPICS.retractions]) {
      for (let partition = 0; partition < topic.partitions; partition++) {
        const { next } = await stage.log.bounds(topic, partition);
        expect(offsets.get(`${topic.name}/${partition}`) ?? 0n).toBe(next);
      }
    }
  }, 50);
}

type Contents = Record<string, readonly { readonly slot: string; readonly id: string }[]>;

/** Slot and signature of every row, by table. */
async function contents(): Promise<Contents> {
  const rows = await stage.rows<{ table: string; slot: string; id: string }>(
    `SELECT _table AS table, slot, hex(signature) AS id FROM merge(currentDatabase(), '^(${TABLES.join('|')})$') FINAL
     ORDER BY slot, id`,
  );
  return Object.fromEntries(
    TABLES.map((name) => [name, rows.filter(({ table }) => table === name).map(({ slot, id }) => ({ slot, id }))]),
  );
}

/** A client with another way to run statements. */
function commanding(command: (query: string, run: () => Promise<unknown>) => Promise<unknown>): ClickHouseClient {
  return new Proxy(stage.clickhouse.client, {
    get: (target, name) => {
      if (name === 'command') {
        return (params: { readonly query: string }) => command(params.query, () => target.command(params));
      }
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

/** A client whose deletions fail from the one of this number on. */
function dyingAt(number: number): ClickHouseClient {
  let deletions = 0;
  return commanding(async (query, run) => {
    if (query.startsWith('DELETE') && deletions++ >= number) throw new Error('the process dies here');
    return run();
  });
}

const droppedSlots = new Set(NUMBERS.filter(isDropped).map((n) => 300_000_000 + n));

/** Contents without the rows of dropped slots. */
function corrected(tables: Contents): Contents {
  return Object.fromEntries(
    Object.entries(tables).map(([table, rows]) => [table, rows.filter(({ slot }) => !droppedSlots.has(Number(slot)))]),
  );
}

const everything = () => [
  ...NUMBERS.flatMap((n) => transaction(n)),
  ...transaction(3, ['OrderActionRecord', 'DepositRecord']).map(landedAgain),
];
const dropped = () => NUMBERS.filter(isDropped).flatMap((n) => transaction(n, ['OrderActionRecord']));

describe('retractions', () => {
  it('leave no row of a dropped transaction in any table, and the rows of one that landed again', async () => {
    await stage.append(everything());
    const { metrics } = await stage.startSink();
    await caughtUp();
    const before = await contents();
    for (const table of NAMES.map(tableOf)) expect(before[table]).not.toEqual(corrected(before)[table]);
    await retract(dropped());
    await retract(dropped());
    await caughtUp();
    expect(await contents()).toEqual(corrected(before));
    expect(before.order_action?.map(({ slot }) => Number(slot))).toContain(300_000_053);
    const rows = (tables: Contents) => Object.values(tables).flat().length;
    expect(await metricTotal(metrics, 'slotbook_sink_retracted_rows_total')).toBe(
      rows(before) - rows(corrected(before)),
    );
  });

  it('wait for the rows that they name, and come to the same end after a crash at any deletion', async () => {
    await retract(dropped());
    await stage.append(everything());
    for (const deletions of [0, 7, 61]) {
      const { role, metrics } = await stage.startSink({ client: dyingAt(deletions) });
      await eventually(
        async () => expect(await metricTotal(metrics, 'slotbook_sink_retries_total')).toBeGreaterThan(0),
        20,
      );
      await role.stop();
    }
    await stage.startSink();
    await caughtUp();
    const after = await contents();
    expect(after).toEqual(corrected(after));
    const own = everything().filter(({ slot }) => !droppedSlots.has(slot));
    for (const name of NAMES) {
      const slots = own.filter((event) => event.name === name).map(({ slot }) => slot);
      expect(after[tableOf(name)]?.map(({ slot }) => Number(slot))).toEqual(slots.sort((a, b) => a - b));
    }
  });

  describe('of a finished day', () => {
    const day = 20_000;
    const onDay = (n: number, at: number): ChainEvent => {
      const event = fillEvent(n);
      return { ...event, data: { ...event.data, ts: BigInt(at * DAY_S + 60 + n) } };
    };
    const LEFT_OUT = times(2, 4);
    // Each fill has an account of its own.
    const fills = [...NUMBERS.map((n) => onDay(n, day)), onDay(50, day + 1)];
    const isClean = () =>
      eventually(async () => expect(await stage.rows(cleanDaysSql(''))).toEqual([{ day: String(day) }]), 250);
    const columns = ['user', 'market_type', 'market_index', ...FILL_SUMS].map((name) => `toString(${name})`).join(', ');
    const digests = async (from: string) => {
      const hashes = await stage.rows<{ hash: string }>(`SELECT cityHash64(${columns}) AS hash FROM (${from})`);
      return hashes.map(({ hash }) => hash).sort();
    };
    const kept = () => digests(`SELECT * FROM account_day_fills FINAL WHERE day = ${day}`);
    const computed = () => digests(fillSumsSql(fillSidesByTime('', `ts < ${(day + 1) * DAY_S}`), `toInt64(${day})`));

    it('take an account out of its sums when nothing else is left of it there', async () => {
      await stage.append(fills);
      await stage.startSink();
      await isClean();
      const before = await kept();
      expect(before).toEqual(await computed());
      await retract(fills.slice(0, LEFT_OUT));
      await caughtUp();
      await isClean();
      expect(await kept()).toEqual(await computed());
      expect((await kept()).length).toBeLessThan(before.length);
    });

    it('leave its sums to readers that found it closed, until they are written again', async () => {
      const seen: string[][] = [];
      await stage.append(fills);
      const client = commanding(async (_, run) => {
        const answer = await run();
        seen.push(await kept());
        return answer;
      });
      await stage.startSink({ client });
      await isClean();
      seen.length = 0;
      await retract(fills.slice(0, LEFT_OUT));
      await caughtUp();
      await isClean();
      const remaining = await computed();
      for (const sums of seen) expect(sums).toEqual(expect.arrayContaining(remaining));
      expect(seen.at(-1)).toEqual(remaining);
    });
  });
});
