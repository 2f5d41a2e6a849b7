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
import type { SentState } from '../feed/feed-stream.ts';
import type { LogPlace } from '../feed/log-search.ts';
import type { RecordContent, RecordStream } from '../feed/record-stream.ts';
import { wholeNumber } from '../trade-body.ts';

/** A fill with its number. */
export type NumberedTrade = TradeView & { readonly epoch: number; readonly seq: number };
/** A record of a market's sequence. Withdrawals stand at processed only. */
export type NumberedTradeRecord = NumberedTrade | TradeWithdrawal;

export type TradeStream = RecordStream<NumberedTradeRecord, MarketTrades>;

export interface MarketTradesOptions {
  readonly key: string;
  readonly streamId: number;
  readonly commitment: Commitment;
  /** Null while the market has no description: no subscription begins before it. */
  readonly symbol: () => string | null;
  /** JSON text of a fill. */
  readonly render: (trade: TradeView) => string;
}

export class MarketTrades implements RecordContent<NumberedTradeRecord> {
  readonly name: string;
  readonly streamId: number;
  readonly place: LogPlace;
  readonly ref: MarketRef;
  readonly #options: MarketTradesOptions;
  /** The newest record, when it is a fill. */
  #last: TradeView | null = null;

  constructor(options: MarketTradesOptions) {
    const { key, streamId, commitment } = options;
    const ref = parseMarketKey(key);
    const choice = commitment === 'confirmed' ? '' : `_${commitment}`;
    this.name = `${ref.marketType}_${ref.marketIndex}_trades${choice}`;
    this.streamId = streamId;
    this.place = { key: marketKey(ref) };
    this.ref = ref;
    this.#options = options;
  }

  /** The number of the newest record, and that record when it is a fill. */
  renderSnapshot({ epoch, seq, slot }: SentState): string | null {
    const { symbol, render } = this.#options;
    const market = symbol();
    if (market === null) return null;
    const { name: stream, streamId, ref } = this;
    const head = { channel: 'trades.v2', type: 'snapshot', stream, streamId, market, ...this.#commitment };
    const members = JSON.stringify({ ...head, ...ref, epoch, seq, slot });
    return `${members.slice(0, -1)},"last":${this.#last ? render(this.#last) : 'null'}}`;
  }

  renderRecord(record: NumberedTradeRecord): string {
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

  read(bytes: Uint8Array): NumberedTradeRecord | null {
    return numberedRecord(bytes);
  }

  apply(record: NumberedTradeRecord): void {
    this.#last = isWithdrawal(record) ? null : record;
  }

  restart(): void {}

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
