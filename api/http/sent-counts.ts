// Messages and bytes sent to sockets, as two metrics.

import { Counter, type Registry } from 'prom-client';

/** Sent since the last scrape. Plain numbers, so that a send costs no metric call. */
export interface SentCounts {
  messages: number;
  bytes: number;
}

/** `helps`: the help texts of `<prefix>_messages_total` and `<prefix>_bytes_total`. */
export function sentCounts(
  registry: Registry,
  prefix: string,
  helps: Readonly<Record<keyof SentCounts, string>>,
): SentCounts {
  const sent: SentCounts = { messages: 0, bytes: 0 };
  for (const member of ['messages', 'bytes'] as const) {
    new Counter({
      name: `${prefix}_${member}_total`,
      help: helps[member],
      registers: [registry],
      collect() {
        this.inc(sent[member]);
        sent[member] = 0;
      },
    });
  }
  return sent;
}
