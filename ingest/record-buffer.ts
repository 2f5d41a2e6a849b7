// The records of a batch that wait for their append, by topic: encodes events, changes, ticks and dead letters.

import bs58 from 'bs58';
import type { NewRecord } from '../platform/index.ts';
import {
  type DeadLetter,
  encodeMessage,
  type InsuranceFundState,
  type MessageName,
  type MessageTypes,
  marketKey,
  TOPICS,
} from '../schemas/index.ts';
import type { CounterBuffer } from './counters.ts';
import { deadLetter } from './dead-letter.ts';
import type { EncodedEvent } from './decode/transaction.ts';
import type { Output } from './diff/output.ts';
import type { IngestMetrics } from './metrics.ts';
import type { OffsetHistory } from './resume-state.ts';
import type { ShadowMessage } from './shadow/check.ts';
import type { IngestQuality, IngestSource } from './shadow/quality.ts';
import type { LogWriter } from './writer.ts';

/** Topics that are appended beside the events, in this order. */
const TOPIC_ORDER = [
  'book',
  'positions',
  'userOrders',
  'vaults',
  'accountStates',
  'counters',
  'margin',
  'deadLetters',
] as const satisfies readonly (keyof typeof TOPICS)[];
type BufferedTopic = (typeof TOPIC_ORDER)[number];

/** Key of slot ticks, which go to every partition of `book`, `positions` and `user.orders`, and of margin times. */
const SLOT_KEY = 'slot';
const FINALITY_KEY = 'chain';
/** Keys of the records around a whole margin. */
const MARGIN_BEGIN_KEY = 'begin';
const MARGIN_WHOLE_KEY = 'whole';
/** Key of the state of an insurance fund. Other states have the key of their account. */
const fundKey = ({ marketIndex }: InsuranceFundState): string => `insurance-fund-${marketIndex}`;

/** Messages that have the key of their market. */
type MarketMessage =
  | 'BookOrders'
  | 'BookMarket'
  | 'BookOracle'
  | 'BookSnapshotBegin'
  | 'BookSnapshotEnd'
  | 'BookRepair'
  | 'BookCheck'
  | 'PositionState'
  | 'PositionMarket'
  | 'UserOrders';

export interface RecordBufferParts {
  readonly writer: LogWriter;
  readonly ends: OffsetHistory;
  readonly metrics: IngestMetrics;
  readonly quality: IngestQuality;
  readonly counters: CounterBuffer;
}

export class RecordBuffer {
  readonly #parts: RecordBufferParts;
  #events: EncodedEvent[] = [];
  #records = new Map<BufferedTopic, NewRecord[]>();
  #size = 0;
  /** The newest final slot that is not written yet. */
  #finality: NewRecord | null = null;

  constructor(parts: RecordBufferParts) {
    this.#parts = parts;
  }

  /** Number of events that wait. */
  get eventCount(): number {
    return this.#events.length;
  }

  /** Number of records that wait beside the events. */
  get size(): number {
    return this.#size;
  }

  event(event: EncodedEvent): void {
    this.#events.push(event);
  }

  /** A slot of the source, for all books, positions and orders. */
  slot(slot: number): void {
    const value = encodeMessage('BookSlot', { slot });
    for (const topic of ['book', 'positions', 'userOrders'] as const) this.#tick(topic, value);
  }

  /** The block time of a slot, in unix seconds, for all books. */
  bookTime(slot: number, ts: number): void {
    this.#tick('book', encodeMessage('BookTime', { slot, ts }));
  }

  /** `isWhole`: all margins are written. Compaction keeps the newest whole time too: it shows which accounts are closed. */
  marginTime(slot: number, ts: number, isWhole: boolean): void {
    const key = isWhole ? MARGIN_WHOLE_KEY : SLOT_KEY;
    this.#add('margin', { key, value: encodeMessage('MarginTime', { slot, ts, isWhole }) });
  }

  /** The chain has finalized this slot. */
  final(slot: number, ts: number): void {
    this.#finality = { key: FINALITY_KEY, value: encodeMessage('ChainFinality', { slot, ts }) };
  }

  /** A message of the shadow check. */
  checked({ name, value }: ShadowMessage): void {
    this.#message('book', name, value, 'slot' in value ? value.slot : value.snapshotSlot);
  }

  park(letter: DeadLetter): void {
    this.#parts.metrics.parked.inc({ reason: letter.reason });
    this.#add('deadLetters', { key: letter.reason, value: encodeMessage('DeadLetter', letter) });
  }

