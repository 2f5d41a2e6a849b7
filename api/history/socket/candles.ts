// The candle channels: the newest candle of a market and resolution as it changes, with the fills behind the change.

import {
  type CandleView,
  type ChainEvent,
  fillUse,
  type MarketRef,
  type MarketView,
  marketKey,
  type WithdrawnCandle,
} from '../../../schemas/index.ts';
import { decimalsOf, type Members } from '../amount-decimals.ts';
import { converterOf, JSON_NUMBER } from '../amount-view.ts';
import { candleBody } from '../candle-body.ts';
import { rowSchema } from '../fields.ts';
import { TRADE_FIELDS } from '../rows/market.ts';
import { orderActionRow } from '../rows/order-action.ts';
import type { Hub } from './hub.ts';
import { MAX_BUFFERED_FILLS } from './limits.ts';
import type { CandleChannel } from './requests.ts';

/** Loads the newest stored candle; null when the market has none. Rejects when the store is away or not built. */
export type LoadCandle = (channel: CandleChannel) => Promise<CandleView | null>;

const viewKey = (market: MarketRef, resolution: string): string => `${marketKey(market)}:${resolution}`;

interface Fill {
  readonly event: ChainEvent;
  /** Key of its market. */
  readonly market: string;
  /** Unix seconds of the block. */
  readonly ts: number;
  readonly recordId: bigint;
}

interface Followed {
  readonly channel: CandleChannel;
  readonly tradeBody: (fill: Fill) => object;
  /** Start of the newest bucket published. */
  published: number | null;
  /** Changed since the last flush, by bucket start. */
  readonly changed: Map<number, CandleView>;
  fills: Fill[];
}

export class CandleChannels {
  readonly #hub: Hub;
  readonly #load: LoadCandle;
  /** Newest candle of every market and resolution received; a withdrawn one where the market has none. */
  readonly #newest = new Map<string, CandleView | WithdrawnCandle>();
  /** Channels with a subscriber, by market and resolution. */
  readonly #followed = new Map<string, Followed>();

  constructor(hub: Hub, load: LoadCandle) {
    this.#hub = hub;
    this.#load = load;
  }

  takeCandle(candle: CandleView | WithdrawnCandle): void {
    const key = viewKey(candle, candle.resolution);
    const known = this.#newest.get(key);
    if (!known || isNewer(candle, known)) this.#newest.set(key, candle);
    const followed = this.#followed.get(key);
    if (isWithdrawn(candle)) {
      followed?.changed.delete(candle.ts);
      return;
    }
    // Charts read only the newest bucket; the history has changes of older candles.
    if (followed && candle.ts >= (followed.published ?? 0)) followed.changed.set(candle.ts, candle);
  }

  /** Whether a channel needs fills. */
  get hasSubscribers(): boolean {
    return this.#followed.size > 0;
  }

  takeEvent(event: ChainEvent): void {
    const fill = fillOf(event);
    if (fill === null) return;
    for (const { channel, fills } of this.#followed.values()) {
      if (marketKey(channel.market) !== fill.market) continue;
      fills.push(fill);
      if (fills.length > MAX_BUFFERED_FILLS) fills.shift();
    }
  }

  /** The `init` message, null when the market has no candle. The channel is followed afterwards. */
  async init(channel: CandleChannel): Promise<object | null> {
    const key = viewKey(channel.market, channel.resolution);
    let candle = this.#newest.get(key) ?? null;
    if (candle === null) {
      const stored = await this.#load(channel);
      const received = this.#newest.get(key);
      candle = stored && received ? (isNewer(stored, received) ? stored : received) : (stored ?? received ?? null);
      if (candle) this.#newest.set(key, candle);
    }
    const followed = this.#followed.get(key);
    if (candle !== null && isWithdrawn(candle)) candle = null;
    // Earlier subscribers get the new subscriber's candle first, so nobody gets a bucket twice.
    if (followed) this.#publish(followed);
    else {
      const tradeBody = tradeBodies(channel.market);
      this.#followed.set(key, { channel, tradeBody, published: candle?.ts ?? null, changed: new Map(), fills: [] });
    }
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

  /** Publishes all changes and drops channels without subscribers. */
  flush(): void {
    for (const [key, followed] of this.#followed) {
      if (!this.#hub.has(followed.channel.channel)) this.#followed.delete(key);
      else this.#publish(followed);
    }
  }

  #publish(followed: Followed): void {
    const candles = [...followed.changed.values()].sort((a, b) => a.ts - b.ts);
    followed.changed.clear();
    if (candles.length === 0) this.#publishLate(followed);
    for (const [index, candle] of candles.entries()) {
      const next = candles[index + 1];
      const fills = next === undefined ? followed.fills : followed.fills.filter(({ ts }) => ts < next.ts);
      followed.fills = followed.fills.filter((fill) => !fills.includes(fill));
      const isNew = followed.published === null || candle.ts > followed.published;
      followed.published = candle.ts;
      if (isNew) this.#send(followed, 'create', candle, []);
      // Published clients read fills only from `update`.
      if (!isNew || fills.length > 0) this.#send(followed, 'update', candle, fills);
    }
  }

  /** Publishes fills that arrived after their candle. */
  #publishLate(followed: Followed): void {
    const { channel, fills, published } = followed;
    const newest = this.#newest.get(viewKey(channel.market, channel.resolution));
    const last = newest?.lastFillRecordId ?? null;
    if (newest === undefined || isWithdrawn(newest) || last === null || newest.ts !== published) return;
    const late = fills.filter(({ recordId }) => recordId <= last);
    if (late.length === 0) return;
    followed.fills = fills.filter((fill) => !late.includes(fill));
    this.#send(followed, 'update', newest, late);
  }

  #send(followed: Followed, type: 'create' | 'update', candle: CandleView, fills: readonly Fill[]): void {
    const { channel, tradeBody } = followed;
    const trades = fills.map(tradeBody);
    this.#hub.send(channel.channel, { type, candle: this.#body(channel, candle), trades });
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

function isWithdrawn(candle: CandleView | WithdrawnCandle): candle is WithdrawnCandle {
  return candle.fillClose === null;
}

type Place = Pick<CandleView, 'ts' | 'version'>;

function isNewer(a: Place, b: Place): boolean {
  return a.ts > b.ts || (a.ts === b.ts && a.version >= b.version);
}

const MS_PER_SECOND = 1000;
const TRADE_SCHEMA = rowSchema(TRADE_FIELDS);

/** Renders fills of a market for its candle channels: the row of `/market/{symbol}/trades` in whole units. */
function tradeBodies(market: MarketView): (fill: Fill) => object {
  const convert = converterOf(TRADE_SCHEMA, {
    format: JSON_NUMBER,
    decimalsOf: (unit, name, holder) => decimalsOf(() => market, unit, name, holder),
  });
  return ({ event }) => {
    const row = orderActionRow(TRADE_FIELDS, event, market);
    // Published clients read `entity` and `createdAt` besides the members of the row.
    return { ...(convert?.(row, '', {}) as Members), entity: 'market', createdAt: Number(row.ts) * MS_PER_SECOND };
  };
}

/** The fill of an event; null for other events and fills outside candles. */
function fillOf(event: ChainEvent): Fill | null {
  const { name, data } = event;
  if (name !== 'OrderActionRecord' || data.action !== 'fill' || !data.base_asset_amount_filled) return null;
  if (fillUse(data.action_explanation) !== 'price') return null;
  const market = `${data.market_type}-${data.market_index}`;
  return { event, market, ts: Number(data.ts), recordId: BigInt(String(data.fill_record_id ?? 0)) };
}
