import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { createMetrics, readConfig, silentLogger } from '../../platform/index.ts';
import { decodeEvent, decodeMessage, loadDefinition, partitionOf, TOPICS, type Topic } from '../../schemas/index.ts';
import { silentConnection, WaitingWriter } from '../../test/support/ingest/fork-news.ts';
import { MemoryLog } from '../../test/support/ingest/memory-log.ts';
import { logsOf, recordLine } from '../../test/support/ingest/records.ts';
import { until } from '../../test/support/platform/eventually.ts';
import { compileEvents } from '../decode/events.ts';
import { decodeTransaction } from '../decode/transaction.ts';
import { startIngest } from '../role.ts';
import type { Source, SourceUpdate, TransactionLogs } from '../source.ts';
import type { Place } from './chain.ts';
import type { OpenConnection } from './feed.ts';
import { createForkMetrics } from './metrics.ts';
import { ProcessedTrades } from './trades.ts';

const definition = loadDefinition('velocity');
const decoder = compileEvents(definition);
const PROGRAM = definition.programs.find((program) => program.accounts.has('User'))?.programId ?? '';
/** Indices of the variants. */
const FILL = 2;
const PERP = 1;

function actionLine(action: number): string {
  const head = Buffer.alloc(13);
  head[8] = action;
  head[12] = PERP;
  return recordLine(definition, 'OrderActionRecord', head);
}

function transaction(slot: number, seed: number, lines: readonly string[], failed = false): TransactionLogs {
  const signature = bs58.encode(Buffer.alloc(64, seed));
  return { kind: 'transaction', slot, signature, failed, logs: logsOf(PROGRAM, lines), blockIndex: 3, blockTime: null };
}

const progress = (slot: number): SourceUpdate => ({
  kind: 'progress',
  resume: { slot, signatures: {}, chain: 'test' },
});

function stage(waitingMax?: number) {
  const places = new Map<number, Place>();
  const writer = new WaitingWriter(TOPICS.processedFills);
  const { written } = writer;
  let version = 0;
  const asked: number[] = [];
  const placeOf = (slot: number): Place => {
    asked.push(slot);
    return places.get(slot) ?? 'unknown';
  };
  const fork = { version: 0, placeOf };
  const trades = new ProcessedTrades({
    fork,
    decoder,
    writer,
    metrics: createForkMetrics(createMetrics(['ingest'])),
    ...(waitingMax === undefined ? {} : { waitingMax }),
  });
  return {
    trades,
    /** Slots whose place was asked for. */
    asked,
    /** Slots have these places from now on. */
    move(news: Readonly<Record<number, Place>>, isKnown = true) {
      for (const [slot, place] of Object.entries(news)) places.set(Number(slot), place);
      version += 1;
      Object.assign(fork, { version });
      if (isKnown) trades.moved();
    },
    confirm: (update: TransactionLogs) => trades.confirmed(decodeTransaction(update, decoder).events),
    away: (is: boolean) => writer.away(is),
    async records() {
      await new Promise((resolve) => setImmediate(resolve));
      return written.map(({ value }) => {
        const message = decodeMessage(value);
        if (message.name === 'ProcessedFill')
          return [message.value.commitment, message.value.slot, message.value.txIndex];
        if (message.name === 'FillWithdrawal') return ['withdrawn', message.value.slot, message.value.signature[0]];
        return [message.name, 'slot' in message.value ? message.value.slot : null];
      });
    },
    written,
  };
}

