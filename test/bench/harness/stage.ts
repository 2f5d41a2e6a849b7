// Our server and the predecessor peer side by side, each a process of its own, both given the same books.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { l2Json } from '../../../api/views/bodies.ts';
import { PublishedBook } from '../../../api/views/published-book.ts';
import { type EventLog, openEventLog, readConfig, silentLogger } from '../../../platform/index.ts';
import { type BookViewDiff, encodeMessage, TOPICS } from '../../../schemas/index.ts';
import { type Running, type Settings, startRoles, temporaryDirectory } from '../../support/processes/processes.ts';
import { diffRecord, type SyntheticMarket } from './synthetic-markets.ts';

const PREDECESSOR = fileURLToPath(new URL('../../peers/predecessor/server.ts', import.meta.url));
const GROUPING = 1;

/** The log, written by the bench itself, and `slotbook run orderbook` reading it. */
export class Stage {
  readonly markets: readonly SyntheticMarket[];
  readonly server: Running;
  /** The log that the server reads. */
  readonly log: EventLog;
  readonly #remove: () => void;

  private constructor(markets: readonly SyntheticMarket[], server: Running, log: EventLog, remove: () => void) {
    this.markets = markets;
    this.server = server;
    this.log = log;
    this.#remove = remove;
  }

  static async start(markets: readonly SyntheticMarket[], settings: Settings = {}): Promise<Stage> {
    const { dir, remove } = temporaryDirectory();
    const log = await openEventLog(readConfig({ SLOTBOOK_DATA_DIR: dir }), silentLogger());
    await log.ensureTopics([TOPICS.marketViews, TOPICS.bookViews, TOPICS.tradeViews]);
    await log.append(
      TOPICS.marketViews,
      markets.map((market) => ({ key: market.key, value: encodeMessage('MarketView', market.marketView()) })),
    );
    await log.append(
      TOPICS.bookViews,
      markets.map((market) => ({ key: market.key, value: encodeMessage('BookViewSnapshot', market.snapshot()) })),
    );
    const server = await startRoles(['orderbook'], {
      DATA_DIR: dir,
      SOURCE: 'capture',
      SLOT_STALL_MS: 600_000,
      ...settings,
    });
    return new Stage(markets, server, log, remove);
  }

  get gateway(): string {
    return this.server.endpoints.gateway ?? '';
  }

  get quotes(): string {
    return this.server.endpoints.quotes ?? '';
  }

  get rest(): string {
    return this.server.endpoints.orderbook ?? '';
  }

  async publish(changes: readonly { readonly market: SyntheticMarket; readonly diff: BookViewDiff }[]): Promise<void> {
    await this.log.append(
      TOPICS.bookViews,
      changes.map(({ market, diff }) => diffRecord(market, diff)),
    );
  }

  /** Clients that the server closed because they lagged. */
  async overflows(): Promise<number> {
    const text = await (await fetch(this.server.endpoints.metrics ?? '')).text();
    return Number(/^slotbook_gateway_closes_total\{.*reason="overflow".*\} (\d+)/m.exec(text)?.[1] ?? 0);
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await this.log.close();
    this.#remove();
  }
}

export interface PredecessorOptions {
  /** Also serves `/l2`, for which it gets a second form of each book. */
  readonly servesRest?: boolean;
}

/** The predecessor's server. The bench renders the books, so that only sending is measured. */
export class Predecessor {
  readonly pid: number;
  readonly port: number;
  readonly #child: ChildProcess;
  readonly #books = new Map<SyntheticMarket, PublishedBook>();
  readonly #servesRest: boolean;

  private constructor(
    child: ChildProcess,
    port: number,
    markets: readonly SyntheticMarket[],
    { servesRest = false }: PredecessorOptions,
  ) {
    this.#child = child;
    this.#servesRest = servesRest;
    this.pid = child.pid ?? 0;
    this.port = port;
    for (const market of markets) {
      const book = new PublishedBook();
      book.take(market.snapshot(), Date.now());
      this.#books.set(market, book);
    }
  }

  static async start(markets: readonly SyntheticMarket[], options: PredecessorOptions = {}): Promise<Predecessor> {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PREDECESSOR], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const { port } = JSON.parse(line) as { port: number };
    const peer = new Predecessor(child, port, markets, options);
    for (const market of markets) peer.#show(market);
    return peer;
  }

  get gateway(): string {
    return `ws://127.0.0.1:${this.port}/ws`;
  }

  get rest(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Applies the changes and sends each changed book once. */
  publish(changes: readonly { readonly market: SyntheticMarket; readonly diff: BookViewDiff }[]): void {
    for (const { market, diff } of changes) this.#books.get(market)?.take(diff, Date.now());
    for (const market of new Set(changes.map(({ market }) => market))) this.#show(market);
  }

  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit');
    this.#child.stdin?.end();
    await exited;
  }

  #show(market: SyntheticMarket): void {
    const book = this.#books.get(market);
    if (!book) return;
    const view = market.marketView();
    book.view.tickSize = Number(view.tickSize);
    this.#write(
      `orderbook_${market.symbol.toLowerCase()}_grouped_${GROUPING}`,
      l2Json(book, view, book.view.grouped(GROUPING)),
    );
    if (this.#servesRest) this.#write(`l2_${market.symbol}`, l2Json(book, view, book.view.l2()));
  }

  #write(channel: string, message: string): void {
    this.#child.stdin?.write(`${JSON.stringify({ channel, message })}\n`);
  }
}

/** The subscribe message of a whole-book channel; both servers accept it. */
export function subscribeTo({ symbol }: SyntheticMarket): string {
  return JSON.stringify({
    type: 'subscribe',
    channel: 'orderbook',
    market: symbol,
    marketType: 'perp',
    grouping: GROUPING,
  });
}
