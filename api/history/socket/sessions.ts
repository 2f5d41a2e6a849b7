// What happens to a client of the history socket: subscribe (acknowledgement, init, stream), unsubscribe, close.

import type { WebSocket } from 'uWebSockets.js';
import type { Logger } from '../../../platform/index.ts';
import { HISTORY_SOCKET_ERRORS, HistoryError } from '../../errors.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import type { CandleChannels } from './candles.ts';
import { SocketClient, type SocketData } from './client.ts';
import type { Hub } from './hub.ts';
import { MAX_SUBSCRIPTIONS } from './limits.ts';
import type { NotificationChannels } from './notifications.ts';
import { acknowledgement, type Channel, readRequest } from './requests.ts';
import type { SummaryChannels } from './summaries.ts';

export interface SessionParts {
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

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  open(socket: WebSocket<SocketData>): void {
    const client = new SocketClient(socket);
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
    for (const channel of client.channels) this.#parts.hub.remove(channel, client);
    this.#clients.delete(client);
  }

  endAll(): void {
    for (const client of [...this.#clients]) client.end('restart');
  }

  #leave(client: SocketClient, channel: string): void {
    client.channels.delete(channel);
    this.#parts.hub.remove(channel, client);
  }

  /** A repeated subscribe is answered like the first, and the stream is not doubled. */
  #subscribe(client: SocketClient, channel: Channel): void {
    const { channelType } = channel;
    if (client.channels.size >= MAX_SUBSCRIPTIONS && !client.channels.has(channel.channel)) {
      client.send(JSON.stringify({ type: 'error', message: HISTORY_SOCKET_ERRORS.tooMany, channelType }));
      return;
    }
    client.channels.add(channel.channel);
    client.send(JSON.stringify(acknowledgement(channel)));
    this.#init(client, channel).then(
      (message) => this.#join(client, channel, message),
      (error: unknown) => this.#refuse(client, channel, error),
    );
  }

  async #init(client: SocketClient, channel: Channel): Promise<object | null> {
    const { candles, hub, notifications, summaries } = this.#parts;
    if (channel.channelType === 'candle') return candles.init(channel);
    if (channel.channelType !== 'notifications') return summaries.init(channel);
    // Listened to before the store is asked, so that the accounts found are not forgotten meanwhile.
    hub.add(channel.channel, client);
    return notifications.init(channel);
  }

  /** The stream begins after `init`, unless the client left meanwhile. */
  #join(client: SocketClient, { channel }: Channel, init: object | null): void {
    if (!client.isOpen || !client.channels.has(channel)) return;
    if (init) client.send(JSON.stringify(init));
    this.#parts.hub.add(channel, client);
  }

  #refuse(client: SocketClient, { channel, channelType }: Channel, error: unknown): void {
    if (!(error instanceof HistoryError)) this.#parts.logger.error({ error, channel }, 'channel cannot be started');
    this.#leave(client, channel);
    if (!client.isOpen) return;
    client.send(JSON.stringify({ type: 'error', message: HISTORY_SOCKET_ERRORS.notBuilt, channelType }));
  }
}
