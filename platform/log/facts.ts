// What the log says of the completeness of the history: gaps that ingest met, and events that the store does not hold yet.

import { setTimeout as sleep } from 'node:timers/promises';
import { type ChainGap, decodeGaps, GAPS_GROUP, GAPS_KEY, TOPICS } from '../../schemas/index.ts';
import { type EventLog, positionKey } from './port.ts';

/** Group under which the sink keeps its position; a database that a rebuild made has one of its own. */
export function historySinkGroup(database: string, configured: string): string {
  return database === configured ? 'history-sink' : `history-sink@${database}`;
}

export interface LogFacts {
  /** Null when no ingest ever wrote this log: then nothing is known of gaps. */
  readonly gaps: readonly ChainGap[] | null;
  /** Events that the log had when it was asked and the store did not hold in the end; null when nothing is known. */
  readonly eventsNotStored: number | null;
}

const POLL_MS = 100;

/** `waitMs`: how long the store is waited for to hold what the log has now. */
export async function readLogFacts(log: EventLog, sinkGroup: string, waitMs = 0): Promise<LogFacts> {
  const gaps = (await log.load(GAPS_GROUP)).state.get(GAPS_KEY);
  if (gaps === undefined) return { gaps: null, eventsNotStored: null };
  const ends = await Promise.all(
    Array.from({ length: TOPICS.events.partitions }, (_, partition) => log.bounds(TOPICS.events, partition)),
  );
  const missing = async () => {
    const { positions } = await log.load(sinkGroup);
    return ends.reduce((sum, { earliest, next }, partition) => {
      const stored = positions.get(positionKey(TOPICS.events.name, partition)) ?? earliest;
      return sum + Number(next > stored ? next - stored : 0n);
    }, 0);
  };
  const deadlineMs = performance.now() + waitMs;
  let eventsNotStored = await missing();
  while (eventsNotStored > 0 && performance.now() < deadlineMs) {
    await sleep(POLL_MS);
    eventsNotStored = await missing();
  }
  return { gaps: decodeGaps(gaps), eventsNotStored };
}
