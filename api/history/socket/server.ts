// The history socket: a uWebSockets.js server of its own, joined to `/ws` of the REST port.

import { App, type us_listen_socket, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js';
import type { EventLog, Logger } from '../../../platform/index.ts';
import { decodeEvent, decodeMessage, TOPICS, type Topic } from '../../../schemas/index.ts';
import { COMPRESSORS } from '../../compressors.ts';
import { followAlways } from '../../views/follow.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import { CandleChannels, type LoadCandle } from './candles.ts';
import type { SocketData } from './client.ts';
import { Hub } from './hub.ts';
import { BATCH_MS, IDLE_TIMEOUT_S, MAX_PAYLOAD_BYTES } from './limits.ts';
import { type LoadAccounts, NotificationChannels } from './notifications.ts';
import { Sessions } from './sessions.ts';
import { type MarketSummaries, SummaryChannels } from './summaries.ts';

const LOOPBACK = '127.0.0.1';

export interface HistorySocketOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly markets: MarketRegistry;
  readonly summaries: MarketSummaries;
  readonly loadCandle: LoadCandle;
  readonly loadAccounts: LoadAccounts;
}

export interface HistorySocket {
  /** Where it listens, on the loopback address; the REST port joins clients to it. */
  readonly host: string;
  readonly port: number;
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** Serves until stopped. Rejects when the log cannot be read. */
export async function startHistorySocket(options: HistorySocketOptions): Promise<HistorySocket> {
  const { log, logger, markets, summaries, loadCandle, loadAccounts } = options;
  const hub = new Hub();
  const candles = new CandleChannels(hub, loadCandle);
  const channels = new SummaryChannels({ hub, markets, summaries });
  const notifications = new NotificationChannels(hub, loadAccounts);
  const sessions = new Sessions({ logger, markets, hub, candles, summaries: channels, notifications });
  const followings = [
    following(TOPICS.candleViews, (value) => {
      const message = decodeMessage(value);
      if (message.name === 'CandleView') candles.takeCandle(message.value);
    }),
    following(TOPICS.tradeViews, (value) => {
      const message = decodeMessage(value);
      if (message.name === 'TradeView') candles.takeTrade(message.value);
    }),
    following(TOPICS.events, (value) => {
      if (notifications.isWanted) notifications.takeEvent(decodeEvent(value));
    }),
  ];
  await log.ensureTopics(followings.map(({ topic }) => topic));
  const starts = await Promise.all(followings.map(({ topic }) => ends(log, topic)));
  const listening = await listen(sessions);
  const stopping = new AbortController();
  const loops = followings.map(({ topic, take }, index) =>
    followAlways({
      log,
      logger,
      topic,
      from: starts[index] ?? new Map(),
      signal: stopping.signal,
      take: ({ records }) => {
        for (const { value } of records) takeSafely(logger, topic, value, take);
      },
    }),
  );
  for (const loop of loops) loop.catch(() => {}); // `done` reports it
  const timer = setInterval(() => {
    candles.flush();
    channels.flush();
  }, BATCH_MS);
  return {
    host: LOOPBACK,
    port: us_socket_local_port(listening),
    done: Promise.all(loops).then(() => undefined),
    stop: async () => {
      clearInterval(timer);
      us_listen_socket_close(listening);
      sessions.endAll();
      stopping.abort();
      await Promise.allSettled(loops);
    },
  };
}

interface Following {
  readonly topic: Topic;
  readonly take: (value: Uint8Array) => void;
}

function following(topic: Topic, take: (value: Uint8Array) => void): Following {
  return { topic, take };
}

/** Next offset of every partition: the stream begins with what comes from now on. */
async function ends(log: EventLog, topic: Topic): Promise<ReadonlyMap<number, bigint>> {
  const partitions = Array.from({ length: topic.partitions }, (_, partition) => partition);
  const bounds = await Promise.all(partitions.map((partition) => log.bounds(topic, partition)));
  return new Map(bounds.map(({ next }, partition) => [partition, next]));
}

/** A record that cannot be read is somebody else's to park; the feed goes on. */
function takeSafely(logger: Logger, topic: Topic, value: Uint8Array, take: (value: Uint8Array) => void): void {
  try {
    take(value);
  } catch (error) {
    logger.warn({ topic: topic.name, error: String(error) }, 'unreadable record');
  }
}

function listen(sessions: Sessions): Promise<us_listen_socket> {
  const app = App();
  app.ws<SocketData>('/ws', {
    compression: COMPRESSORS.shared,
    maxPayloadLength: MAX_PAYLOAD_BYTES,
    maxBackpressure: 0, // slow clients are found by SocketClient.send, which knows the code to close with
    idleTimeout: IDLE_TIMEOUT_S,
    sendPingsAutomatically: true,
    upgrade: (res, req, context) => {
      res.upgrade(
        { client: null },
        req.getHeader('sec-websocket-key'),
        req.getHeader('sec-websocket-protocol'),
        req.getHeader('sec-websocket-extensions'),
        context,
      );
    },
    open: (socket) => sessions.open(socket),
    message: (socket, bytes) => sessions.message(socket, bytes),
    close: (socket) => sessions.closed(socket),
  });
  return new Promise((resolve, reject) => {
    app.listen(LOOPBACK, 0, (socket) => {
      if (socket) resolve(socket);
      else reject(new Error('history socket: cannot listen'));
    });
  });
}
