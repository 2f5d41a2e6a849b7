// A subscription to numbered fills: listeners are called for each; iterators get those that wait for them.

import type { TradesErrorMessage } from '../../schemas/portable.ts';
import { Events } from './events.ts';
import type {
  MissingTrades,
  NumberedTrade,
  NumberedTradesChoice,
  TradeReader,
  TradeStreamState,
  WithdrawnTrade,
} from './numbered-trades.ts';
import { WaitingReaders } from './waiting-readers.ts';

export type NumberedTradeEvents = {
  trade: NumberedTrade;
  /** Only at commitment processed: an earlier fill does not count. */
  withdrawn: WithdrawnTrade;
  /** Fills of this market are followed from here: the next one is delivered. */
  started: TradeStreamState;
  /** The connection is lost. Fills of that time follow after `resumed`. */
  stale: { readonly reason: 'disconnected' };
  /** Nothing is missing: the fills of a lost connection follow. */
  resumed: TradeStreamState;
  /** Fills that the feed does not have any more. */
  missing: MissingTrades;
  /** The server rejects the request, and says why. */
  refused: TradesErrorMessage;
};

/** Fills that one slow reader can have waiting. */
const WAITING_MAX = 10_000;

export class NumberedTradesSubscription
  extends Events<NumberedTradeEvents>
  implements AsyncIterable<NumberedTrade>, TradeReader
{
  readonly choice: NumberedTradesChoice & { readonly id: number };
  readonly #readers = new WaitingReaders<NumberedTrade>();
  readonly #onClose: () => void;
  #isClosed = false;
  #dropped = 0;

  /** Made by `FeedClient.numberedTrades`. */
  constructor(choice: NumberedTradesChoice & { readonly id: number }, onClose: () => void) {
    super();
    this.choice = choice;
    this.#onClose = onClose;
  }

  /** Fills that slow readers did not get. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Ends the subscription, and every iterator of it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
    this.#readers.close();
  }

  /** Fills from now on, each once; at processed with those that are `withdrawn` later. A slow reader gets the newest 10,000. Ends with `close`. */
  [Symbol.asyncIterator](): AsyncGenerator<NumberedTrade, void, undefined> {
    return this.#readers.iterate(() => []);
  }

  /** For the client: a fill. */
  take(trade: NumberedTrade): void {
    this.emit('trade', trade);
    this.#readers.put(trade, WAITING_MAX, (waiting) => {
      this.#dropped += waiting.length - WAITING_MAX;
      return waiting.slice(-WAITING_MAX);
    });
  }

  /** For the client: an earlier fill does not count. */
  withdraw(withdrawn: WithdrawnTrade): void {
    this.emit('withdrawn', withdrawn);
  }

  /** For the client: a market is followed from here on. */
  started({ stream, market, marketType, commitment }: TradeStreamState): void {
    this.emit('started', { stream, market, marketType, commitment });
  }

  /** For the client: a market continues without a loss. */
  resumed({ stream, market, marketType, commitment }: TradeStreamState): void {
    this.emit('resumed', { stream, market, marketType, commitment });
  }

  /** For the client: fills are lost. */
  missing(missing: MissingTrades): void {
    this.emit('missing', missing);
  }

  /** For the client: the connection is lost. */
  outdated(): void {
    this.emit('stale', { reason: 'disconnected' });
  }

  /** For the client: the server rejected the request. */
  refuse(message: TradesErrorMessage): void {
    this.emit('refused', message);
  }
}
