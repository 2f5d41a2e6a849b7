// Gives records and states to coverage, and compares what it reconstructs of lost fills with the fills.

import bs58 from 'bs58';
import { OrderFills, type OrderFillsLimits } from '../../../processors/coverage/order-fills.ts';
import { Coverage, SETTLE_SLOTS } from '../../../processors/coverage/reducer.ts';
import type { ChainEvent, CoverageHole, ReconstructedFills } from '../../../schemas/index.ts';
import { keepPieces } from './keep-pieces.ts';
import type { LifeInput } from './order-lives.ts';

function give(coverage: Coverage, input: LifeInput): void {
  if (input.is === 'event') coverage.event(input.event);
  else if (input.is === 'state') coverage.state(input.state);
  else coverage.counter(input.count);
}

/** Gives all inputs, with a restart after every `saveEvery` of them; 0 restarts never. */
export function follow(inputs: readonly LifeInput[], saveEvery = 0, limits?: OrderFillsLimits): Coverage {
  const made = () => new Coverage(undefined, new OrderFills(limits));
  let coverage = made();
  // The log begins before the orders.
  coverage.counter({ subject: 'spot-9', stream: 'deposits', slot: 1, lastId: 0, fromId: null, fromSlot: null });
  const saved = new Map<string, Uint8Array>();
  for (const [at, input] of inputs.entries()) {
    give(coverage, input);
    if (saveEvery === 0 || at % saveEvery !== 0) continue;
    coverage.takeViews();
    keepPieces(saved, coverage.takeChanges());
    coverage = made();
    coverage.restore([...saved].map(([name, bytes]) => ({ name, bytes })));
  }
  return coverage;
}

/** The holes of a stream after a backfill of everything. */
export function lostHoles(coverage: Coverage, subject = 'perp-0', stream = 'fills'): readonly CoverageHole[] {
  const backfill = { id: 'x', nextSlot: 0, found: 0, lost: 0, reason: '', atMs: 0 };
  coverage.backfill({ ...backfill, fromSlot: 0, toSlot: 1_000_000, state: 'done' });
  const slot = coverage.slot + SETTLE_SLOTS;
  coverage.counter({ subject: 'spot-9', stream: 'deposits', slot, lastId: 0, fromId: null, fromSlot: null });
  return coverage.viewOf(subject, stream)?.holes ?? [];
}

/** The lost fills of an order in a hole, oldest first. */
function truthOf(lost: readonly ChainEvent[], { fromId, toId }: CoverageHole, one: ReconstructedFills) {
  return lost.filter(({ data }) => {
    const id = Number(data.fill_record_id);
    return id >= fromId && id <= toId && isFillOf(data, one);
  });
}

/** Whether the order is one of the two of a fill. */
export function isFillOf(
  data: ChainEvent['data'],
  { user, orderId, direction }: Pick<ReconstructedFills, 'user' | 'orderId' | 'direction'>,
): boolean {
  return ['taker', 'maker'].some((side) => {
    const key = data[side];
    const isOrder = data[`${side}_order_id`] === orderId && data[`${side}_order_direction`] === direction;
    return isOrder && key instanceof Uint8Array && bs58.encode(key) === user;
  });
}

/** Whether the claim is the sum of neighbouring lost fills of its order in the hole: of all of them, when the hole has one number. */
export function isTrue(lost: readonly ChainEvent[], hole: CoverageHole, one: ReconstructedFills): boolean {
  const fills = truthOf(lost, hole, one);
  const sumsFrom = (first: number) => {
    let [base, quote] = [0n, 0n];
    return fills.slice(first).map(({ data }) => {
      base += data.base_asset_amount_filled as bigint;
      quote += data.quote_asset_amount_filled as bigint;
      return `${base} ${quote}`;
    });
  };
  const claimed = `${one.baseAssetAmount} ${one.quoteAssetAmount}`;
  return fills.some((_, first) => sumsFrom(first).includes(claimed));
}

/** Holes of which something is proven. */
export const provenOf = (holes: readonly CoverageHole[]): number =>
  holes.filter(({ reconstructed }) => reconstructed.length > 0).length;
