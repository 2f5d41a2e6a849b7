// Book keepers over the real pipeline while connections break, messages get lost and altered, and the gateway restarts.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BookChoice, BookFeedClient, type SocketLike } from '../../../../client/index.ts';
import { openEventLog, readConfig, silentLogger } from '../../../../platform/index.ts';
import {
  type Cluster,
  eventually,
  type Running,
  startCluster,
  startRoles,
  temporaryDirectory,
} from '../../../support/processes/processes.ts';
import { SpotMaker } from '../checks/spot-maker.ts';
import { naiveBooks } from '../naive/book.ts';
import { differenceOf, keeperLines, type Shape } from '../naive/difference.ts';
import { type HeldState, type SlotComparison, SlotTruth } from '../naive/slot-truth.ts';
import { ViewTruth } from '../naive/view-truth.ts';
import { untilBooks } from '../processes/pipeline.ts';

export interface KeeperRunOptions {
  readonly seconds: number;
  readonly seed: number;
  readonly speed: number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

export interface KeeperRun {
  readonly compared: number;
  /** Messages after which a keeper's book differed from the log. */
  readonly differences: readonly string[];
  /** Differences from the accounts of the stopped cluster. */
  readonly stoppedDifferences: readonly string[];
  /** Books of clients at each slot beside the accounts of the cluster at that slot. */
  readonly slotTruth: SlotComparison;
  readonly stops: number;
  readonly stoppedBooks: number;
  readonly droppedMessages: number;
  readonly gaps: number;
  readonly alteredMessages: number;
  readonly mismatches: number;
  readonly reconnects: number;
  readonly restarts: number;
  readonly kills: number;
  readonly shutdownNotices: number;
  readonly recovered: number;
  readonly lost: number;
  readonly refused: number;
}

const CHOICES: readonly BookChoice[] = [
  { market: '*', marketType: 'perp' },
  { market: '*', level: 'l3', checksum: true, marketType: 'perp' },
  { market: '*', depth: 10, conflation: 100, checksum: 5, marketType: 'perp' },
  { market: 'SOL-PERP', depth: 3, conflation: 50 },
  { market: 'SOL-PERP', level: 'l3', depth: 5, conflation: 400, checksum: true },
  { market: 'BTC-PERP', conflation: 1000, checksum: 100 },
  { market: '*', marketType: 'spot' },
  { market: '*', level: 'l3', checksum: true, marketType: 'spot' },
];
/** A busy machine takes longer for them than the run was to last: every kind of fault occurs all the same. */
const STEPS_MIN = 18;
const STEP_MS = 700;
/** Share of each step that may go into rebuilding slots. */
const REBUILD_MS = 350;
/** Steps between two faults of a kind; the spread lets each heal visibly. */
const STOP_EVERY = 12;
const RESTART_EVERY = 17;
const SETTLE_MS = 60_000;

/** A client whose network can lose and alter messages. */
class Follower {
  readonly client: BookFeedClient;
  readonly choice: BookChoice;
  readonly name: string;
  counts = { dropped: 0, altered: 0, gaps: 0, mismatches: 0, notices: 0, recovered: 0, lost: 0, refused: 0 };
  /** Stream names by the numbers that diffs have. */
  readonly #streams = new Map<number, string>();
  #dropNext = false;
  #alterNext = false;

