// What the quote socket counts.

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
      help: 'Messages of makers: auth, quotes, malformedQuote, or the refusal of the error table',
      labelNames: ['outcome'],
      registers,
    }),
    refusals: new Counter({
      name: 'slotbook_quote_refusals_total',
      help: 'Connections refused before they were opened',
      labelNames: ['reason'],
      registers,
    }),
    closes: new Counter({
      name: 'slotbook_quote_closes_total',
      help: 'Connections ended, by who or why: client, shutdown, or the reason of the close table',
      labelNames: ['reason'],
      registers,
    }),
  };
}
