// The ids of the events that the log has in a range of slots. A backfill writes only the others.

import { type EventLog, readPages } from '../../platform/index.ts';
import { decodeEvent, EVENT_NAMES, partialEventDecoder, TOPICS } from '../../schemas/index.ts';
import { eventId } from '../decode/transaction.ts';

const READ_RECORDS = 5_000;
const slotOf = partialEventDecoder(Object.fromEntries(EVENT_NAMES.map((name) => [name, ['slot']])));

/** Reads the whole topic: events of one slot may lie anywhere after a backfill. */
export async function knownEvents(
  log: EventLog,
  fromSlot: number,
  toSlot: number,
  signal: AbortSignal,
): Promise<Set<string>> {
  const known = new Set<string>();
  for (let partition = 0; partition < TOPICS.events.partitions; partition++) {
    const { earliest } = await log.bounds(TOPICS.events, partition);
    signal.throwIfAborted();
    const part = { log, topic: TOPICS.events, partition, pageRecords: READ_RECORDS };
    for await (const records of readPages(part, earliest)) {
      for (const { value } of records) {
        const slot = Number(slotOf(value)?.data.slot ?? -1);
        if (slot < fromSlot || slot > toSlot) continue;
        const { signature, eventIndex } = decodeEvent(value);
        known.add(eventId(signature, eventIndex));
      }
      signal.throwIfAborted();
    }
  }
  return known;
}
