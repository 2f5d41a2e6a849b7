// Life of a client of the history socket: subscribe (acknowledgement, init, stream), unsubscribe, close.

import type { WebSocket } from 'uWebSockets.js';
import type { Logger, Registry } from '../../../platform/index.ts';
import { HISTORY_SOCKET_ERRORS, HistoryError } from '../../http/errors.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import type { CandleChannels } from './candles.ts';
import { SocketClient, type SocketData } from './client.ts';
import type { Hub } from './hub.ts';
import { MAX_SUBSCRIPTIONS } from './limits.ts';
import { type SocketMetrics, socketMetrics } from './metrics.ts';
import type { NotificationChannels } from './notifications.ts';
import { acknowledgement, type Channel, readRequest } from './requests.ts';
import type { SummaryChannels } from './summaries.ts';

export interface SessionParts {
  readonly metrics: Registry;
  readonly logger: Logger;
  readonly markets: MarketRegistry;
  readonly hub: Hub;
  readonly candles: CandleChannels;
  readonly summaries: SummaryChannels;
  readonly notifications: NotificationChannels;
}

export class Sessions {
  readonly #parts: SessionParts;
  readonly #clients = new Set<SocketClient>();
  readonly #metrics: SocketMetrics;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#metrics = socketMetrics(parts.metrics, this.#clients);
  }

  open(socket: WebSocket<SocketData>): void {
    const client = new SocketClient(socket, this.#metrics.sent);
    socket.getUserData().client = client;
    this.#clients.add(client);
  }

  message(socket: WebSocket<SocketData>, bytes: ArrayBuffer): void {
    const { client } = socket.getUserData();
    if (!client) return;
    if (!client.admits(performance.now())) {
      client.end('flood');
      return;
    }
    const request = readRequest(Buffer.from(bytes).toString('utf8'), this.#parts.markets);
    if (request.type === 'error') client.send(JSON.stringify(request));
    else if (request.type === 'unsubscribe') this.#leave(client, request.channel.channel);
    else this.#subscribe(client, request.channel);
  }

  closed(socket: WebSocket<SocketData>): void {
    const { client } = socket.getUserData();
    if (!client) return;
    client.closed();
    for (const channel of client.channels.keys()) this.#parts.hub.remove(channel, client);
    this.#clients.delete(client);
    this.#metrics.closes.inc({ reason: client.endedBy ?? 'client' });
  }

  endAll(): void {
    for (const client of [...this.#clients]) client.end('restart');
  }

  #leave(client: SocketClient, channel: string): void {
    client.channels.delete(channel);
    this.#parts.hub.remove(channel, client);
  }

  /** A repeated subscribe gets the same answers and does not double the stream. */
  #subscribe(client: SocketClient, channel: Channel): void {
    const { channelType } = channel;
    if (client.channels.size >= MAX_SUBSCRIPTIONS && !client.channels.has(channel.channel)) {
      client.send(JSON.stringify({ type: 'error', message: HISTORY_SOCKET_ERRORS.tooMany, channelType }));
      return;
    }
    const subscription = client.channels.get(channel.channel) ?? { channelType };
    client.channels.set(channel.channel, subscription);
    client.send(JSON.stringify(acknowledgement(channel)));
    const isCurrent = () => client.isOpen && client.channels.get(channel.channel) === subscription;
    this.#start(client, channel, isCurrent).catch((error: unknown) => {
      if (!(error instanceof HistoryError)) this.#parts.logger.error({ error, channel }, 'channel cannot be started');
      if (isCurrent()) this.#refuse(client, channel);
    });
  }

  /** Sends `init`, then starts the stream, unless the client left. */
  async #start(client: SocketClient, channel: Channel, isCurrent: () => boolean): Promise<void> {
    const { candles, hub, notifications, summaries } = this.#parts;
    if (channel.channelType === 'notifications') return notifications.subscribe(channel, client, isCurrent);
    const init = channel.channelType === 'candle' ? await candles.init(channel) : summaries.init(channel);
    if (!isCurrent()) return;
    if (init) client.send(JSON.stringify(init));
    hub.add(channel.channel, client);
  }

  #refuse(client: SocketClient, { channel, channelType }: Channel): void {
    this.#leave(client, channel);
    client.send(JSON.stringify({ type: 'error', message: HISTORY_SOCKET_ERRORS.notBuilt, channelType }));
  }
}
