// Metrics of the `book` channel.

import { Counter, Gauge, type Registry } from 'prom-client';

export interface FeedMetrics {
  readonly renderings: Counter<'type'>;
  readonly resumes: Counter<'outcome'>;
  readonly logReads: Counter;
  readonly streams: Gauge;
}

export function feedMetrics(registry: Registry): FeedMetrics {
  const registers = [registry];
  return {
    renderings: new Counter({
      name: 'slotbook_feed_renderings_total',
      help: 'Book channel messages rendered, whatever the number of subscribers: snapshot, diff, fill (backfill of a resume)',
      labelNames: ['type'],
      registers,
    }),
    resumes: new Counter({
      name: 'slotbook_feed_resumes_total',
      help: 'Resumes of clients by outcome: recovered, lost',
      labelNames: ['outcome'],
      registers,
    }),
    logReads: new Counter({
      name: 'slotbook_feed_log_reads_total',
      help: 'Resumes that needed changes older than those in memory',
      registers,
    }),
    streams: new Gauge({ name: 'slotbook_feed_streams', help: 'Streams with subscribers', registers }),
  };
}
