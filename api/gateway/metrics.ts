// What the gateway counts.

import { Counter, Gauge, type Registry } from 'prom-client';

export interface GatewayMetrics {
  readonly connections: Gauge;
  readonly messages: Counter;
  readonly bytes: Counter;
  readonly drops: Counter;
  readonly closes: Counter<'reason'>;
  readonly requests: Counter<'outcome'>;
  readonly renderings: Counter;
}

export function gatewayMetrics(registry: Registry): GatewayMetrics {
  const registers = [registry];
  return {
    connections: new Gauge({
      name: 'slotbook_gateway_connections',
      help: 'Open WebSocket connections',
      registers,
    }),
    messages: new Counter({
      name: 'slotbook_gateway_messages_total',
      help: 'Messages handed to client sockets',
      registers,
    }),
    bytes: new Counter({
      name: 'slotbook_gateway_bytes_total',
      help: 'Payload bytes handed to client sockets',
      registers,
    }),
    drops: new Counter({
      name: 'slotbook_gateway_drops_total',
      help: 'Messages not sent because their client lagged too far and was closed',
      registers,
    }),
    closes: new Counter({
      name: 'slotbook_gateway_closes_total',
      help: 'Connections ended, by who or why: client, unknownChannel, overflow, shutdown',
      labelNames: ['reason'],
      registers,
    }),
    requests: new Counter({
      name: 'slotbook_gateway_requests_total',
      help: 'Client messages by what became of them',
      labelNames: ['outcome'],
      registers,
    }),
    renderings: new Counter({
      name: 'slotbook_gateway_renderings_total',
      help: 'Book messages serialised; one per channel and tick whatever the number of subscribers',
      registers,
    }),
  };
}
