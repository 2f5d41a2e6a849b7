// Metrics of the gateway.

import { Counter, Gauge, type Registry } from 'prom-client';
import { SOCKET_CLOSES } from '../http/errors.ts';
import { type SentCounts, sentCounts } from '../http/sent-counts.ts';

export interface GatewayMetrics {
  readonly connections: Gauge;
  readonly sent: SentCounts;
  readonly drops: Counter;
  readonly closes: Counter<'reason'>;
  readonly requests: { inc(labels: { readonly outcome: string }): void };
  readonly renderings: Counter;
}

export function gatewayMetrics(registry: Registry): GatewayMetrics {
  const registers = [registry];
  const sent = sentCounts(registry, 'slotbook_gateway', {
    messages: 'Messages sent to client sockets',
    bytes: 'Payload bytes sent to client sockets',
  });
  const outcomes = new Map<string, number>();
  new Counter({
    name: 'slotbook_gateway_requests_total',
    help: 'Client messages by outcome',
    labelNames: ['outcome'],
    registers,
    collect() {
      for (const [outcome, count] of outcomes) this.inc({ outcome }, count);
      outcomes.clear();
    },
  });
  const connections = new Gauge({
    name: 'slotbook_gateway_connections',
    help: 'Open WebSocket connections',
    registers,
  });
  new Gauge({
    name: 'websocket_connections',
    help: 'Open WebSocket connections, under the name of the predecessor, whose counter never went down',
    registers,
    async collect() {
      this.set((await connections.get()).values[0]?.value ?? 0);
    },
  });
  return {
    sent,
    connections,
    drops: new Counter({
      name: 'slotbook_gateway_drops_total',
      help: 'Messages not sent because their client lagged too far and was closed',
      registers,
    }),
    closes: new Counter({
      name: 'slotbook_gateway_closes_total',
      help: `Connections ended, by reason: client, shutdown, ${Object.keys(SOCKET_CLOSES).join(', ')}`,
      labelNames: ['reason'],
      registers,
    }),
    requests: {
      inc: ({ outcome }) => {
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      },
    },
    renderings: new Counter({
      name: 'slotbook_gateway_renderings_total',
      help: 'Rendered book messages: one per channel and tick, whatever the number of subscribers',
      registers,
    }),
  };
}
