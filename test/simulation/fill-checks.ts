// Laws of the trades at `processed`, for a reader of the numbered sequence. In the end every published fill that is not
// withdrawn is one of the surviving chain. A fill is withdrawn because its block lost, soon after the news.

import bs58 from 'bs58';
import { Registry } from 'prom-client';
import type { LogRecord, NewRecord } from '../../platform/index.ts';
import { ProcessedFills, processedTradesMetrics } from '../../processors/processed-trades/role.ts';
import { fillOf } from '../../processors/trades/trade-view.ts';
import { type ChainEvent, decodeMessage, TOPICS, type TradeView, type TradeWithdrawal } from '../../schemas/index.ts';
import { eventText } from './event-text.ts';
import { eventKey } from './tape.ts';
import type { Truth } from './truth.ts';

const EPOCH = 1;

export interface FillParts {
  readonly truth: Truth;
  readonly confirmedSlot: () => number;
  /** Whether an open gap of the log names the slot. */
  readonly isGap: (slot: number) => boolean;
  readonly violated: (rule: string, detail: string) => void;
}

/** A fill that the reader has. */
export interface ValidFill {
  /** See `eventKey`. */
  readonly id: string;
  readonly slot: number;
  readonly seq: number | null;
}

export class FillChecks {
  readonly #parts: FillParts;
  readonly #roles: readonly ProcessedFills[];
  readonly #valid = new Map<string, ValidFill>();
  /** Those that were published since the newest connection to the stream at `processed` began. */
  readonly #followed = new Set<ValidFill>();
  /** Fills of the stored events, with their slots. */
  readonly #confirmed = new Map<string, number>();
  #early = 0;
  #withdrawn = 0;

  constructor(parts: FillParts) {
    this.#parts = parts;
    const metrics = processedTradesMetrics(new Registry());
    this.#roles = Array.from(
      { length: TOPICS.processedFills.partitions },
      (_, partition) => new ProcessedFills(partition, EPOCH, metrics),
    );
  }

  /** Fills that were published before their slot was confirmed, and withdrawn ones. */
  get counts(): { readonly early: number; readonly withdrawn: number } {
    return { early: this.#early, withdrawn: this.#withdrawn };
  }

  /** An event of the confirmed chain is stored. */
  event(event: ChainEvent): void {
    if (fillOf(event) !== null) this.#confirmed.set(eventKey(event.signature, event.eventIndex), event.slot);
  }

  /** Numbers what ingest wrote, as the trades role does. */
  stored(record: LogRecord): void {
    const isResolved = decodeMessage(record.value).name === 'FillsResolved';
    for (const one of this.#roles[record.partition]?.take(record) ?? []) this.#read(one, isResolved);
  }

  /** A connection to the stream at `processed` begins: it brings no news of the blocks before. */
  connecting(): void {
    this.#followed.clear();
  }

  /** Fills of blocks that lost, published on the connection whose news says so. */
  lost(fromSlot: number, toSlot: number): readonly ValidFill[] {
    return [...this.#followed].filter(
      (fill) => fill.slot >= fromSlot && fill.slot <= toSlot && !this.#survives(fill) && this.stands(fill),
    );
  }

  stands(fill: ValidFill): boolean {
    return this.#valid.get(fill.id) === fill;
  }

  /** Published fills without the withdrawn ones are those of the chain. Above the confirmed slot nothing is decided. */
  settled(): void {
    const decided = [...this.#valid.values()].filter(({ slot }) => slot <= this.#parts.confirmedSlot());
    const extra = decided.find((fill) => !this.#survives(fill));
    if (extra !== undefined) this.#parts.violated('fills at the end', `${textOf(extra)} is not withdrawn`);
    const lacking = [...this.#confirmed].find(([id, slot]) => this.#valid.get(id)?.slot !== slot);
    if (lacking === undefined) return;
    const [id, slot] = lacking;
    this.#parts.violated('fills at the end', `${textOf({ id, slot })} does not stand`);
  }

  #read({ value }: NewRecord, isResolved: boolean): void {
    const message = decodeMessage(value);
    if (message.name === 'TradeView') this.#published(message.value);
    else if (message.name === 'TradeWithdrawal') this.#withdraw(message.value, isResolved);
  }

  #published({ txSig, txSigIndex, slot, seq }: TradeView): void {
    const fill = { id: eventKey(bs58.decode(txSig), txSigIndex), slot, seq };
    if (this.#valid.has(fill.id)) this.#parts.violated('a fill stands once', textOf(fill));
    this.#valid.set(fill.id, fill);
    this.#followed.add(fill);
    if (slot > this.#parts.confirmedSlot()) this.#early += 1;
  }

  #withdraw({ txSig, txSigIndex, slot, tradeSeq }: TradeWithdrawal, isResolved: boolean): void {
    const id = eventKey(bs58.decode(txSig), txSigIndex);
    const fill = this.#valid.get(id);
    this.#withdrawn += 1;
    this.#valid.delete(id);
    if (fill !== undefined) this.#followed.delete(fill);
    if (fill?.seq !== tradeSeq || fill.slot !== slot)
      this.#parts.violated('a withdrawal names a published fill', `${textOf({ id, slot })}, number ${tradeSeq}`);
    if (this.#survives({ id, slot }) && !(isResolved && this.#isOwed(id, slot)))
      this.#parts.violated('no fill of a surviving slot is withdrawn', textOf({ id, slot }));
  }

  #survives({ id, slot }: Pick<ValidFill, 'id' | 'slot'>): boolean {
    return this.#parts.truth.event(id)?.slot === slot;
  }

  /** Whether the confirmed stream has lost the fill: a later backfill may find it. */
  #isOwed(id: string, slot: number): boolean {
    return !this.#confirmed.has(id) && this.#parts.isGap(slot);
  }
}

function textOf({ id, slot }: Pick<ValidFill, 'id' | 'slot'>): string {
  return `${eventText(id)} of slot ${slot}`;
}