describe('trades at processed', () => {
  it('are the fills of the followed fork, without other actions and failed transactions', async () => {
    const { trades, move, records, written } = stage();
    move({ 10: 'followed' });
    trades.take(transaction(10, 1, [actionLine(0), actionLine(FILL)]));
    trades.take(transaction(10, 2, [actionLine(FILL)], true));
    trades.take(transaction(10, 3, [actionLine(0)]));
    expect(await records()).toEqual([['processed', 10, 3]]);
    const message = decodeMessage(written[0]?.value ?? new Uint8Array());
    if (message.name !== 'ProcessedFill') throw new Error(message.name);
    expect(decodeEvent(message.value.event)).toMatchObject({ slot: 10, eventIndex: 1, data: { action: 'fill' } });
  });

  it('wait for their fork, move with their transaction, and are withdrawn before they come again', async () => {
    const { trades, move, records } = stage();
    trades.take(transaction(10, 1, [actionLine(FILL)]));
    trades.take(transaction(11, 1, [actionLine(FILL)]));
    expect(await records()).toEqual([]);
    move({ 10: 'followed', 11: 'left' });
    move({ 10: 'left', 11: 'followed' });
    move({});
    expect(await records()).toEqual([
      ['processed', 10, 3],
      ['withdrawn', 10, 1],
      ['processed', 11, 3],
    ]);
  });

  it('are withdrawn before a fill of another fork that comes ahead of the news of it', async () => {
    const { trades, move, records } = stage();
    move({ 10: 'followed' });
    trades.take(transaction(10, 1, [actionLine(FILL)]));
    move({ 10: 'left', 11: 'followed' }, false);
    trades.take(transaction(11, 1, [actionLine(FILL)]));
    expect(await records()).toEqual([
      ['processed', 10, 3],
      ['withdrawn', 10, 1],
      ['processed', 11, 3],
    ]);
  });

  it('cost the same however many others wait for their confirmation', () => {
    const { trades, move, asked } = stage();
    move({ 10: 'followed', 11: 'followed', 12: 'followed' });
    for (const slot of [10, 11, 12]) trades.take(transaction(slot, 1, [actionLine(FILL)]));
    expect(asked).toEqual([10, 11, 12]);
    move({ 12: 'left' });
    expect(asked).toEqual([10, 11, 12, 10, 11, 12]);
  });

  it('of truncated logs are those that the logs show; the confirmed ones come whole', async () => {
    const { trades, move, confirm, records } = stage();
    move({ 10: 'followed' });
    const whole = transaction(10, 1, [actionLine(FILL), actionLine(FILL)]);
    const at = whole.logs.findLastIndex((one) => one.startsWith('Program log: ') || one.startsWith('Program data: '));
    trades.take({ ...whole, logs: [...whole.logs.slice(0, at), 'Log truncated'] });
    confirm(whole);
    expect((await records()).map(([commitment]) => commitment)).toEqual(['processed', 'confirmed', 'confirmed']);
  });

  it('are resolved in every partition after the confirmed fills of the slot', async () => {
    const { trades, move, confirm, records } = stage();
    move({ 10: 'followed' });
    confirm(transaction(10, 1, [actionLine(FILL)]));
    trades.resolved([progress(10)]);
    trades.take(transaction(10, 2, [actionLine(FILL)]));
    const all = await records();
    expect(all[0]).toEqual(['confirmed', 10, 3]);
    expect(all.slice(1)).toEqual(Array.from({ length: TOPICS.processedFills.partitions }, () => ['FillsResolved', 10]));
  });

  it('are dropped beyond the bound while the log is away, and confirmed ones are not', async () => {
    const { trades, move, confirm, away, records } = stage(1);
    move({ 10: 'followed' });
    away(true);
    for (const seed of [1, 2, 3, 4, 5]) trades.take(transaction(10, seed, [actionLine(FILL)]));
    confirm(transaction(10, 5, [actionLine(FILL)]));
    away(false);
    await records();
    expect((await records()).map(([commitment]) => commitment)).toEqual([
      'processed',
      'processed',
      'processed',
      'confirmed',
    ]);
  });
});

describe('ingest', () => {
  it('keeps fills at processed out of the confirmed topics, and settles those of an earlier process', async () => {
    const log = new MemoryLog();
    const [vanishing, landed] = [1, 2].map((seed) => transaction(11, seed, [actionLine(FILL)]));
    if (!vanishing || !landed) throw new Error('no transactions');
    const found = (topic: Topic) => log.all(topic).map(({ value }) => value);
    const inFills = () => found(TOPICS.processedFills).map((value) => decodeMessage(value));
    const run = async (batches: Source['updates'], forks?: OpenConnection) => {
      const context = { config: readConfig({}), log, logger: silentLogger(), metrics: createMetrics(['ingest']) };
      const parts = {
        definition,
        source: { updates: batches, transaction: async () => null },
        ...(forks && { forks }),
      };
      const role = await startIngest(context, parts);
      await role.done;
      await role.stop();
    };
    const delivering: OpenConnection = (parts, attempt) => ({
      run: () => {
        parts.books.news((states) => {
          states.restart(10);
          states.link(11, 10);
          states.follow(11);
        });
        for (const one of [vanishing, landed]) parts.trades.take(one);
        return silentConnection(parts, attempt).run();
      },
    });
    await run(async function* () {
      yield [{ kind: 'slot', slot: 10 }];
      await until(() => inFills().length === 2);
    }, delivering);
    expect(found(TOPICS.events)).toEqual([]);
    await run(async function* () {
      yield [landed, { kind: 'slot', slot: 12 }, progress(12)];
      await until(() => inFills().length === 7);
    }, silentConnection);
    expect(found(TOPICS.events)).toHaveLength(1);
    const partition = partitionOf(TOPICS.processedFills, 'perp-0');
    const ofMarket = log.all(TOPICS.processedFills).filter((record) => record.partition === partition);
    const names = ofMarket.map(({ value }) => decodeMessage(value).name);
    expect(names).toEqual(['ProcessedFill', 'ProcessedFill', 'ProcessedFill', 'FillsResolved']);
  });
});
