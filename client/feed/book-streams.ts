// The `book` channel of a connection: subscriptions, the keeper of each stream, missing messages, resumes.

import type {
  BookDiffMessage,
  BookErrorMessage,
  BookFeedMessage,
  BookHeartbeat,
  BookResumed,
  BookSnapshotMessage,
  BookSubscribe,
  BookVersion,
  MarketType,
  ServerShutdown,
} from '../../schemas/portable.ts';
import type { BookSide, ChannelFeedEvents } from './channel-feed.ts';
import { BookKeeper, CHECKSUM_LEVELS } from './keeper.ts';

export interface BookChoice {
  /** Symbol in any letter case, or `*` for every market, present and future. */
  readonly market: string;
  /** `perp` when absent; with `*` both kinds when absent. */
  readonly marketType?: MarketType;
  readonly level?: 'l2' | 'l3';
  readonly depth?: number;
  readonly conflation?: 0 | 50 | 100 | 400 | 1000;
  readonly checksum?: boolean | number;
  /** Orders name the transaction that last wrote them, where the server knows it; level `l3` without depth. */
  readonly cause?: boolean;
  /** `processed` is one to three slots ahead, and undoes what abandoned slots did; `confirmed` when absent. */
  readonly commitment?: 'confirmed' | 'processed';
  /** Echoed in a `refused` answer to this request. */
  readonly id?: string | number;
}

/** The current book of one stream. */
export interface KeptBook {
  readonly stream: string;
  readonly marketType: MarketType;
  readonly keeper: BookKeeper;
}

export type BookStreamEvents = {
  /** The keeper has applied a snapshot or a diff. */
  book: KeptBook & { readonly message: BookSnapshotMessage | BookDiffMessage };
  /** A message is missing, and the client has requested a snapshot. `held` is the last version of the book. */
  gap: { readonly stream: string; readonly held: BookVersion | null; readonly by: 'diff' | 'heartbeat' };
  /** The book differed from the server's, and the client has requested a snapshot. */
  mismatch: { readonly stream: string; readonly position: BookVersion };
  resumed: BookResumed;
  heartbeat: BookHeartbeat;
  refused: BookErrorMessage;
  shutdown: ServerShutdown;
};

export type FeedEvents = ChannelFeedEvents & BookStreamEvents;

export type BookStreamHandlers = { readonly [N in keyof BookStreamEvents]: (event: BookStreamEvents[N]) => void };

interface StreamBook extends KeptBook {
  /** Wall-clock milliseconds of the last snapshot request. */
  requestedAtMs: number;
  choice: BookChoice;
}

const REQUEST_INTERVAL_MS = 1000;

export class BookStreams implements BookSide {
  readonly #handlers: BookStreamHandlers;
  readonly #send: (message: object) => void;
  readonly #choices: BookChoice[] = [];
  readonly #books = new Map<string, StreamBook>();
  /** Stream names by their numbers in diffs on this connection. */
  readonly #streams = new Map<number, string>();
  #isOpen = false;

  constructor(send: (message: object) => void, handlers: BookStreamHandlers) {
    this.#send = send;
    this.#handlers = handlers;
  }

  /** Current books by stream name. */
  get books(): ReadonlyMap<string, KeptBook> {
    return this.#books;
  }

