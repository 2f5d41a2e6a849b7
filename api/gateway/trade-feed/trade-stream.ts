// The numbered fills of one market.

import { decodeMessage, type MarketRef, marketKey, parseMarketKey, type TradeView } from '../../../schemas/index.ts';
import { RecordStream } from '../feed/record-stream.ts';
import type { RingSpace } from '../feed/ring.ts';

/** A fill with its number. */
export type NumberedTrade = TradeView & { readonly epoch: number; readonly seq: number };

export interface TradeStreamOptions {
  readonly key: string;
  readonly streamId: number;
  readonly rings: RingSpace;
  readonly symbol: () => string;
  /** JSON text of a fill. */
  readonly render: (trade: TradeView) => string;
}

export class TradeStream extends RecordStream<NumberedTrade> {
  readonly ref: MarketRef;
  readonly #options: TradeStreamOptions;
  #last: TradeView | null = null;

  constructor(options: TradeStreamOptions) {
    const { key, streamId, rings } = options;
    const ref = parseMarketKey(key);
    super({ name: `${ref.marketType}_${ref.marketIndex}_trades`, streamId, key: marketKey(ref), rings });
    this.ref = ref;
    this.#options = options;
  }

  /** Begins after a fill that is already published. */
  restore(trade: NumberedTrade): void {
    this.#last = trade;
    this.beginAt({ epoch: trade.epoch, seq: trade.seq, slot: trade.slot });
  }

  /** The number of the newest fill, and that fill. */
  protected override renderSnapshot(): string {
    const { symbol, render } = this.#options;
    const { name: stream, streamId, ref, sent } = this;
    const head = { channel: 'trades.v2', type: 'snapshot', stream, streamId, market: symbol() };
    const members = JSON.stringify({ ...head, ...ref, epoch: sent.epoch, seq: sent.seq, slot: sent.slot });
    return `${members.slice(0, -1)},"last":${this.#last ? render(this.#last) : 'null'}}`;
  }

  protected override renderRecord(trade: NumberedTrade): string {
    const { epoch, seq, slot, txIndex = null, txSigIndex } = trade;
    const head = `"trade":${this.streamId},"epoch":${epoch},"seq":${seq},"prevSeq":${seq - 1},"slot":${slot}`;
    const place = `"txIndex":${txIndex},"txSigIndex":${txSigIndex}`;
    return `{${head},${place},"data":${this.#options.render(trade)}}`;
  }

  protected override read(bytes: Uint8Array): NumberedTrade | null {
    return numberedTrade(bytes);
  }

  protected override apply(trade: NumberedTrade): void {
    this.#last = trade;
  }

  protected override restart(): void {}
}

/** The fill in a record; null without a number: an older version of the trades role wrote it. Throws for an unreadable record. */
export function numberedTrade(bytes: Uint8Array): NumberedTrade | null {
  const message = decodeMessage(bytes);
  return message.name === 'TradeView' && isNumbered(message.value) ? message.value : null;
}

export function isNumbered(trade: TradeView): trade is NumberedTrade {
  return trade.epoch !== null && trade.seq !== null;
}
