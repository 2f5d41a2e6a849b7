// The coverage role: follows events, the chain's counts, backfills and account states, and publishes which numbered records the log has.
// One commit per batch stores views, offset and ranges.

import { Gauge, type Registry } from 'prom-client';
import type { LogBatch, LogRecord, NewRecord, RoleContext, RunningRole } from '../../platform/index.ts';
import {
  accountsKey,
  decodeEvent,
  decodeMessage,
  encodeMessage,
  isAccountStream,
  messageName,
  readableMessage,
  streamKey,
  TOPICS,
  type Topic,
} from '../../schemas/index.ts';
import { deadLetter } from '../follow/dead-letter.ts';
import { piecesOf } from '../follow/pieces.ts';
import { endOf, type Step, startReducerRole, stateWrites } from '../follow/reducer-role.ts';
import { COVERAGE_GROUP, COVERAGE_PREFIX } from './account.ts';
import { Coverage } from './reducer.ts';

/** Below the slots that records settle in, so that a batch of states is never so far ahead of the events. */
const BATCH_STATES = 500;
const BATCH_RECORDS = 1_000;

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log fails. */
export async function startCoverage(context: RoleContext): Promise<RunningRole> {
  const coverage = new Coverage();
  const missing = missingGauge(context.metrics);
  return startReducerRole(context, {
    name: 'coverage',
    group: COVERAGE_GROUP,
    reads: [TOPICS.events, TOPICS.counters, TOPICS.backfills, TOPICS.userOrders],
    writes: [TOPICS.coverageViews, TOPICS.deadLetters],
    maxRecords: ({ name }) => (name === TOPICS.userOrders.name ? BATCH_STATES : BATCH_RECORDS),
    slotOf: (topic, batch) => (topic === TOPICS.userOrders ? stateSlot(coverage.slot, batch) : firstSlot(topic, batch)),
    restore: (state) => coverage.restore(piecesOf(state, COVERAGE_PREFIX)),
    take: (topic, batch) => (isIdle(topic, batch) ? [] : [take(coverage, missing, topic, batch)]),
  });
}

function take(coverage: Coverage, missing: Gauge<'stream'>, topic: Topic, batch: LogBatch): Step {
  const letters: NewRecord[] = [];
  for (const record of batch.records) {
    try {
      apply(coverage, topic, record);
    } catch (error) {
      letters.push(deadLetter('coverage-record', topic, record, error));
    }
  }
  const views: NewRecord[] = [];
  for (const view of coverage.takeViews()) {
    views.push({ key: streamKey(view), value: encodeMessage('StreamCoverage', view) });
    if (!isAccountStream(view.stream)) missing.set({ stream: streamKey(view) }, view.missing);
  }
  for (const totals of coverage.takeTotals()) {
    views.push({ key: accountsKey(totals), value: encodeMessage('AccountsCoverage', totals) });
    missing.set({ stream: accountsKey(totals) }, totals.missing);
  }
  const outputs = [
    { topic: TOPICS.coverageViews, records: views },
    { topic: TOPICS.deadLetters, records: letters },
  ];
  return { outputs, state: stateWrites(COVERAGE_PREFIX, coverage.takeChanges()), next: endOf(batch) };
}

function apply(coverage: Coverage, topic: Topic, record: LogRecord): void {
  if (topic === TOPICS.events) {
    coverage.event(decodeEvent(record.value));
    return;
  }
  const message = decodeMessage(record.value);
  if (message.name === 'StreamCounter') coverage.counter(message.value);
  else if (message.name === 'Backfill') coverage.backfill(message.value);
  else if (message.name === 'UserOrders') coverage.state(message.value);
}

/** Partitions advance together, so that a partition that is read first shows no holes. */
function firstSlot(topic: Topic, { records }: LogBatch): number {
  const [first] = records;
  if (!first) return 0;
  try {
    if (topic === TOPICS.events) return decodeEvent(first.value).slot;
    const message = decodeMessage(first.value);
    if (message.name === 'StreamCounter') return message.value.slot;
    return message.name === 'Backfill' ? message.value.toSlot : 0;
  } catch {
    return 0;
  }
}

/**
 * Events of a slot come before its states, so that few states run ahead of their records. States that are far behind, as those of
 * an older log, hold back nothing.
 */
function stateSlot(newestSlot: number, { records }: LogBatch): number {
  for (const { value: bytes } of records) {
    const slot = readableMessage('UserOrders', bytes)?.slot;
    if (slot !== undefined) return Math.max(slot + 1, newestSlot);
  }
  return newestSlot;
}

/** Slots alone are not worth a commit: a restart takes them again. */
function isIdle(topic: Topic, { records }: LogBatch): boolean {
  return topic === TOPICS.userOrders && records.every(({ value }) => isSlot(value));
}

function isSlot(bytes: Uint8Array): boolean {
  try {
    return messageName(bytes) === 'BookSlot';
  } catch {
    return false;
  }
}

function missingGauge(registry: Registry): Gauge<'stream'> {
  return new Gauge({
    name: 'slotbook_coverage_missing',
    help: 'numbered records of a market, or of all accounts, that the log lacks',
    labelNames: ['stream'],
    registers: [registry],
  });
}