  subscribe(choice: BookChoice): void {
    this.#choices.push(choice);
    if (this.#isOpen) this.#request(choice);
  }

  unsubscribe(choice: BookChoice): void {
    const same = (one: BookChoice): boolean => suffixOf(one) === suffixOf(choice) && one.market === choice.market;
    const at = this.#choices.includes(choice) ? this.#choices.indexOf(choice) : this.#choices.findIndex(same);
    if (at >= 0) this.#choices.splice(at, 1);
    for (const [stream, entry] of this.#books) {
      const { market } = entry.keeper;
      if (!matches(choice, stream, market)) continue;
      const other = this.#choices.find((one) => matches(one, stream, market));
      if (other) entry.choice = other;
      else this.#books.delete(stream);
    }
    if (!this.#isOpen) return;
    this.#send(unsubscribeOf(choice));
    // The server ended streams of these choices too.
    for (const other of this.#choices) if (mayEnd(choice, other)) this.#request(other);
  }

  opened(): void {
    this.#isOpen = true;
    for (const choice of this.#choices) this.#request(choice);
  }

  lost(): void {
    this.#isOpen = false;
    this.#streams.clear();
  }

  /** Takes a message of the server; false when it belongs to another channel. */
  receive(message: object): boolean {
    const known = message as BookFeedMessage;
    if ('diff' in known) {
      this.#take(this.#books.get(this.#streams.get(known.diff) ?? ''), known);
      return true;
    }
    if (!('type' in known) || (known.channel !== 'book' && known.channel !== 'server')) return false;
    switch (known.type) {
      case 'snapshot':
        this.#streams.set(known.streamId, known.stream);
        this.#take(this.#books.get(known.stream) ?? this.#addBook(known), known);
        break;
      case 'resumed':
        this.#streams.set(known.streamId, known.stream);
        this.#handlers.resumed(known);
        break;
      case 'heartbeat':
        this.#compare(known);
        break;
      case 'error':
        this.#handlers.refused(known);
        break;
      case 'serverShutdown':
        this.#handlers.shutdown(known);
    }
    return true;
  }

  /** Whether a stream of an unknown market may be one that a choice should have. */
  #mayLack(choice: BookChoice, stream: string): boolean {
    if (!matches({ ...choice, market: '*' }, stream, '')) return false;
    return choice.market === '*' || ![...this.#books.values()].some((entry) => entry.choice === choice);
  }

  #request(choice: BookChoice): void {
    const versions = new Map<string, BookVersion>();
    for (const [stream, entry] of this.#books) {
      const { position: version } = entry.keeper;
      if (version && entry.choice === choice) versions.set(stream, version);
    }
    const message: BookSubscribe = { ...choice, type: 'subscribe', channel: 'book' };
    const [first] = versions.values();
    const resume = first && choice.market === '*' ? Object.fromEntries(versions) : first;
    this.#send(resume ? { ...message, resume } : message);
  }

  /** Subscribes to one stream again without a resume, which brings a snapshot. At most once a second. */
  #requestSnapshot(entry: StreamBook): void {
    const { choice, keeper, marketType, stream } = entry;
    const pauseMs = entry.requestedAtMs + REQUEST_INTERVAL_MS - Date.now();
    if (pauseMs > 0) {
      setTimeout(() => {
        if (this.#isOpen && this.#books.get(stream) === entry && keeper.position === null) this.#requestSnapshot(entry);
      }, pauseMs);
      return;
    }
    entry.requestedAtMs = Date.now();
    this.#send({ ...choice, market: keeper.market, marketType, type: 'subscribe', channel: 'book' });
  }

  #take(entry: StreamBook | null | undefined, message: BookSnapshotMessage | BookDiffMessage): void {
    if (!entry) return;
    const before = entry.keeper.position;
    const { stream, marketType, keeper } = entry;
    const applied = keeper.apply(message);
    if (applied === 'applied') this.#handlers.book({ stream, marketType, keeper, message });
    else if (applied === 'gap') {
      this.#handlers.gap({ stream, held: before, by: 'diff' });
      this.#requestSnapshot(entry);
    } else if (applied !== 'waiting') {
      this.#handlers.mismatch({ stream, position: { epoch: message.epoch, seq: message.seq } });
      this.#requestSnapshot(entry);
    }
  }

  #addBook({ stream, market, marketType }: BookSnapshotMessage): StreamBook | null {
    const choice = this.#choices.find((one) => matches(one, stream, market));
    if (!choice) return null;
    const { level = 'l2', depth, checksum } = choice;
    const keeper = new BookKeeper({
      level,
      ...(depth === undefined ? {} : { depth }),
      ...(checksum === undefined ? {} : { checksum }),
    });
    const entry = { stream, keeper, choice, marketType, requestedAtMs: Number.NEGATIVE_INFINITY };
    this.#books.set(stream, entry);
    return entry;
  }

  /** Only a heartbeat reveals the loss of a stream's last message, and of the answer that names the stream on this connection. */
  #compare(heartbeat: BookHeartbeat): void {
    const missing = new Set<BookChoice>();
    const named = new Set(this.#streams.values());
    for (const [stream, { epoch, seq }] of Object.entries(heartbeat.sequences)) {
      const entry = this.#books.get(stream);
      if (!entry) {
        for (const choice of this.#choices) if (this.#mayLack(choice, stream)) missing.add(choice);
        continue;
      }
      const { position: version } = entry.keeper;
      if (version && version.epoch === epoch && version.seq === seq) {
        if (!named.has(stream)) missing.add(entry.choice);
        continue;
      }
      entry.keeper.distrust();
      if (version) this.#handlers.gap({ stream, held: version, by: 'heartbeat' });
      this.#requestSnapshot(entry);
    }
    // The first snapshot of a stream is lost, and its market is unknown; or the answer to a resume is.
    // The whole choice is requested again.
    for (const choice of missing) this.#request(choice);
    this.#handlers.heartbeat(heartbeat);
  }
}

/** The part of a stream's name that encodes the choices. */
function suffixOf(choice: BookChoice): string {
  const { level = 'l2', depth, conflation = 0, checksum = false, cause = false, commitment } = choice;
  const levels = checksum === true ? CHECKSUM_LEVELS : checksum === false ? 0 : checksum;
  const choices = [
    depth === undefined ? '' : `_d${depth}`,
    conflation === 0 ? '' : `_c${conflation}`,
    levels === 0 ? '' : `_k${levels}`,
    cause ? '_cause' : '',
    commitment === 'processed' ? '_processed' : '',
  ];
  return level + choices.join('');
}

/** Names the defaults: the server matches any value of an absent member. No value of `depth` means the whole book. */
function unsubscribeOf(choice: BookChoice): object {
  const { level = 'l2', conflation = 0, cause = false } = choice;
  const checksum = choice.checksum || false;
  return { ...choice, level, conflation, checksum, cause, type: 'unsubscribe', channel: 'book' };
}

/** Whether the unsubscribe of a choice can end a stream of another one: without a depth it ends streams of every depth. */
function mayEnd(ended: BookChoice, other: BookChoice): boolean {
  const { depth: _, ...whole } = other;
  if (suffixOf(ended) !== suffixOf(ended.depth === undefined ? whole : other)) return false;
  return ended.market === '*' || other.market === '*' || ended.market.toUpperCase() === other.market.toUpperCase();
}

/** Whether a stream of a market belongs to a choice. */
export function matches(choice: BookChoice, stream: string, market: string): boolean {
  const [, marketType, suffix] = /^(perp|spot)_\d+_(.*)$/.exec(stream) ?? [];
  if (suffix !== suffixOf(choice)) return false;
  if (choice.market === '*') return choice.marketType === undefined || choice.marketType === marketType;
  return choice.market.toUpperCase() === market && (choice.marketType ?? 'perp') === marketType;
}
