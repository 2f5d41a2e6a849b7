// Replays the log of one market: its book at a slot, and the earliest slot with a whole book.

import { type EventLog, type LogRecord, Pace, readPages } from '../../../platform/index.ts';
import {
  type BookViewDiff,
  type BookViewHead,
  type BookViewSnapshot,
  decodeMessage,
  partitionOf,
  TOPICS,
} from '../../../schemas/index.ts';
import { PublishedBook } from '../published-book.ts';
import type { PublishTimes } from './publish-times.ts';

type BookMessage = BookViewDiff | BookViewSnapshot;

/**
 * The book after the last change at or before the slot, replayed from offset `from`. `gone`: the log no longer contains it
 * without a hole. `ahead`: the log contains no later slot, so more changes of this one may come.
 */
export async function bookAt(
  log: EventLog,
  key: string,
  { slot, from, times }: { readonly slot: number; readonly from: bigint; readonly times: PublishTimes },
): Promise<PublishedBook | 'gone' | 'ahead'> {
  const book = new PublishedBook();
  for await (const message of messages(log, key, from)) {
    if (message.slot > slot && (book.version > 0 || begins(message))) {
      if (book.version === 0 || book.view.isStale || !follows(message, book.head)) return 'gone';
      // Retention may have removed records during the replay.
      return (await earliestOffset(log, key)) > from ? 'gone' : book;
    }
    book.take(message, times.at(key, message.slot));
  }
  return 'ahead';
}

/** First slot with a whole book in the log; null without one. */
export async function earliestSlot(log: EventLog, key: string): Promise<number | null> {
  for await (const message of messages(log, key, await earliestOffset(log, key))) {
    if (begins(message)) return message.slot;
  }
  return null;
}

/** Oldest offset of the market's partition of `views.book`. */
export async function earliestOffset(log: EventLog, key: string): Promise<bigint> {
  return (await log.bounds(TOPICS.bookViews, partitionOf(TOPICS.bookViews, key))).earliest;
}

/** True if a message contains a whole book by itself: a snapshot, or the first change of an epoch. */
function begins(message: BookMessage): boolean {
  return !('gone' in message) || message.seq === 1;
}

/** True if no message is missing between a book and this one. */
function follows({ epoch, seq }: BookMessage, head: BookViewHead): boolean {
  return epoch === head.epoch ? seq <= head.seq + 1 : epoch > head.epoch && seq === 1;
}

async function* messages(log: EventLog, key: string, from: bigint): AsyncGenerator<BookMessage> {
  const partition = partitionOf(TOPICS.bookViews, key);
  const pace = new Pace();
  for await (const records of readPages({ log, topic: TOPICS.bookViews, partition }, from)) {
    for (const record of records) {
      const message = record.key === key ? bookMessage(record) : null;
      if (message) yield message;
      await pace.rest();
    }
  }
}

/** Null for an unreadable record. The book then has a hole until its next snapshot. */
function bookMessage({ value }: LogRecord): BookMessage | null {
  try {
    const message = decodeMessage(value);
    return message.name === 'BookViewDiff' || message.name === 'BookViewSnapshot' ? message.value : null;
  } catch {
    return null;
  }
}
