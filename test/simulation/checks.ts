// Laws of every run, checked at each write of the log, and at the end.

import type { ResumeState } from '../../ingest/resume-state.ts';
import type { LogRecord } from '../../platform/index.ts';
import {
  type ChainGap,
  decodeEvent,
  decodeGaps,
  decodeMessage,
  GAPS_GROUP,
  GAPS_KEY,
  marketKey,
  TOPICS,
  type Topic,
} from '../../schemas/index.ts';
import { Books, differenceText, isBookMessage, unreadMarket } from './books.ts';
import type { DroppedChecks } from './dropped-checks.ts';
import { eventText } from './event-text.ts';
import type { LogObserver } from './log.ts';
import type { ProcessedChecks } from './processed-checks.ts';
import { eventKey, FIRST_SLOT } from './tape.ts';
import type { TrueEvent, Truth } from './truth.ts';

/** Group and key of the resume state (ingest/resume-state.ts). */
const RESUME_GROUP = 'ingest';
const RESUME_KEY = 'position';
/** Violations of one run in its report. */
const VIOLATIONS_MAX = 5;

export interface Violation {
  readonly rule: string;
  readonly detail: string;
}

export interface ChecksParts {
  readonly truth: Truth;
  /** Newest slot that the cluster ever confirmed. */
  readonly confirmedSlot: () => number;
  /** Slot of the chain when the first process started: earlier history is not promised. */
  readonly firstSlot: () => number;
  /** Whether labels must be exact now. */
  readonly isExact: () => boolean;
  readonly nowMs: () => number;
}

const isOpen = ({ filledAtMs }: ChainGap): boolean => filledAtMs === null;

export class Checks implements LogObserver {
  readonly violations: Violation[] = [];
  /** Null in runs without books at `processed`. */
  processed: ProcessedChecks | null = null;
  /** Null in runs whose chain drops no confirmed slot. */
  dropped: DroppedChecks | null = null;
  readonly #parts: ChecksParts;
  readonly #events = new Set<string>();
  readonly #books = Array.from({ length: TOPICS.book.partitions }, () => new Books());
  readonly #labels: number[] = Array.from({ length: TOPICS.book.partitions }, () => -1);
  readonly #partitions = new Map<string, number>();
  #gaps: readonly ChainGap[] = [];
  #resumeSlot = -1;
  /** Events below the resume point that the log lacked there, each inside an open gap. */
  #owed: readonly TrueEvent[] = [];

  constructor(parts: ChecksParts) {
    this.#parts = parts;
  }

  get counts(): { readonly events: number; readonly labels: number; readonly gaps: number } {
    return { events: this.#events.size, labels: this.#labelled, gaps: this.#gaps.length };
  }
  #labelled = 0;

  /** Slot of the stored resume point; -1 without one. */
  get resumeSlot(): number {
    return this.#resumeSlot;
  }

  /** The stream ended, perhaps within a slot. The log may have a part of that slot. */
  interrupted(): void {
    this.#partial = new Map(
      [...this.#partitions].map(([market, partition]) => [market, this.#slotOf(partition, market)]),
    );
  }
  /** Slots within which the stream ended, by market, until a later message changes the book at that slot. */
  #partial = new Map<string, number>();

  #slotOf(partition: number, market: string): number {
    return this.#books[partition]?.slot(market) ?? -1;
  }

  stored(topic: Topic, { partition, value, key, offset }: LogRecord): void {
    if (topic === TOPICS.events) this.#event(value);
    else if (topic === TOPICS.retractions) this.dropped?.retraction(value);
    else if (topic === TOPICS.book) this.#book(partition, key, value);
    else if (topic === TOPICS.processedBook) this.processed?.stored({ partition, value, key, offset });
    else if (topic === TOPICS.processedFills) this.processed?.fills.stored({ partition, value, key, offset });
  }

  committed(group: string, state: ReadonlyMap<string, Uint8Array>): void {
    if (group === GAPS_GROUP) this.#gapsSaved(decodeGaps(state.get(GAPS_KEY) ?? Buffer.from('[]')));
    else if (group === RESUME_GROUP) {
      const text = Buffer.from(state.get(RESUME_KEY) ?? []).toString('utf8');
      this.#resumed((JSON.parse(text) as ResumeState).resume?.slot ?? -1);
    }
  }

