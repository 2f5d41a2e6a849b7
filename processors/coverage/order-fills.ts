// Bounds lost fills exactly: every record of an order says how much of it was filled so far, so two stored records of one
// order give the sum of the fills between them that are not stored (docs/internals/ingest.md, "Lost fills").

import bs58 from 'bs58';
import type { ChainEvent, ReconstructedFills } from '../../schemas/index.ts';

/** Open orders that are followed, about 300 bytes each; the one that is quiet for longest is forgotten first. */
const ORDERS_MAX = 100_000;
/** Findings that are remembered; the oldest are forgotten first. */
const FINDINGS_MAX = 1_000;

/** Sums of an order after its newest stored record, and the newest fill of its market then. Base 1e9, quote 1e6. */
interface Filled {
  readonly base: bigint;
  readonly quote: bigint;
  readonly fillId: number;
}

/** Fills of one order that are not stored. Their numbers lie between two stored ones, both exclusive. */
interface Finding {
  readonly market: string;
  /** Key of the order, see `orderKey`. */
  readonly key: string;
  readonly orderId: number;
  readonly direction: string;
  readonly base: bigint;
  readonly quote: bigint;
  readonly afterId: number;
  readonly beforeId: number;
}

interface Range {
  readonly fromId: number;
  readonly toId: number;
}

type SavedFinding = readonly [string, string, number, string, string, string, number, number];
type Data = ChainEvent['data'];

export class OrderFills {
  readonly #orders = new Map<string, Filled>();
  /** Number of the newest fill of each market. */
  readonly #fillIds = new Map<string, number>();
  readonly #changed = new Set<string>();
  #findings: readonly Finding[] = [];
  #areFindingsChanged = false;

  event({ name, data }: ChainEvent): void {
    if (name === 'OrderRecord') this.#placed(data);
    if (name === 'OrderActionRecord') this.#action(data);
  }

  /** What the fills of a hole add up to, by order. Empty when stored records do not show it for this hole alone. */
  of(market: string, hole: Range, holes: readonly Range[]): readonly ReconstructedFills[] {
    const isAround = ({ afterId, beforeId }: Finding, { fromId, toId }: Range) => fromId > afterId && toId < beforeId;
    const isMet = ({ afterId, beforeId }: Finding, { fromId, toId }: Range) => toId > afterId && fromId < beforeId;
    return this.#findings
      .filter((one) => one.market === market && isAround(one, hole))
      .filter((one) => holes.every((other) => other === hole || !isMet(one, other)))
      .map(({ key, orderId, direction, base, quote }) => {
        const user = bs58.encode(Buffer.from(key.slice(0, key.indexOf('/')), 'hex'));
        return { user, orderId, direction, baseAssetAmount: String(base), quoteAssetAmount: String(quote) };
      });
  }

