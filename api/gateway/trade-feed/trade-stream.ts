// The numbered fills of one market, at processed with their withdrawals.

import type { Commitment } from '../../../platform/index.ts';
import {
  decodeMessage,
  type MarketRef,
  marketKey,
  parseMarketKey,
  type TradeView,
  type TradeWithdrawal,
} from '../../../schemas/index.ts';
import { RecordStream } from '../feed/record-stream.ts';
import type { RingSpace } from '../feed/ring.ts';
import { wholeNumber } from '../trade-body.ts';

/** A fill with its number. */
export type NumberedTrade = TradeView & { readonly epoch: number; readonly seq: number };
/** A record of a market's sequence. Withdrawals stand at processed only. */
export type NumberedTradeRecord = NumberedTrade | TradeWithdrawal;

export interface TradeStreamOptions {
  readonly key: string;
  readonly streamId: number;
  readonly commitment: Commitment;
  readonly rings: RingSpace;
  /** Null while the market has no description: no subscription begins before it. */
  readonly symbol: () => string | null;
  /** JSON text of a fill. */
  readonly render: (trade: TradeView) => string;
}

export class TradeStream extends RecordStream<NumberedTradeRecord> {
  readonly ref: MarketRef;
  readonly #options: TradeStreamOptions;
  /** The newest record, when it is a fill. */
  #last: TradeView | null = null;

  constructor(options: TradeStreamOptions) {
    const { key, streamId, rings, commitment } = options;
    const ref = parseMarketKey(key);
    const choice = commitment === 'confirmed' ? '' : `_${commitment}`;
    super({
      name: `${ref.marketType}_${ref.marketIndex}_trades${choice}`,
      streamId,
      place: { key: marketKey(ref) },
      rings,
    });
    this.ref = ref;
    this.#options = options;
  }

  /** Begins after a record that is already published. */
  restore(record: NumberedTradeRecord): void {
    this.apply(record);
    this.beginAt({ epoch: record.epoch, seq: record.seq, slot: record.slot });
  }

  /** The number of the newest record, and that record when it is a fill. */
  protected override renderSnapshot(): string | null {
    const { symbol, render } = this.#options;
    const market = symbol();
    if (market === null) return null;
    const { name: stream, streamId, ref, sent } = this;
    const head = { channel: 'trades.v2', type: 'snapshot', stream, streamId, market, ...this.#commitment };
    const members = JSON.stringify({ ...head, ...ref, epoch: sent.epoch, seq: sent.seq, slot: sent.slot });
    return `${members.slice(0, -1)},"last":${this.#last ? render(this.#last) : 'null'}}`;
  }

  protected override renderRecord(record: NumberedTradeRecord): string {
    const { epoch, seq, slot } = record;
    const head = { epoch, seq, prevSeq: seq - 1, slot, ...this.#commitment };
    if (isWithdrawal(record)) {
      const { tradeSeq, txSig, txSigIndex, fillRecordId } = record;
      const withdrawn = { tradeSeq, txSig, txSigIndex, fillRecordId: wholeNumber(fillRecordId) };
      return JSON.stringify({ withdraw: this.streamId, ...head, ...withdrawn });
    }
    const { txIndex = null, txSigIndex } = record;
    const members = JSON.stringify({ trade: this.streamId, ...head, txIndex, txSigIndex });
    return `${members.slice(0, -1)},"data":${this.#options.render(record)}}`;
  }

  protected override read(bytes: Uint8Array): NumberedTradeRecord | null {
    return numberedRecord(bytes);
  }

  protected override apply(record: NumberedTradeRecord): void {
    this.#last = isWithdrawal(record) ? null : record;
  }

  protected override restart(): void {}

  /** Only messages at processed say their commitment. */
  get #commitment(): { readonly commitment?: Commitment } {
    const { commitment } = this.#options;
    return commitment === 'confirmed' ? {} : { commitment };
  }
}

/**
 * The fill or withdrawal in a record; null for a fill without a number: an older version of the trades role wrote it. Throws for an
 * unreadable record.
 */
export function numberedRecord(bytes: Uint8Array): NumberedTradeRecord | null {
  const { name, value } = decodeMessage(bytes);
  if (name === 'TradeWithdrawal') return value;
  return name === 'TradeView' && isNumbered(value) ? value : null;
}

export function isNumbered(trade: TradeView): trade is NumberedTrade {
  return trade.epoch !== null && trade.seq !== null;
}

function isWithdrawal(record: NumberedTradeRecord): record is TradeWithdrawal {
  return 'tradeSeq' in record;
}
