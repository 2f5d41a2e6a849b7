// Law 1 as a test. The source topics alone, replayed into an empty log and an empty ClickHouse, give the same views and rows,
// hash for hash.

import { createHash } from 'node:crypto';
import path from 'node:path';
import type { EventLog } from '../../../../platform/index.ts';
import { TOPIC_LIST, TOPICS, type Topic } from '../../../../schemas/index.ts';
import { openLogAt } from '../../../support/log/open-at.ts';
import { pages } from '../../../support/log/pages.ts';
import { eventually, type Running, startRoles } from '../../../support/processes/processes.ts';
import { type Digests, digestsOf, storedLines, storedRows } from '../naive/history-truth.ts';
import type { Pipeline } from './pipeline.ts';

const SOURCES: readonly Topic[] = [TOPICS.events, TOPICS.book];
const VIEWS: readonly Topic[] = [TOPICS.bookViews, TOPICS.tradeViews];

export interface ReadModels {
  readonly views: { readonly records: number; readonly hash: string };
  readonly tables: Digests;
}

/** The cluster must be stopped. Views are compared as sequences without repeats (a restart may repeat records). */
export async function rebuildFromLog(pipeline: Pipeline): Promise<{ before: ReadModels; after: ReadModels }> {
  const original = await openLogAt(pipeline.dataDir);
  const dir = path.join(pipeline.dataDir, 'rebuilt');
  const copy = await openLogAt(dir);
  const started: Running[] = [];
  try {
    await copy.ensureTopics(TOPIC_LIST);
    for (const topic of SOURCES) await copyTopic(topic, original, copy);
    const before = {
      views: await viewsHash(original),
      tables: digestsOf(await storedLines(pipeline.url('clickhouse'))),
    };
    const clickhouse = await startRoles(['clickhouse'], { DATA_DIR: dir });
    started.push(clickhouse);
    const url = clickhouse.endpoints.clickhouse ?? '';
    started.push(await startRoles(['book', 'trades', 'sink'], { DATA_DIR: dir }));
    const rebuilt = async () => ({ views: await viewsHash(copy), tables: digestsOf(await storedLines(url)) });
    const rows = Object.values(before.tables).reduce((sum, { count }) => sum + count, 0);
    await eventually('rows stored again', async () => (await storedRows(url)) >= rows);
    const after = await eventually('views published again', async () => {
      const now = await rebuilt();
      return now.views.records >= before.views.records ? now : undefined;
    }).catch(rebuilt);
    return { before, after };
  } finally {
    for (const role of started.reverse()) await role.stop();
    await copy.close();
    await original.close();
  }
}

async function copyTopic(topic: Topic, from: EventLog, to: EventLog): Promise<void> {
  for (let partition = 0; partition < topic.partitions; partition += 1) {
    for await (const records of pages(from, topic, partition)) {
      await to.append(
        topic,
        records.map(({ key, value }) => ({ key, value, partition })),
      );
    }
  }
}

async function viewsHash(log: EventLog): Promise<ReadModels['views']> {
  const total = createHash('sha256');
  let records = 0;
  for (const topic of VIEWS) {
    for (let partition = 0; partition < topic.partitions; partition += 1) {
      const seen = new Set<string>();
      for await (const page of pages(log, topic, partition)) {
        for (const { key, value } of page) {
          const digest = createHash('sha256').update(key).update(value).digest('base64');
          if (seen.has(digest)) continue;
          seen.add(digest);
          total.update(digest);
          records += 1;
        }
      }
    }
  }
  return { records, hash: total.digest('hex') };
}
