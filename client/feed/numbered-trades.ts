// The `trades.v2` channel of a connection: numbers of fills, missing ones, resumes. Its user gets each fill once, in order, and at
// processed each withdrawal.

import type {
  BookVersion,
  MarketType,
  NumberedTradeMessage,
  TradeFeedMessage,
  TradesErrorMessage,
  TradesHeartbeat,
  TradesResumed,
  TradesSnapshot,
  TradeWithdrawalMessage,
} from '../../schemas/portable.ts';
import type { Trade } from './channel-types.ts';

export interface NumberedTradesChoice {
  /** Symbol in any letter case, or `*` for every market, present and future. */
  readonly market: string;
  /** `perp` when absent; with `*` both kinds when absent. */
  readonly marketType?: MarketType;
  /** `confirmed` when absent. At `processed` fills come earlier, and those of abandoned slots are withdrawn. */
  readonly commitment?: Commitment;
}

type Commitment = 'confirmed' | 'processed';

/** A fill with its number. */
export interface NumberedTrade extends BookVersion {
  /** Symbol of the market. */
  readonly market: string;
  readonly commitment: Commitment;
  readonly slot: number;
  /** Index of the transaction in its block; null where the server does not know it. */
  readonly txIndex: number | null;
  /** Index of the fill among the records of its transaction. */
  readonly txSigIndex: number;
  readonly trade: Trade;
}

/** A fill at processed that does not count. It comes again if another slot has it. */
export interface WithdrawnTrade extends BookVersion {
  /** Symbol of the market. */
  readonly market: string;
  /** Number of the withdrawn fill, in the same epoch. */
  readonly tradeSeq: number;
  /** Slot of the withdrawn fill. */
  readonly slot: number;
  readonly txSig: string;
  /** Index of the fill among the records of its transaction. */
  readonly txSigIndex: number;
  /** Text beyond 2^53. */
  readonly fillRecordId: number | string;
}

/** Fills after `held` and up to `now` cannot be had from the feed any more. The history has them. */
export interface MissingTrades {
  readonly market: string;
  readonly held: BookVersion;
  readonly now: BookVersion;
}

/** A choice as `TradeStreams` serves it. */
export interface TradeReader {
  readonly choice: NumberedTradesChoice & { readonly id: number };
  started(stream: TradeStreamState): void;
  take(trade: NumberedTrade): void;
  withdraw(withdrawn: WithdrawnTrade): void;
  missing(missing: MissingTrades): void;
  resumed(stream: TradeStreamState): void;
  refuse(message: TradesErrorMessage): void;
}

export interface TradeStreamState {
  readonly stream: string;
  readonly market: string;
  readonly marketType: MarketType;
  readonly commitment: Commitment;
}

interface Stream extends TradeStreamState {
  /** The newest message that readers have. */
  version: BookVersion;
  /** True between a request to resume and its answer. One request at a time is enough: fills after the hole come again. */
  isResuming: boolean;
}

export class TradeStreams {
  readonly #send: (message: object) => void;
  readonly #readers = new Set<TradeReader>();
  readonly #streams = new Map<string, Stream>();
  /** Stream names by their numbers on this connection. */
  readonly #names = new Map<number, string>();
  #isOpen = false;

  constructor(send: (message: object) => void) {
    this.#send = send;
  }

  get readers(): ReadonlySet<TradeReader> {
    return this.#readers;
  }

