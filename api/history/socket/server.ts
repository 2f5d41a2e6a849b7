// The history socket: its own uWebSockets.js server, proxied to `/ws` of the REST port.

import { App, type us_listen_socket, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js';
import { type EventLog, type LogBatch, type Logger, type Registry, TopicFollower } from '../../../platform/index.ts';
import { decodeEvent, decodeMessage, TOPICS, type Topic } from '../../../schemas/index.ts';
import { COMPRESSORS } from '../../gateway/compressors.ts';
import type { RecentMarks } from '../../notifications/recent-marks.ts';
import type { RecentNotifications } from '../../notifications/recent-notifications.ts';
import { followAlways, nextOffsets } from '../../views/follow.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import { CandleChannels, type LoadCandle } from './candles.ts';
import type { SocketData } from './client.ts';
import { Hub } from './hub.ts';
import { BATCH_MS, IDLE_TIMEOUT_S, MAX_PAYLOAD_BYTES, MAX_RECENT_EVENTS } from './limits.ts';
import { type LoadUnread, NotificationChannels } from './notifications.ts';
import { RecentEvents } from './recent-events.ts';
import { Sessions } from './sessions.ts';
import { type MarketSummaries, SummaryChannels } from './summaries.ts';

const LOOPBACK = '127.0.0.1';

export interface HistorySocketOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly markets: MarketRegistry;
  readonly summaries: MarketSummaries;
  readonly loadCandle: LoadCandle;
  readonly loadUnread: LoadUnread;
  readonly notifications: { readonly recent: RecentNotifications; readonly marks: Pick<RecentMarks, 'of'> };
}

export interface HistorySocket {
  /** Loopback address of the socket; the REST port proxies clients to it. */
  readonly host: string;
  readonly port: number;
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** Serves until stopped. Rejects when the log cannot be read. */
export async function startHistorySocket(options: HistorySocketOptions): Promise<HistorySocket> {
  const { log, logger, metrics, markets, summaries, loadCandle, loadUnread } = options;
  const hub = new Hub();
  const candles = new CandleChannels(hub, loadCandle);
  const channels = new SummaryChannels({ hub, markets, summaries });
  const notifications = new NotificationChannels({ hub, markets, loadUnread, ...options.notifications });
  const recent = new RecentEvents(MAX_RECENT_EVENTS);
  const sessions = new Sessions({ logger, metrics, markets, hub, candles, summaries: channels, notifications });
  const followings = [
    following(TOPICS.candleViews, (value) => {
      const message = decodeMessage(value);
      if (message.name === 'CandleView') candles.takeCandle(message.value);
    }),
    following(TOPICS.events, (value) => {
      if (!candles.hasSubscribers) return;
      const event = decodeEvent(value);
      if (recent.add(event)) candles.takeEvent(event);
    }),
    following(TOPICS.notifications, (value, key) => notifications.take(key, value)),
  ];
  await log.ensureTopics(followings.map(({ topic }) => topic));
  const starts = await Promise.all(followings.map(({ topic }) => nextOffsets(log, topic)));
  const listening = await listen(sessions);
  const follower = new TopicFollower();
  for (const [index, { topic, take }] of followings.entries()) {
    const takeAll = ({ records }: LogBatch): void => {
      for (const { key, value } of records) takeSafely(logger, topic, () => take(value, key));
    };
    const from = starts[index] ?? new Map();
    followAlways(follower, { log, logger, topic, from, take: takeAll });
  }
  const timer = setInterval(() => {
    candles.flush();
    channels.flush();
    notifications.sweep();
  }, BATCH_MS);
  return {
    host: LOOPBACK,
    port: us_socket_local_port(listening),
    done: follower.done,
    stop: async () => {
      clearInterval(timer);
      us_listen_socket_close(listening);
      sessions.endAll();
      await follower.stop();
    },
  };
}

interface Following {
  readonly topic: Topic;
  readonly take: (value: Uint8Array, key: string) => void;
}

function following(topic: Topic, take: (value: Uint8Array, key: string) => void): Following {
  return { topic, take };
}

/** Skips an unreadable record: the processors put it into the dead letters, and the feed goes on. */
function takeSafely(logger: Logger, topic: Topic, take: () => void): void {
  try {
    take();
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