  #placed(data: Data): void {
    const market = `${String(data.order_market_type)}-${String(data.order_market_index)}`;
    const key = orderKey(data.user, data.order_order_id);
    const [base, quote] = [data.order_base_asset_amount_filled, data.order_quote_asset_amount_filled];
    if (key === null || typeof base !== 'bigint' || typeof quote !== 'bigint') return;
    this.#set(key, { base, quote, fillId: this.#fillIds.get(market) ?? 0 });
  }

  #action(data: Data): void {
    const market = `${String(data.market_type)}-${String(data.market_index)}`;
    const fillId = data.action === 'fill' ? Number(data.fill_record_id ?? 0) : null;
    const newest = this.#fillIds.get(market) ?? 0;
    for (const side of ['taker', 'maker'] as const) this.#side(market, side, data, fillId ?? newest + 1, newest);
    if (fillId !== null && fillId > newest) this.#fillIds.set(market, fillId);
  }

  #side(market: string, side: 'taker' | 'maker', data: Data, beforeId: number, newest: number): void {
    const [user, orderId] = [data[side], data[`${side}_order_id`]];
    const key = orderKey(user, orderId);
    const base = data[`${side}_order_cumulative_base_asset_amount_filled`];
    const quote = data[`${side}_order_cumulative_quote_asset_amount_filled`];
    if (key === null || typeof base !== 'bigint' || typeof quote !== 'bigint') return;
    const [ownBase, ownQuote] = data.action === 'fill' ? [amountOf(data, 'base'), amountOf(data, 'quote')] : [0n, 0n];
    const known = this.#orders.get(key);
    if (known && base - ownBase < known.base) {
      this.#late(key, beforeId, ownBase, ownQuote);
      return;
    }
    if (known && base - ownBase > known.base) {
      const order = { market, key, orderId: Number(orderId), direction: String(data[`${side}_order_direction`]) };
      const sums = { base: base - ownBase - known.base, quote: quote - ownQuote - known.quote };
      this.#find({ ...order, ...sums, afterId: known.fillId, beforeId });
    }
    const size = data[`${side}_order_base_asset_amount`];
    const isOver = data.action === 'cancel' || data.action === 'expire' || (typeof size === 'bigint' && base >= size);
    this.#set(key, isOver ? null : { base, quote, fillId: Math.max(newest, data.action === 'fill' ? beforeId : 0) });
  }

  /** A fill that came late is no longer lost. */
  #late(key: string, fillId: number, base: bigint, quote: bigint): void {
    const isOf = (one: Finding) => one.key === key && fillId > one.afterId && fillId < one.beforeId;
    if (!this.#findings.some(isOf)) return;
    const without = (one: Finding): Finding => ({ ...one, base: one.base - base, quote: one.quote - quote });
    this.#findings = this.#findings.map((one) => (isOf(one) ? without(one) : one)).filter((one) => one.base > 0n);
    this.#areFindingsChanged = true;
  }

  #find(finding: Finding): void {
    this.#findings = [...this.#findings, finding].slice(-FINDINGS_MAX);
    this.#areFindingsChanged = true;
  }

  #set(key: string, filled: Filled | null): void {
    this.#orders.delete(key);
    if (filled) this.#orders.set(key, filled);
    this.#changed.add(key);
    if (this.#orders.size <= ORDERS_MAX) return;
    const [oldest = ''] = this.#orders.keys();
    this.#orders.delete(oldest);
    this.#changed.add(oldest);
  }

  /** Changed parts of the state since the last call: orders by key, the findings, and the newest fills. */
  takeChanges(): { readonly orders: ReadonlyMap<string, string | null>; readonly findings: string | null } {
    const orders = new Map<string, string | null>();
    for (const key of this.#changed) {
      const one = this.#orders.get(key);
      orders.set(key, one ? JSON.stringify([String(one.base), String(one.quote), one.fillId]) : null);
    }
    const findings = this.#areFindingsChanged ? JSON.stringify(this.#findings.map(savedOf)) : null;
    this.#changed.clear();
    this.#areFindingsChanged = false;
    return { orders, findings };
  }

  restoreOrder(key: string, text: string): void {
    const [base, quote, fillId] = JSON.parse(text) as [string, string, number];
    this.#orders.set(key, { base: BigInt(base), quote: BigInt(quote), fillId });
  }

  restoreFindings(text: string): void {
    this.#findings = (JSON.parse(text) as SavedFinding[]).map(
      ([market, key, orderId, direction, base, quote, afterId, beforeId]) => {
        return { market, key, orderId, direction, base: BigInt(base), quote: BigInt(quote), afterId, beforeId };
      },
    );
  }

  /** The newest stored fill of a market, after a restart. */
  restoreFill(market: string, fillId: number): void {
    this.#fillIds.set(market, fillId);
  }
}

const savedOf = ({ market, key, orderId, direction, base, quote, afterId, beforeId }: Finding): SavedFinding => [
  ...([market, key, orderId, direction] as const),
  ...([String(base), String(quote), afterId, beforeId] as const),
];

const orderKey = (user: unknown, orderId: unknown): string | null =>
  user instanceof Uint8Array && typeof orderId === 'number' ? `${Buffer.from(user).toString('hex')}/${orderId}` : null;

function amountOf(data: Data, kind: 'base' | 'quote'): bigint {
  const amount = data[`${kind}_asset_amount_filled`];
  return typeof amount === 'bigint' ? amount : 0n;
}