  /** A change from the differ. */
  readonly output = (output: Output): void => {
    switch (output.name) {
      case 'DeadLetter':
        this.park(output.value);
        break;
      case 'StreamCounter':
        this.#parts.counters.note(output.value);
        break;
      case 'PositionState':
      case 'PositionMarket':
        this.#message('positions', output.name, output.value, output.value.slot);
        break;
      case 'UserOrders':
        this.#message('userOrders', output.name, output.value, output.value.slot);
        break;
      case 'AccountMargin':
        this.#record('margin', bs58.encode(output.value.user), output.name, output.value, output.value.slot);
        break;
      case 'MarketMargin':
        this.#record('margin', marketKey(output.value), output.name, output.value, output.value.slot);
        break;
      case 'MarginBegin':
        this.#record('margin', MARGIN_BEGIN_KEY, output.name, output.value, output.value.slot);
        break;
      case 'RevenueShareState':
      case 'RevenueShareEscrowState':
        this.#record('accountStates', bs58.encode(output.value.account), output.name, output.value, output.value.slot);
        break;
      case 'InsuranceFundState':
        this.#record('accountStates', fundKey(output.value), output.name, output.value, output.value.slot);
        break;
      case 'VaultState':
        this.#record('vaults', bs58.encode(output.value.vault), output.name, output.value, output.value.slot);
        break;
      case 'VaultDepositorState':
        this.#record('vaults', bs58.encode(output.value.depositor), output.name, output.value, output.value.slot);
        break;
      case 'BookSnapshotBegin':
      case 'BookSnapshotEnd':
        this.#message('book', output.name, output.value, output.value.snapshotSlot);
        this.#message('userOrders', output.name, output.value, output.value.snapshotSlot);
        // A snapshot also lists all positions of the market between its brackets.
        if (output.value.marketType === 'perp') {
          this.#message('positions', output.name, output.value, output.value.snapshotSlot);
        }
        break;
      default:
        this.#parts.quality.seen(output.value, sourceOf(output), output.value.slot);
        this.#message('book', output.name, output.value, output.value.slot);
    }
  };

  /** Appends all records and returns the events that the log did not have yet. Rejects only when stopped. */
  async append(newestSlot: number): Promise<readonly EncodedEvent[]> {
    const { writer, ends, counters } = this.#parts;
    for (const record of counters.take(newestSlot)) this.#add('counters', record);
    const [events, records, finality] = [this.#events, this.#records, this.#finality];
    this.#events = [];
    this.#records = new Map();
    this.#size = 0;
    this.#finality = null;
    if (events.length > 0)
      ends.reached(
        events.reduce((slot, event) => Math.max(slot, event.slot), -1),
        () => writer.nextOffsets,
      );
    const [fresh] = await Promise.all([
      events.length > 0 ? writer.appendEvents(events) : [],
      ...TOPIC_ORDER.map((topic) => {
        const waiting = records.get(topic);
        return waiting ? writer.append(TOPICS[topic], waiting) : undefined;
      }),
    ]);
    // After the events: whoever reads that a slot is final finds its events in the log.
    if (finality) await writer.append(TOPICS.finality, [finality]);
    return fresh;
  }

  #tick(topic: BufferedTopic, value: Uint8Array): void {
    for (let partition = 0; partition < TOPICS[topic].partitions; partition++) {
      this.#add(topic, { key: SLOT_KEY, value, partition });
    }
  }

  #message<N extends MarketMessage>(topic: BufferedTopic, name: N, value: MessageTypes[N], slot: number): void {
    this.#record(topic, marketKey(value), name, value, slot);
  }

  #record<N extends MessageName>(
    topic: BufferedTopic,
    key: string,
    name: N,
    value: MessageTypes[N],
    slot: number,
  ): void {
    try {
      this.#add(topic, { key, value: encodeMessage(name, value) });
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // Some bytes decode as an account but hold numbers that no message can carry.
      this.park(deadLetter('bad_value', `${name}: ${error.message}`, slot, key, new Uint8Array(0)));
    }
  }

  #add(topic: BufferedTopic, record: NewRecord): void {
    this.#size += 1;
    const waiting = this.#records.get(topic);
    if (waiting) waiting.push(record);
    else this.#records.set(topic, [record]);
  }
}

function sourceOf({
  name,
  value,
}: Extract<Output, { name: 'BookOrders' | 'BookMarket' | 'BookOracle' }>): IngestSource {
  if (name === 'BookOrders') return value.source;
  return name === 'BookMarket' ? 'market' : 'oracle';
}
