// Metrics of the quote socket.

import { Counter, Gauge, type Registry } from 'prom-client';

export interface QuoteMetrics {
  readonly connections: Gauge;
  readonly messages: Counter<'outcome'>;
  readonly refusals: Counter<'reason'>;
  readonly closes: Counter<'reason'>;
}

export function quoteMetrics(registry: Registry): QuoteMetrics {
  const registers = [registry];
  return {
    connections: new Gauge({
      name: 'slotbook_quote_connections',
      help: 'Open connections of the quote socket',
      registers,
    }),
    messages: new Counter({
      name: 'slotbook_quote_messages_total',
      help: 'Messages of makers: auth, quotes, malformedQuote, or a refusal of the error table',
      labelNames: ['outcome'],
      registers,
    }),
    refusals: new Counter({
      name: 'slotbook_quote_refusals_total',
      help: 'Connections refused at the upgrade request',
      labelNames: ['reason'],
      registers,
    }),
    closes: new Counter({
      name: 'slotbook_quote_closes_total',
      help: 'Connections ended, by reason: client, shutdown, or a reason of the close table',
      labelNames: ['reason'],
      registers,
    }),
  };
}