  /** Faults are over and the chain has stood still: everything confirmed is stored or named as a gap. */
  settled(): void {
    this.#missing(this.#parts.firstSlot(), this.#parts.confirmedSlot(), 'at the end', true);
    this.dropped?.settled();
    this.#resumeFollows();
    const stuck = this.#gaps.filter((gap) => isOpen(gap) && !gap.isLasting);
    for (const gap of stuck) this.violated('a gap stays open', gapText(gap));
    const idle = this.#gaps.find((gap) => isOpen(gap) && gap.isLasting && !this.#lacksEvents(gap));
    if (idle !== undefined) this.violated('a lasting gap lacks events', gapText(idle));
  }

  /**
   * Whether the log lacks an event of each slot of a gap that has events. Earlier history counts as lacking. So does a single
   * slot: its log may have been cut after all its events.
   */
  #lacksEvents({ fromSlot, toSlot }: ChainGap): boolean {
    const { truth, firstSlot } = this.#parts;
    if (fromSlot === toSlot || toSlot <= Math.max(firstSlot(), FIRST_SLOT)) return true;
    const events = [...truth.events(fromSlot - 1, toSlot)];
    const lacking = new Set(events.filter(({ id }) => !this.#events.has(id)).map(({ slot }) => slot));
    return lacking.size > 0 && events.every(({ slot }) => lacking.has(slot));
  }

  /** A restart must not read everything again. */
  #resumeFollows(): void {
    const newest = [...this.#parts.truth.events(this.#parts.firstSlot(), this.#parts.confirmedSlot())].at(-1);
    if (newest !== undefined && this.#resumeSlot < newest.slot)
      this.violated('the resume point follows', `${this.#resumeSlot}, the newest event is of slot ${newest.slot}`);
  }

  /** The books of the log are those of the chain. */
  booksAt(slot: number): void {
    const unread = unreadMarket(this.#parts.truth.states(slot), (market) => this.#bookOf(market));
    if (unread !== null) this.violated('book at the end', unread);
    for (const partition of this.#books.keys()) this.#compare(partition, slot, 'book at the end');
    this.processed?.settled(slot);
    for (const label of this.#labels) {
      if (label < slot) this.violated('label at the end', `labelled ${label}, the chain stands at ${slot}`);
    }
  }

  #bookOf(market: string): Books | null {
    return this.#books[this.#partitions.get(market) ?? -1] ?? null;
  }

  /** Whether everything holds that must hold at the end, at this slot. */
  isDone(slot: number): boolean {
    const before = this.violations.splice(0);
    this.settled();
    this.booksAt(slot);
    const found = this.violations.splice(0).length;
    this.violations.push(...before);
    return found === 0;
  }

  /** The process ended by itself. */
  failed(error: unknown): void {
    this.violated('ingest never ends', error instanceof Error ? (error.stack ?? error.message) : String(error));
  }

  #event(value: Uint8Array): void {
    const event = decodeEvent(value);
    this.processed?.fills.event(event);
    const { signature, eventIndex, slot, name } = event;
    const id = eventKey(signature, eventIndex);
    if (slot <= this.#parts.confirmedSlot() && this.dropped?.takes(id, slot)) return;
    if (this.#events.has(id)) this.violated('no event twice', `${name} ${eventText(id)} of slot ${slot}`);
    this.#events.add(id);
    const truth = this.#parts.truth.event(id);
    if (truth === null || truth.name !== name)
      this.violated('no phantom event', `${name} ${eventText(id)} of slot ${slot}`);
    else if (truth.slot !== slot)
      this.violated('the slot of an event', `${eventText(id)}: ${slot} instead of ${truth.slot}`);
    else if (slot > this.#parts.confirmedSlot())
      this.violated('no event before its commitment', `${eventText(id)} of slot ${slot}`);
  }

  #book(partition: number, key: string, value: Uint8Array): void {
    this.#partitions.set(key, partition);
    const message = decodeMessage(value);
    const books = this.#books[partition];
    if (message.name === 'BookSlot') {
      this.#label(partition, message.value.slot);
      books?.label(message.value.slot);
    } else if (isBookMessage(message) && books) {
      const market = marketKey(message.value);
      const slot = books.slot(market);
      if (books.slotAfter(message) > slot) this.#left(partition, market, slot);
      else if (!books.isOpen(market)) this.#partial.delete(market);
      books.take(message);
    }
  }

  /** A book shows a newer slot from now on. Its state was the book of the slot before, also when no label said so. */
  #left(partition: number, market: string, slot: number): void {
    if (slot < 0 || slot === this.#labels[partition] || slot === this.#partial.get(market) || !this.#parts.isExact())
      return;
    this.#compare(partition, slot, 'the book at each slot that it shows', (one) => one === market);
  }

  #label(partition: number, slot: number): void {
    if (slot <= (this.#labels[partition] ?? -1)) return;
    this.#labels[partition] = slot;
    this.#labelled += 1;
    if (slot > this.#parts.confirmedSlot()) {
      this.violated('no label ahead of the chain', `${slot}, the chain stands at ${this.#parts.confirmedSlot()}`);
    } else if (this.#parts.isExact()) this.#compare(partition, slot, 'the book at each slot');
  }

  #compare(
    partition: number,
    slot: number,
    rule: string,
    isMeant = (market: string) => this.#partitions.get(market) === partition,
  ): void {
    const truth = this.#parts.truth.states(slot);
    if (truth === null) return;
    const found = this.#books[partition]?.differences(truth, isMeant);
    const [first] = found ?? [];
    if (first !== undefined)
      this.violated(rule, `slot ${slot}: ${differenceText(first)} (${found?.length} differences)`);
  }

  #gapsSaved(gaps: readonly ChainGap[]): void {
    const before = this.#gaps;
    this.#gaps = gaps;
    for (const gap of gaps) {
      if (gap.fromSlot > gap.toSlot) this.violated('gaps are in order', `${gap.fromSlot} to ${gap.toSlot}`);
      const isNew = !isOpen(gap) && !before.some((one) => !isOpen(one) && isSame(one, gap));
      if (isNew) this.#missing(gap.fromSlot - 1, gap.toSlot, `in a gap that counts as filled (${gap.reason})`);
    }
    this.#checkOwed();
  }

  #resumed(slot: number): void {
    if (slot > this.#parts.confirmedSlot()) {
      this.violated(
        'no resume point ahead of the chain',
        `${slot}, the chain stands at ${this.#parts.confirmedSlot()}`,
      );
    }
    if (slot > this.#resumeSlot) {
      const owed = this.#missing(this.#resumeSlot, slot, 'below the resume point');
      this.#owed = [...this.#owed.filter(({ id }) => !this.#events.has(id)), ...owed];
      this.#resumeSlot = slot;
    }
    this.#checkOwed();
  }

  /** A gap may close only over events that came. */
  #checkOwed(): void {
    this.#owed = this.#owed.filter((event) => !this.#events.has(event.id));
    const bare = this.#owed.find((event) => !this.isNamed(event.slot));
    if (bare !== undefined)
      this.violated('no event missing without a gap', `${bare.name} ${eventText(bare.id)}: its gap closed`);
  }

  /** Reports events that are neither stored nor inside an open gap. Returns those inside one. */
  #missing(from: number, to: number, where: string, isEnd = false): TrueEvent[] {
    const named: TrueEvent[] = [];
    for (const event of this.#parts.truth.events(Math.max(from, this.#parts.firstSlot()), to)) {
      if (this.#events.has(event.id) || (!isEnd && this.dropped?.mayComeLater(event.id))) continue;
      if (this.isNamed(event.slot)) named.push(event);
      else {
        const detail = `${event.name} ${eventText(event.id)} of slot ${event.slot}${event.isLost ? ', cut from the log' : ''}`;
        this.violated('no event missing without a gap', `${detail}, ${where}`);
        return named;
      }
    }
    return named;
  }

  /** Whether an open gap names the slot. */
  isNamed(slot: number): boolean {
    return this.#gaps.some((gap) => isOpen(gap) && gap.fromSlot <= slot && gap.toSlot >= slot);
  }

  violated(rule: string, detail: string): void {
    if (this.violations.some((one) => one.rule === rule) || this.violations.length >= VIOLATIONS_MAX) return;
    this.violations.push({ rule, detail: `at ${Math.round(this.#parts.nowMs())} ms: ${detail}` });
  }
}

const gapText = ({ fromSlot, toSlot, reason }: ChainGap): string => `${fromSlot} to ${toSlot}: ${reason}`;

function isSame(one: ChainGap, other: ChainGap): boolean {
  return one.fromSlot === other.fromSlot && one.toSlot === other.toSlot && one.filledAtMs === other.filledAtMs;
}
