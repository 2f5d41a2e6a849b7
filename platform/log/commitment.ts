// The log as books and trades at one commitment use it. Books and trades at processed have topics and groups of their own. So a
// role or a reader serves either commitment, by the log that it is given.

import { TOPICS, type Topic } from '../../schemas/index.ts';
import { ForwardingLog } from './forwarding.ts';
import type {
  Appended,
  Commit,
  EventLog,
  FollowOptions,
  GroupState,
  GroupUse,
  LogBatch,
  LogPage,
  LogRecord,
  NewRecord,
} from './port.ts';

export const COMMITMENTS = ['confirmed', 'processed'] as const;
export type Commitment = (typeof COMMITMENTS)[number];

const PROCESSED: ReadonlyMap<string, Topic> = new Map<string, Topic>([
  [TOPICS.book.name, TOPICS.processedBook],
  [TOPICS.bookViews.name, TOPICS.processedBookViews],
  [TOPICS.marketViews.name, TOPICS.processedMarketViews],
  [TOPICS.qualityViews.name, TOPICS.processedQualityViews],
  [TOPICS.tradeViews.name, TOPICS.processedTradeViews],
  [TOPICS.tradeHeads.name, TOPICS.processedTradeHeads],
]);

const topicOf = (topic: Topic): Topic => PROCESSED.get(topic.name) ?? topic;
const groupOf = (group: string): string => `${group}.processed`;

/** `log` at confirmed; at processed a view of it, in which topics of books and trades, and groups, mean those at processed. */
export function logAt(log: EventLog, commitment: Commitment): EventLog {
  return commitment === 'confirmed' ? log : new ProcessedLog(log);
}

class ProcessedLog extends ForwardingLog {
  override ensureTopics(topics: readonly Topic[]): Promise<void> {
    return super.ensureTopics(topics.map(topicOf));
  }

  override append(topic: Topic, records: readonly NewRecord[]): Promise<readonly Appended[]> {
    return super.append(topicOf(topic), records);
  }

  override bounds(topic: Topic, partition: number): Promise<{ readonly earliest: bigint; readonly next: bigint }> {
    return super.bounds(topicOf(topic), partition);
  }

  override read(topic: Topic, partition: number, from: bigint, maxRecords: number): Promise<readonly LogRecord[]> {
    return super.read(topicOf(topic), partition, from, maxRecords);
  }

  override follow(options: FollowOptions): AsyncIterable<LogBatch> {
    return super.follow({ ...options, topic: topicOf(options.topic) });
  }

  override followPages(options: FollowOptions): AsyncIterable<LogPage> {
    return super.followPages({ ...options, topic: topicOf(options.topic) });
  }

  override commit(group: string, step: Commit): Promise<void> {
    const outputs = step.outputs?.map(({ topic, records }) => ({ topic: topicOf(topic), records }));
    return super.commit(groupOf(group), { ...step, ...(outputs ? { outputs } : {}) });
  }

  override load(group: string, as?: GroupUse): Promise<GroupState> {
    return super.load(groupOf(group), as);
  }

  override forget(group: string): Promise<void> {
    return super.forget(groupOf(group));
  }
}
