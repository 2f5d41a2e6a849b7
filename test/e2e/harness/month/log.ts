// Reads the log of a month: the progress of its readers. Writes a second log with the same events in disorder.

import { type EventLog, type LogRecord, offsetKey, readFinality, readToEnd } from '../../../../platform/index.ts';
import { decodeMessage, marketKey, TOPIC_LIST, TOPICS, type Topic } from '../../../../schemas/index.ts';
import { openLogAt } from '../../../support/log/open-at.ts';
import { pages } from '../../../support/log/pages.ts';

/** Largest distance between records that swap places. */
const WINDOW_RECORDS = 400;
const DUPLICATE_SHARE = 0.1;
const LATE_SHARE = 0.04;
const BATCH_RECORDS = 250;

/** Time up to which archives and exports have rows, Unix seconds. */
export async function finalTs(dataDir: string): Promise<number> {
  const log = await openLogAt(dataDir);
  try {
    const finality = await readFinality(log);
    if (finality === null) throw new Error('no slot of the month is final');
    return finality.ts;
  } finally {
    await log.close();
  }
}

/** Oracle price of each market's newest description, by market key. */
export async function publishedPrices(dataDir: string): Promise<ReadonlyMap<string, bigint>> {
  const prices = new Map<string, bigint>();
  const log = await openLogAt(dataDir);
  try {
    await readToEnd({ log, topic: TOPICS.marketViews, partition: 0 }, ({ value: bytes }) => {
      const { name, value } = decodeMessage(bytes);
      if (name !== 'MarketView' || value.oraclePrice === null) return;
      prices.set(marketKey(value), value.oraclePrice);
    });
  } finally {
    await log.close();
  }
  return prices;
}

/** Groups between the chain's records and ClickHouse, with the topics that each must have read to the end. */
const READERS: readonly { readonly group: string; readonly topics: readonly Topic[] }[] = [
  { group: 'samples', topics: [TOPICS.book] },
  { group: 'candles', topics: [TOPICS.events, TOPICS.samples] },
  { group: 'push', topics: [TOPICS.notifications] },
  { group: 'coverage', topics: [TOPICS.events, TOPICS.counters] },
  { group: 'notifications', topics: [TOPICS.events, TOPICS.margin] },
  {
    group: 'history-sink',
    topics: [TOPICS.events, TOPICS.samples, TOPICS.candleViews, TOPICS.vaults, TOPICS.notifications],
  },
];

/** Unread topics in words; empty when every reader is at the end. `groups` names the running ones. */
export async function unread(log: EventLog, groups: readonly string[]): Promise<readonly string[]> {
  const behind: string[] = [];
  for (const { group, topics } of READERS.filter((reader) => groups.includes(reader.group))) {
    const { offsets } = await log.load(group);
    for (const topic of topics) {
      for (let partition = 0; partition < topic.partitions; partition += 1) {
        const { earliest, next } = await log.bounds(topic, partition);
        const read = offsets.get(offsetKey(topic.name, partition)) ?? earliest;
        if (read < next) behind.push(`${group} ${topic.name}/${partition}: ${next - read}`);
      }
    }
  }
  return behind;
}

/** Topics that reducers write again from the copy. */
const REMADE: ReadonlySet<Topic> = new Set<Topic>([
  TOPICS.events,
  TOPICS.candleViews,
  TOPICS.summaryViews,
  TOPICS.deadLetters,
]);

/** Copies the topics that the history needs besides events, record by record. */
export async function copySurroundings(from: EventLog, to: EventLog): Promise<void> {
  await to.ensureTopics(TOPIC_LIST);
  for (const topic of [TOPICS.samples, TOPICS.marketViews, TOPICS.vaults]) {
    if (REMADE.has(topic)) continue;
    for (let partition = 0; partition < topic.partitions; partition += 1) {
      for await (const records of pages(from, topic, partition)) await appendAll(to, topic, partition, records);
    }
  }
}

/**
 * Appends the events of one log to another: neighbours in any order, some again later on, some only at the very end.
 * `between` runs after every batch. Returns how many records were written beyond those of the original.
 */
export async function copyEventsInDisorder(
  from: EventLog,
  to: EventLog,
  random: () => number,
  between: () => Promise<void>,
): Promise<number> {
  const queues: { readonly partition: number; readonly records: LogRecord[] }[] = [];
  let extra = 0;
  for (let partition = 0; partition < TOPICS.events.partitions; partition += 1) {
    const original: LogRecord[] = [];
    for await (const records of pages(from, TOPICS.events, partition)) original.push(...records);
    const disordered = inDisorder(original, random);
    extra += disordered.length - original.length;
    queues.push({ partition, records: disordered });
  }
  for (let at = 0; queues.some(({ records }) => at < records.length); at += BATCH_RECORDS) {
    for (const { partition, records } of queues) {
      await appendAll(to, TOPICS.events, partition, records.slice(at, at + BATCH_RECORDS));
    }
    await between();
  }
  return extra;
}

function inDisorder(original: readonly LogRecord[], random: () => number): LogRecord[] {
  const placed: { readonly at: number; readonly record: LogRecord }[] = [];
  for (const [index, record] of original.entries()) {
    const isLate = random() < LATE_SHARE;
    placed.push({
      at: isLate ? original.length + random() * WINDOW_RECORDS : index + random() * WINDOW_RECORDS,
      record,
    });
    if (random() < DUPLICATE_SHARE) placed.push({ at: index + random() * original.length, record });
  }
  return placed.sort((a, b) => a.at - b.at).map(({ record }) => record);
}

async function appendAll(log: EventLog, topic: Topic, partition: number, records: readonly LogRecord[]): Promise<void> {
  if (records.length === 0) return;
  await log.append(
    topic,
    records.map(({ key, value }) => ({ key, value, partition })),
  );
}