  constructor(name: string, choice: BookChoice, url: () => string, saw: (state: HeldState) => void) {
    this.name = name;
    this.choice = choice;
    this.client = new BookFeedClient({ url: '', open: () => this.#open(url()), retryMaxMs: 500 });
    const shape = shapeOf(choice);
    this.client.on('book', ({ stream, keeper }) => {
      const { position, slot } = keeper;
      const [marketType, marketIndex] = stream.split('_');
      const marketKey = `${marketType}-${marketIndex}`;
      if (position)
        saw({ ...shape, ...position, slot, marketKey, name: `${name}/${stream}`, lines: keeperLines(keeper) });
    });
    this.client.on('gap', () => this.#count('gaps'));
    this.client.on('mismatch', () => this.#count('mismatches'));
    this.client.on('shutdown', () => this.#count('notices'));
    this.client.on('refused', () => this.#count('refused'));
    this.client.on('resumed', ({ recovered }) => this.#count(recovered ? 'recovered' : 'lost'));
    this.client.subscribe(choice);
    this.client.connect();
  }

  /** Slot that all its books have reached; 0 while a market has no book. */
  get slot(): number {
    return Math.min(...[...this.client.books.values()].flatMap(({ keeper: { slot } }) => (slot > 0 ? [slot] : [])));
  }

  loseNext(): void {
    this.#dropNext = true;
  }

  alterNext(): void {
    this.#alterNext = true;
  }

  #count(name: keyof Follower['counts']): void {
    this.counts[name] += 1;
  }

  #open(url: string): SocketLike {
    this.#streams.clear();
    const socket = new WebSocket(url) as unknown as SocketLike;
    let listener: SocketLike['onmessage'] = null;
    const wrapped: SocketLike = {
      onopen: null,
      onclose: null,
      onerror: null,
      get onmessage() {
        return listener;
      },
      set onmessage(value) {
        listener = value;
      },
      send: (text) => socket.send(text),
      close: () => socket.close(),
    };
    socket.onopen = (event) => wrapped.onopen?.(event);
    socket.onclose = (event) => wrapped.onclose?.(event);
    socket.onerror = (event) => wrapped.onerror?.(event);
    socket.onmessage = ({ data }) => {
      const text = this.#tamper(String(data));
      if (text !== null) listener?.({ data: text });
    };
    return wrapped;
  }

  /** Drops and alters messages of sound books only, because a gap shows only where nothing was missing before. */
  #tamper(text: string): string | null {
    const { diff, stream, streamId } = JSON.parse(text) as { diff?: number; stream?: string; streamId?: number };
    if (stream !== undefined && streamId !== undefined) this.#streams.set(streamId, stream);
    const keeper = diff === undefined ? undefined : this.client.books.get(this.#streams.get(diff) ?? '')?.keeper;
    if (!keeper?.position) return text;
    if (this.#dropNext) {
      this.#dropNext = false;
      this.#count('dropped');
      return null;
    }
    if (this.#alterNext) {
      const altered = alter(text, keeper.level);
      if (altered !== null) {
        this.#alterNext = false;
        this.#count('altered');
        return altered;
      }
    }
    return text;
  }
}

/** Changes the size under the best price, as a faulty relay would; null when the message has none there. */
function alter(text: string, level: 'l2' | 'l3'): string | null {
  const message = JSON.parse(text) as { bids?: unknown[]; checksum?: number };
  if (message.checksum === undefined) return null;
  // A bid better than all others: always under the checksum.
  const best = '999999999999999';
  const source = { maker: 'nobody', orderId: 1, source: 'user', rank: [0, 0, 0] };
  const bid = level === 'l3' ? { ...source, price: best, size: '1' } : [best, '1'];
  return JSON.stringify({ ...message, bids: [...(message.bids ?? []), bid] });
}

function shapeOf({ level = 'l2', depth }: BookChoice): Shape {
  return { level, depth: depth ?? null };
}

/** Runs for about `seconds` and returns what happened. */
export async function runKeepers({ seconds, seed, speed, random }: KeeperRunOptions): Promise<KeeperRun> {
  const { dir, remove } = temporaryDirectory();
  const roles: Running[] = [];
  const followers: Follower[] = [];
  const ending = new AbortController();
  const accountLog = join(dir, 'accounts');
  const cluster = await startCluster({ seed, speed, 'account-log': accountLog });
  try {
    const settings = { DATA_DIR: dir, RPC_URL: cluster.rpcUrl, RPC_WS_URL: cluster.wsUrl };
    roles.push(await startRoles(['ingest', 'book'], settings));
    let gateway = await startRoles(['orderbook'], settings);
    // A gateway that knows no market for ten seconds refuses to follow one by name.
    await untilBooks(gateway.endpoints.orderbook ?? '');
    const log = await openEventLog(readConfig({ SLOTBOOK_DATA_DIR: dir }), silentLogger());
    const truth = new ViewTruth();
    const slots = new SlotTruth(
      accountLog,
      (state) => truth.isLastOfSlot(state),
      (slot) => truth.isPublished(slot),
    );
    const saw = (state: HeldState) => {
      truth.saw(state);
      slots.saw(state);
    };
    const slotPassed = () => Math.min(truth.slot, ...followers.map(({ slot }) => slot)) - 1;
    const following = truth.follow(log, ending.signal);
    const url = () => gateway.endpoints.gateway ?? '';
    for (const [index, choice] of CHOICES.entries()) followers.push(new Follower(String(index), choice, url, saw));
    const run = { reconnects: 0, restarts: 0, kills: 0, stops: 0, stoppedBooks: 0 };
    const stoppedDifferences: string[] = [];
    const checked = followers.filter(({ choice }) => choice.checksum !== undefined);
    const pick = (among = followers) => among[Math.floor(random() * among.length)];
    const spotMaker = new SpotMaker(cluster);
    await spotMaker.quote();
    await eventually('books', () => followers.every(({ client }) => client.books.size > 0));
    const end = Date.now() + seconds * 1000;
    for (let step = 1; Date.now() < end || step <= STEPS_MIN; step += 1) {
      await sleep(STEP_MS);
      slots.advance(slotPassed(), REBUILD_MS);
      await spotMaker.quote();
      if (step % RESTART_EVERY === 0) {
        const awayFrom = truth.slot;
        if (random() < 0.5) {
          run.kills += 1;
          await gateway.kill9();
        } else {
          run.restarts += 1;
          await gateway.stop();
        }
        gateway = await startRoles(['orderbook'], settings);
        slots.gatewayAway(awayFrom, truth.slot);
      } else if (step % STOP_EVERY === 0) {
        run.stops += 1;
        run.stoppedBooks += await compareStopped(cluster, followers, stoppedDifferences);
      } else if (step % 3 === 0) {
        run.reconnects += 1;
        pick()?.client.reconnect();
      } else if (step % 3 === 1) pick()?.loseNext();
      else pick(checked)?.alterNext();
    }
    run.stops += 1;
    run.stoppedBooks += await compareStopped(cluster, followers, stoppedDifferences);
    // Every run has one planned stop, so that clients receive its notice.
    run.restarts += 1;
    await gateway.stop();
    await eventually('the log read as far as the clients', () => truth.waiting === 0);
    slots.advance(slotPassed());
    slots.close();
    ending.abort();
    await following;
    await log.close();
    const sum = (name: keyof Follower['counts']) => followers.reduce((total, { counts }) => total + counts[name], 0);
    return {
      ...run,
      compared: truth.comparison.compared,
      differences: truth.comparison.differences,
      stoppedDifferences,
      slotTruth: slots.comparison,
      droppedMessages: sum('dropped'),
      gaps: sum('gaps'),
      alteredMessages: sum('altered'),
      mismatches: sum('mismatches'),
      shutdownNotices: sum('notices'),
      recovered: sum('recovered'),
      lost: sum('lost'),
      refused: sum('refused'),
    };
  } finally {
    ending.abort();
    for (const { client } of followers) client.close();
    for (const role of roles.reverse()) await role.stop().catch(() => {});
    await cluster.stop();
    remove();
  }
}

/** Stops the cluster, waits SETTLE_MS at most for every keeper to have its slot and books, and resumes the cluster. */
async function compareStopped(cluster: Cluster, followers: readonly Follower[], found: string[]): Promise<number> {
  await cluster.rpc('localnet_pause');
  const { slot, books } = await naiveBooks(cluster.faultlessUrl);
  let compared = 0;
  const deadlineMs = Date.now() + SETTLE_MS;
  const leftMs = () => Math.max(0, deadlineMs - Date.now());
  for (const naive of books.filter(({ l2 }) => l2.bids.length + l2.asks.length > 0)) {
    const symbol = naive.symbol.toUpperCase();
    for (const { client, choice, name } of followers) {
      if ((choice.market !== '*' && choice.market !== symbol) || (choice.marketType ?? 'perp') !== naive.marketType)
        continue;
      await eventually(
        `${symbol} of client ${name} at slot ${slot}`,
        () => {
          const keeper = client.book(symbol);
          return keeper?.position !== null && keeper?.slot === slot;
        },
        leftMs(),
      ).catch((error: unknown) => found.push(String(error)));
      compared += 1;
      // The last change of the slot may arrive later, so only a difference that stays counts.
      const differenceNow = () => {
        const keeper = client.book(symbol);
        return keeper ? differenceOf(naive, keeperLines(keeper), shapeOf(choice)) : 'no book';
      };
      await eventually('books agree', () => differenceNow() === null, leftMs()).catch(() => {});
      const difference = differenceNow();
      if (difference) found.push(`${symbol} of client ${name} at slot ${slot}: ${difference}`);
    }
  }
  await cluster.rpc('localnet_resume');
  return compared;
}
