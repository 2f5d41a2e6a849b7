// Trades at commitment processed: numbers fills and their withdrawals in one sequence. Every published fill is confirmed or withdrawn
// in the end, whatever ingest repeats or has forgotten. Pure: no clock, no I/O.

import bs58 from 'bs58';
import {
  type ChainEvent,
  decodeEvent,
  decodeMessage,
  encodeMessage,
  type FillWithdrawal,
  marketKey,
  type ProcessedFill,
  type TradeView,
  type TradeWithdrawal,
} from '../../schemas/index.ts';
import type { StatePiece } from '../follow/pieces.ts';
import type { Numbering, RecordNumber } from '../trades/numbering.ts';
import { SeenEvents } from '../trades/seen.ts';
import { type Fill, fillOf } from '../trades/trade-view.ts';

const OPEN = 'open:';
const CONFIRMED = 'confirmed:';

/** A numbered record of a market's trades. */
export type NumberedRecord =
  | { readonly name: 'TradeView'; readonly key: string; readonly value: TradeView }
  | { readonly name: 'TradeWithdrawal'; readonly key: string; readonly value: TradeWithdrawal };

/** A published fill that is not confirmed. `seq` and `tradeSeq` are its number. */
type OpenFill = TradeWithdrawal;

export class ProcessedTrades {
  readonly #numbering: Numbering;
  /** By signature and index: a fill stands in one slot at a time. */
  readonly #open = new Map<string, OpenFill>();
  readonly #changed = new Set<string>();
  readonly #confirmed = new SeenEvents();

  constructor(numbering: Numbering) {
    this.#numbering = numbering;
  }

  /** Published fills that are neither confirmed nor withdrawn. */
  get openFills(): number {
    return this.#open.size;
  }

  /** Takes a fill. Throws for an unreadable event and a fill that lacks a field. */
  fill({ commitment, event: bytes }: Pick<ProcessedFill, 'commitment' | 'event'>): NumberedRecord[] {
    const event = decodeEvent(bytes);
    const fill = fillOf(event);
    const { signature, eventIndex } = event;
    if (fill === null || this.#confirmed.has(signature, eventIndex)) return [];
    const known = this.#open.get(idOf(event));
    const records = known?.slot === fill.slot ? [] : [...this.#withdrawn(known), this.#publish(event, fill)];
    if (commitment === 'confirmed') {
      this.#confirmed.add(signature, eventIndex);
      this.#close(idOf(event));
    }
    return records;
  }

  /** Withdraws a fill that stands in this slot. */
  withdraw(left: Pick<FillWithdrawal, 'slot' | 'signature' | 'eventIndex'>): NumberedRecord[] {
    const known = this.#open.get(idOf(left));
    return known?.slot === left.slot ? this.#withdrawn(known) : [];
  }

  /** Withdraws the fills up to `slot` that are not confirmed: all confirmed ones were taken before. */
  resolve(slot: number): NumberedRecord[] {
    return [...this.#open.values()].filter((fill) => fill.slot <= slot).flatMap((fill) => this.#withdrawn(fill));
  }

  /** State changed since the last call. */
  takeChanges(): StatePiece[] {
    const open = [...this.#changed].map((id) => {
      const fill = this.#open.get(id);
      return { name: OPEN + id, bytes: fill ? encodeMessage('TradeWithdrawal', fill) : null };
    });
    this.#changed.clear();
    return [...open, ...this.#confirmed.takeChanges().map(({ name, bytes }) => ({ name: CONFIRMED + name, bytes }))];
  }

  /** Restores pieces of `takeChanges`, in any order. */
  restore(pieces: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>): void {
    const confirmed: { name: string; bytes: Uint8Array }[] = [];
    for (const { name, bytes } of pieces) {
      if (name.startsWith(CONFIRMED)) confirmed.push({ name: name.slice(CONFIRMED.length), bytes });
      else if (name.startsWith(OPEN)) {
        const message = decodeMessage(bytes);
        if (message.name === 'TradeWithdrawal') this.#open.set(name.slice(OPEN.length), message.value);
      }
    }
    this.#confirmed.restore(confirmed);
  }

  #publish(event: ChainEvent, fill: Fill): NumberedRecord {
    const key = marketKey(fill);
    const number = this.#numbering.next(key);
    const value = { ...fill, ...number };
    // A fill that cannot be written takes no number.
    encodeMessage('TradeView', value);
    this.#numbering.take(key);
    this.#open.set(idOf(event), openFill(value, number));
    this.#changed.add(idOf(event));
    return { name: 'TradeView', key, value };
  }

  #withdrawn(fill: OpenFill | undefined): NumberedRecord[] {
    if (!fill) return [];
    const key = marketKey(fill);
    const { seq } = this.#numbering.next(key);
    this.#numbering.take(key);
    this.#close(idOf({ signature: bs58.decode(fill.txSig), eventIndex: fill.txSigIndex }));
    return [{ name: 'TradeWithdrawal', key, value: { ...fill, seq } }];
  }

  #close(id: string): void {
    if (this.#open.delete(id)) this.#changed.add(id);
  }
}

function openFill(
  { marketType, marketIndex, slot, txSig, txSigIndex, fillRecordId }: Fill,
  { epoch, seq }: RecordNumber,
) {
  return { marketType, marketIndex, epoch, seq, tradeSeq: seq, slot, txSig, txSigIndex, fillRecordId };
}

function idOf({ signature, eventIndex }: Pick<ChainEvent, 'signature' | 'eventIndex'>): string {
  return `${Buffer.from(signature).toString('hex')}:${eventIndex}`;
}