  add(reader: TradeReader): void {
    this.#readers.add(reader);
    if (!this.#isOpen) return;
    // The server restarts a stream that another reader has, with a snapshot; so the request resumes it.
    this.#request(reader);
  }

  remove(reader: TradeReader): void {
    this.#readers.delete(reader);
    const { market, marketType, commitment } = reader.choice;
    for (const [name, stream] of this.#streams) if (!this.#isWanted(stream)) this.#streams.delete(name);
    if (!this.#isOpen) return;
    this.#send({ type: 'unsubscribe', channel: 'trades.v2', market, marketType, commitment });
    // The server ended streams that other readers share.
    for (const other of this.#readers) if (overlap(other.choice, reader.choice)) this.#request(other);
  }

  opened(): void {
    this.#isOpen = true;
    for (const reader of this.#readers) this.#request(reader);
  }

  lost(): void {
    this.#isOpen = false;
    this.#names.clear();
    for (const stream of this.#streams.values()) stream.isResuming = false;
  }

  /** Takes a message of the server; false when it belongs to another channel. */
  receive(message: object): boolean {
    const known = message as TradeFeedMessage<Trade>;
    if ('trade' in known || 'withdraw' in known) {
      const stream = this.#streams.get(this.#names.get('trade' in known ? known.trade : known.withdraw) ?? '');
      if (stream) this.#take(stream, known);
      return true;
    }
    if (known.channel !== 'trades.v2') return false;
    if (known.type === 'snapshot') this.#begin(known);
    else if (known.type === 'resumed') this.#resume(known);
    else if (known.type === 'heartbeat') this.#compare(known);
    else if (known.type === 'error') this.#refuse(known);
    return true;
  }

  #take(stream: Stream, message: NumberedTradeMessage<Trade> | TradeWithdrawalMessage): void {
    const { epoch, seq, prevSeq } = message;
    const { version } = stream;
    if (epoch === version.epoch && seq <= version.seq) return;
    if (epoch !== version.epoch || prevSeq !== version.seq) {
      this.#catchUp(stream);
      return;
    }
    stream.version = { epoch, seq };
    if ('trade' in message) this.#fill(stream, message);
    else this.#withdrawal(stream, message);
  }

  #fill(stream: Stream, { epoch, seq, slot, txIndex, txSigIndex, data: trade }: NumberedTradeMessage<Trade>): void {
    const { market, commitment } = stream;
    const fill = { market, commitment, epoch, seq, slot, txIndex, txSigIndex, trade };
    for (const reader of this.#readersOf(stream)) reader.take(fill);
  }

  #withdrawal(stream: Stream, message: TradeWithdrawalMessage): void {
    const { epoch, seq, tradeSeq, slot, txSig, txSigIndex, fillRecordId } = message;
    const withdrawn = { market: stream.market, epoch, seq, tradeSeq, slot, txSig, txSigIndex, fillRecordId };
    for (const reader of this.#readersOf(stream)) reader.withdraw(withdrawn);
  }

  #begin(snapshot: TradesSnapshot<Trade>): void {
    const { stream: name, streamId, market, marketType, epoch, seq } = snapshot;
    const commitment = snapshot.commitment ?? 'confirmed';
    this.#names.set(streamId, name);
    const known = this.#streams.get(name);
    const now = { epoch, seq };
    if (known) {
      const held = known.version;
      known.version = now;
      known.isResuming = false;
      const isSame = held.epoch === epoch && held.seq === seq;
      // Nothing came before the first fill, so nothing can be missing then.
      if (!isSame && !(held.epoch === 0 && seq === 0)) {
        for (const reader of this.#readersOf(known)) reader.missing({ market, held, now });
      }
      return;
    }
    const stream: Stream = { stream: name, market, marketType, commitment, version: now, isResuming: false };
    if (!this.#isWanted(stream)) return;
    this.#streams.set(name, stream);
    for (const reader of this.#readersOf(stream)) reader.started(stream);
  }

  #resume({ stream: name, streamId, recovered }: TradesResumed): void {
    this.#names.set(streamId, name);
    const stream = this.#streams.get(name);
    if (!stream) return;
    stream.isResuming = false;
    if (recovered) for (const reader of this.#readersOf(stream)) reader.resumed(stream);
  }

  /** Only a heartbeat reveals the loss of the last fill, and of a stream's first message on this connection. */
  #compare({ sequences }: TradesHeartbeat): void {
    const lacking = new Set<TradeReader>();
    const named = new Set(this.#names.values());
    for (const [name, { epoch, seq }] of Object.entries(sequences)) {
      const stream = this.#streams.get(name);
      if (!stream) {
        for (const reader of this.#readers) if (this.#mayLack(reader, name)) lacking.add(reader);
        continue;
      }
      stream.isResuming = false;
      const isSame = stream.version.epoch === epoch && stream.version.seq === seq;
      if (!isSame || !named.has(name)) this.#catchUp(stream);
    }
    for (const reader of lacking) this.#request(reader);
  }

  #refuse(message: TradesErrorMessage): void {
    for (const reader of this.#readers) {
      const isMeant = message.stream === undefined ? reader.choice.id === message.id : reader.choice.market === '*';
      if (isMeant) reader.refuse(message);
    }
  }

  /** Asks for the messages after the last one. */
  #catchUp(stream: Stream): void {
    if (stream.isResuming) return;
    stream.isResuming = true;
    const { market, marketType, commitment: held, version } = stream;
    const commitment = held === 'processed' ? held : undefined;
    this.#send({ type: 'subscribe', channel: 'trades.v2', market, marketType, commitment, resume: version });
  }

  #request({ choice }: TradeReader): void {
    const versions: [string, BookVersion][] = [];
    for (const stream of this.#streams.values()) {
      if (!matches(choice, stream)) continue;
      versions.push([stream.stream, stream.version]);
      stream.isResuming = true;
    }
    const message = { ...choice, type: 'subscribe', channel: 'trades.v2' };
    const resume = choice.market === '*' ? Object.fromEntries(versions) : versions[0]?.[1];
    this.#send(versions.length > 0 ? { ...message, resume } : message);
  }

  /** Whether a stream of an unknown market may be one that a reader should have. */
  #mayLack({ choice }: TradeReader, name: string): boolean {
    const marketType = name.startsWith('spot') ? 'spot' : 'perp';
    if (commitmentOf(choice) !== (name.endsWith('_processed') ? 'processed' : 'confirmed')) return false;
    if ((choice.marketType ?? (choice.market === '*' ? marketType : 'perp')) !== marketType) return false;
    return choice.market === '*' || ![...this.#streams.values()].some((stream) => matches(choice, stream));
  }

  #isWanted(stream: TradeStreamState): boolean {
    return this.#readersOf(stream).length > 0;
  }

  #readersOf(stream: TradeStreamState): TradeReader[] {
    return [...this.#readers].filter(({ choice }) => matches(choice, stream));
  }
}

function commitmentOf({ commitment = 'confirmed' }: NumberedTradesChoice): Commitment {
  return commitment;
}

function matches(choice: NumberedTradesChoice, { market, marketType, commitment }: TradeStreamState): boolean {
  if (commitmentOf(choice) !== commitment) return false;
  if (choice.market === '*') return choice.marketType === undefined || choice.marketType === marketType;
  return choice.market.toUpperCase() === market && (choice.marketType ?? 'perp') === marketType;
}

function overlap(one: NumberedTradesChoice, other: NumberedTradesChoice): boolean {
  if (commitmentOf(one) !== commitmentOf(other)) return false;
  return one.market === '*' || other.market === '*' || one.market.toUpperCase() === other.market.toUpperCase();
}
