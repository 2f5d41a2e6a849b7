// Metrics of the history socket.

import { Counter, Gauge, type Registry } from 'prom-client';
import { type SentCounts, sentCounts } from '../../http/sent-counts.ts';
import { CLOSE_REASONS, type SocketClient } from './client.ts';
import { CHANNEL_TYPES } from './requests.ts';

const END_REASONS = ['client', ...CLOSE_REASONS] as const;

export interface SocketMetrics {
  readonly closes: Counter<'reason'>;
  readonly sent: SentCounts;
}

/** `clients`: those that gauges read at each scrape. */
export function socketMetrics(registry: Registry, clients: ReadonlySet<SocketClient>): SocketMetrics {
  const registers = [registry];
  const sent = sentCounts(registry, 'slotbook_history', {
    messages: 'Messages handed to sockets of the history service',
    bytes: 'Payload bytes handed to sockets of the history service',
  });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  gauge('slotbook_history_connections', 'Open WebSocket connections of the history service', () => clients.size);
  gauge('slotbook_history_buffered_bytes', 'Bytes handed to these connections that their clients have not read', () =>
    [...clients].reduce((sum, { unreadBytes }) => sum + unreadBytes, 0),
  );
  new Gauge({
    name: 'slotbook_history_subscriptions',
    help: 'Subscriptions of these connections by channel type',
    labelNames: ['channelType'],
    registers,
    collect() {
      for (const channelType of CHANNEL_TYPES) this.set({ channelType }, 0);
      for (const client of clients) {
        for (const { channelType } of client.channels.values()) this.inc({ channelType });
      }
    },
  });
  const closes = new Counter({
    name: 'slotbook_history_closes_total',
    help: `Connections ended, by who or why: ${END_REASONS.join(', ')}`,
    labelNames: ['reason'],
    registers,
  });
  // Starts at zero, so the first close is an increase.
  for (const reason of END_REASONS) closes.inc({ reason }, 0);
  return { closes, sent };
}
