// The history socket on an in-memory log, with store answers from the test. Its clients validate each message against the
// contract.

import bs58 from 'bs58';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { WebSocket } from 'ws';
import { historyAsyncApi } from '../../../api/history/socket/asyncapi.ts';
import type { LoadUnread } from '../../../api/history/socket/notifications.ts';
import { type HistorySocket, startHistorySocket } from '../../../api/history/socket/server.ts';
import type { Mark } from '../../../api/notifications/recent-marks.ts';
import { RecentNotifications } from '../../../api/notifications/recent-notifications.ts';
import {
  type CandleView,
  type ChainEvent,
  candleKey,
  encodeEvent,
  encodeMessage,
  eventKey,
  type MarketSummary,
  marketKey,
  partitionOf,
  TOPICS,
  type WithdrawnCandle,
} from '../../../schemas/index.ts';
import { Contract } from './contracts.ts';
import { FakeLog } from './fake-log.ts';
import { registry } from './history-stage.ts';
import { JsonSocket } from './json-socket.ts';
import { MAKER_A, until } from './stage.ts';

export type Message = Readonly<Record<string, unknown>>;

export const document = historyAsyncApi() as { channels: { history: { messages: Record<string, object> } } };
const contract = new Contract(document);

/** Name of the documented message; throws unless exactly one matches. */
export function nameOf(message: Message): string {
  const found = Object.keys(document.channels.history.messages).filter((name) =>
    contract.validator('channels', 'history', 'messages', name, 'payload')(message),
  );
  if (found.length !== 1) throw new Error(`documented as [${found}]: ${JSON.stringify(message)}`);
  return found[0] ?? '';
}

class SocketTester extends JsonSocket<Message> {
  private constructor(socket: WebSocket) {
    super(socket, nameOf);
  }

  static connect(url: string): Promise<SocketTester> {
    return new SocketTester(new WebSocket(url)).opened();
  }

  subscribe(fields: Record<string, unknown>): void {
    this.send({ type: 'subscribe', ...fields });
  }

  async receives(count: number): Promise<readonly Message[]> {
    await until(() => this.received.length >= count);
    return this.received;
  }
}

/** More than the bucket of a connection holds. */
const FLOOD_MESSAGES = 2_100;

/** Floods the server until it closes the connection. On a busy machine the bucket refills while a burst arrives. */
export function untilFlooded(client: SocketTester): Promise<void> {
  return until(() => {
    for (let sent = 0; sent < FLOOD_MESSAGES && client.closed === null; sent += 1) client.send('x');
    return client.closed !== null;
  });
}

export const CANDLE: CandleView = {
  marketType: 'perp',
  marketIndex: 0,
  resolution: '1',
  ts: 1_790_000_100,
  slot: 500,
  fillOpen: 150_000_000n,
  fillHigh: 151_000_000n,
  fillLow: 149_500_000n,
  fillClose: 150_250_000n,
  oracleOpen: 150_100_000n,
  oracleHigh: 150_900_000n,
  oracleLow: 149_900_000n,
  oracleClose: 150_200_000n,
  quoteVolume: 225_300_000n,
  baseVolume: 1_500_000_000n,
  trades: 1,
  lastTradeTs: 1_790_000_123n,
  lastFillRecordId: 7n,
  version: 3n,
};

/** A wallet and its account. */
export const AUTHORITY = bs58.encode(Buffer.alloc(32, 9));
export const ACCOUNT = MAKER_A;

export class HistorySocketStage {
  readonly log = new FakeLog();
  readonly metrics = new Registry();
  /** Store answers: the newest candle, and unread notifications. A test may replace both. */
  loadCandle: () => Promise<CandleView | null> = async () => CANDLE;
  loadUnread: LoadUnread = async () => [];
  readonly recent = new RecentNotifications();
  marks: ReadonlyMap<string, Mark> = new Map();
  /** Number of summary changes. */
  summaryChanges = 0;
  /** Text inside every summary. */
  summaryText = '';
  #socket: HistorySocket | null = null;

  async start(): Promise<void> {
    const stage = this;
    this.#socket = await startHistorySocket({
      log: this.log,
      logger: pino({ level: 'silent' }),
      metrics: this.metrics,
      markets: registry(),
      summaries: {
        get changes() {
          return stage.summaryChanges;
        },
        of: () => ({ bidPrice: 149_000_000n, askPrice: 151_000_000n, ts: 5, oraclePrice: 1n }) as MarketSummary,
        list: () => [{ symbol: 'SOL-PERP', volume24h: this.summaryChanges, text: this.summaryText }],
      },
      loadCandle: () => this.loadCandle(),
      loadUnread: (authority) => this.loadUnread(authority),
      notifications: { recent: this.recent, marks: { of: () => this.marks } },
    });
  }

  async stop(): Promise<void> {
    await this.#socket?.stop();
  }

  connect(): Promise<SocketTester> {
    return SocketTester.connect(`ws://${this.#socket?.host}:${this.#socket?.port}/ws`);
  }

  /** Publishes the candle with members replaced. */
  async candle(members: Partial<CandleView | WithdrawnCandle>): Promise<void> {
    const view = { ...CANDLE, ...members } as CandleView | WithdrawnCandle;
    const partition = partitionOf(TOPICS.candleViews, marketKey(view));
    const record = { key: candleKey(view), value: encodeMessage('CandleView', view), partition };
    await this.log.append(TOPICS.candleViews, [record]);
  }

  async events(...events: readonly ChainEvent[]): Promise<void> {
    await this.log.append(
      TOPICS.events,
      events.map((event) => ({ key: eventKey(event), value: encodeEvent(event) })),
    );
  }
}
