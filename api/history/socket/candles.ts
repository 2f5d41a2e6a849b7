// The candle channels: the newest candle of a market and resolution as it changes, with the fills that changed it.

import { type CandleView, type MarketRef, marketKey, type TradeView } from '../../../schemas/index.ts';
import { divideRounded, wholeUnits } from '../../units.ts';
import { candleBody } from '../candle-body.ts';
import { baseDecimals } from '../lists.ts';
import type { Hub } from './hub.ts';
import { MAX_HELD_TRADES } from './limits.ts';
import type { CandleChannel } from './requests.ts';

const PRICE_DECIMALS = 6;
const QUOTE_DECIMALS = 6;
/** Fills that make no candle (history reference 7.2). */
const NO_MARKET_PRICE: ReadonlySet<string> = new Set(['liquidation', 'transferPerpPosition']);

/** The newest stored candle; null when the market has none. Rejects when the store is away or not built. */
export type LoadCandle = (channel: CandleChannel) => Promise<CandleView | null>;

const viewKey = (market: MarketRef, resolution: string): string => `${marketKey(market)}:${resolution}`;

interface Followed {
  readonly channel: CandleChannel;
  /** Start of the newest bucket told. */
  told: number | null;
  /** Changed since the last flush, by bucket start. */
  readonly changed: Map<number, CandleView>;
  trades: TradeView[];
}

export class CandleChannels {
  readonly #hub: Hub;
  readonly #load: LoadCandle;
  /** Newest candle of every market and resolution heard of. */
  readonly #newest = new Map<string, CandleView>();
  /** Channels somebody listens to, by market and resolution. */
  readonly #followed = new Map<string, Followed>();

  constructor(hub: Hub, load: LoadCandle) {
    this.#hub = hub;
    this.#load = load;
  }

  takeCandle(candle: CandleView): void {
    const key = viewKey(candle, candle.resolution);
    const known = this.#newest.get(key);
    if (!known || isNewer(candle, known)) this.#newest.set(key, candle);
    const followed = this.#followed.get(key);
    // What becomes of older candles is in the history; a stream that goes back in time helps no chart.
    if (followed && candle.ts >= (followed.told ?? 0)) followed.changed.set(candle.ts, candle);
  }

  takeTrade(trade: TradeView): void {
    if (NO_MARKET_PRICE.has(trade.actionExplanation)) return;
    for (const followed of this.#followed.values()) {
      const { market } = followed.channel;
      if (market.marketIndex !== trade.marketIndex || market.marketType !== trade.marketType) continue;
      followed.trades.push(trade);
      if (followed.trades.length > MAX_HELD_TRADES) followed.trades.shift();
    }
  }

  /** The `init` message, null when the market has no candle. The channel is followed from then on. */
  async init(channel: CandleChannel): Promise<object | null> {
    const key = viewKey(channel.market, channel.resolution);
    let candle = this.#newest.get(key) ?? null;
    if (!candle) {
      const stored = await this.#load(channel);
      const heard = this.#newest.get(key);
      candle = stored && heard ? (isNewer(stored, heard) ? stored : heard) : (stored ?? heard ?? null);
      if (candle) this.#newest.set(key, candle);
    }
    const told = candle?.ts ?? null;
    const followed = this.#followed.get(key);
    // Others hear first what the newcomer is about to be shown, so that nobody is told of a bucket twice.
    if (followed) this.#tell(followed);
    else this.#followed.set(key, { channel, told, changed: new Map(), trades: [] });
    if (!candle) return null;
    const { channelType, channel: name, market, resolution } = channel;
    return {
      type: 'init',
      channelType,
      channel: name,
      symbol: market.symbol,
      resolution,
      candle: this.#body(channel, candle),
    };
  }

  /** Sends what changed; forgets channels that nobody listens to any more. */
  flush(): void {
    for (const [key, followed] of this.#followed) {
      if (!this.#hub.has(followed.channel.channel)) this.#followed.delete(key);
      else this.#tell(followed);
    }
  }

  #tell(followed: Followed): void {
    const { channel, changed } = followed;
    const candles = [...changed.values()].sort((a, b) => a.ts - b.ts);
    changed.clear();
    for (const [index, candle] of candles.entries()) {
      const isLast = index === candles.length - 1;
      const trades = isLast
        ? followed.trades
        : followed.trades.filter(({ ts }) => Number(ts) < (candles[index + 1]?.ts ?? 0));
      followed.trades = isLast ? [] : followed.trades.filter((trade) => !trades.includes(trade));
      const type = followed.told !== null && candle.ts <= followed.told ? 'update' : 'create';
      followed.told = candle.ts;
      const told = trades.map((trade) => tradeBody(trade, channel));
      this.#hub.send(channel.channel, { type, candle: this.#body(channel, candle), trades: told });
    }
  }

  #body({ market, resolution }: CandleChannel, candle: CandleView): object {
    return {
      ...candleBody(candle, market),
      symbol: market.symbol,
      resolution,
      lastTradeTs: candle.lastTradeTs === null ? null : Number(candle.lastTradeTs),
      lastFillRecordId: candle.lastFillRecordId?.toString() ?? null,
    };
  }
}

function isNewer(a: CandleView, b: CandleView): boolean {
  return a.ts > b.ts || (a.ts === b.ts && a.version >= b.version);
}

/** A fill in human units; `price` is quote / base. */
function tradeBody(trade: TradeView, { market }: CandleChannel): object {
  const decimals = baseDecimals(market);
  const { baseAssetAmountFilled, quoteAssetAmountFilled } = trade;
  const price = divideRounded(quoteAssetAmountFilled * 10n ** BigInt(decimals), baseAssetAmountFilled);
  return {
    ts: Number(trade.ts),
    txSig: trade.txSig,
    txSigIndex: trade.txSigIndex,
    slot: trade.slot,
    symbol: market.symbol,
    marketIndex: trade.marketIndex,
    marketType: trade.marketType,
    action: trade.action,
    actionExplanation: trade.actionExplanation,
    fillRecordId: trade.fillRecordId.toString(),
    price: wholeUnits(price, PRICE_DECIMALS),
    baseAssetAmountFilled: wholeUnits(baseAssetAmountFilled, decimals),
    quoteAssetAmountFilled: wholeUnits(quoteAssetAmountFilled, QUOTE_DECIMALS),
    oraclePrice: wholeUnits(trade.oraclePrice, PRICE_DECIMALS),
    takerOrderDirection: trade.takerOrderDirection,
    makerOrderDirection: trade.makerOrderDirection,
    takerOrderId: trade.takerOrderId,
    makerOrderId: trade.makerOrderId,
  };
}
