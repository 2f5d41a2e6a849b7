// Completeness of the history, as far as the log knows it: gaps that ingest found, and events that the store lacks.

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AccountsCoverage,
  type ChainGap,
  decodeGaps,
  GAPS_GROUP,
  GAPS_KEY,
  type StreamCoverage,
  TOPICS,
} from '../../schemas/index.ts';
import { CoverageTail } from './newest.ts';
import { type EventLog, offsetKey } from './port.ts';

/** Group of the sink's offsets. Each rebuilt database has its own. */
export function historySinkGroup(database: string, configured: string): string {
  return database === configured ? 'history-sink' : `history-sink@${database}`;
}

export interface HistoryCompleteness {
  /** Null when no ingest ever wrote this log, so that its gaps are unknown. */
  readonly gaps: readonly ChainGap[] | null;
  /** Coverage of the numbered streams; empty for a log without the role `coverage`. */
  readonly coverage: readonly StreamCoverage[];
  /** Totals of the numbered streams of accounts. */
  readonly accounts: readonly AccountsCoverage[];
  /** Events in the log at the time of the call that the store still lacks at the end; null when unknown. */
  readonly eventsNotStored: number | null;
}

const POLL_MS = 100;

/** `waitMs`: how long to wait until the store has all events that the log has at the time of the call. */
export async function readHistoryCompleteness(
  log: EventLog,
  sinkGroup: string,
  waitMs = 0,
): Promise<HistoryCompleteness> {
  const gaps = (await log.load(GAPS_GROUP, 'reader')).state.get(GAPS_KEY);
  if (gaps === undefined) return { gaps: null, coverage: [], accounts: [], eventsNotStored: null };
  const tail = new CoverageTail(log);
  const coverage = await tail.read();
  const ends = await Promise.all(
    Array.from({ length: TOPICS.events.partitions }, (_, partition) => log.bounds(TOPICS.events, partition)),
  );
  const missing = async () => {
    const { offsets } = await log.load(sinkGroup, 'reader');
    return ends.reduce((sum, { earliest, next }, partition) => {
      const stored = offsets.get(offsetKey(TOPICS.events.name, partition)) ?? earliest;
      return sum + Number(next > stored ? next - stored : 0n);
    }, 0);
  };
  const deadlineMs = performance.now() + waitMs;
  let eventsNotStored = await missing();
  while (eventsNotStored > 0 && performance.now() < deadlineMs) {
    await sleep(POLL_MS);
    eventsNotStored = await missing();
  }
  return { gaps: decodeGaps(gaps), coverage, accounts: tail.accounts, eventsNotStored };
}
