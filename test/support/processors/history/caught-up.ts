// Waits for a history sink.

import type { EventLog } from '../../../../platform/index.ts';
import { TOPICS } from '../../../../schemas/index.ts';

/** True when the sink has stored every event of the log. */
export async function isCaughtUp(log: EventLog, group = 'history-sink'): Promise<boolean> {
  const { offsets, state } = await log.load(group);
  for (let partition = 0; partition < TOPICS.events.partitions; partition++) {
    const { next } = await log.bounds(TOPICS.events, partition);
    if ((offsets.get(`events/${partition}`) ?? 0n) < next) return false;
  }
  return state.size === 0;
}
