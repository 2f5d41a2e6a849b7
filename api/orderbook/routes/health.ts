// GET /health, / and /startup: whether slots flow, the books follow the chain, and this process can answer.

import type { FastifyInstance } from 'fastify';
import { answers, plain } from '../../http/contract/answers.ts';
import type { RouteContract } from '../../http/contract/openapi.ts';
import { OrderbookError } from '../../http/errors.ts';
import type { BookReader } from '../../views/book-reader.ts';
import type { NodeSlotSource } from '../node-slot.ts';
import { serve } from '../route.ts';

const TAGS = ['service'];

const HEALTH_CONTRACT = {
  summary: 'Whether slots flow and the books follow the chain',
  tags: TAGS,
  parameters: {},
  answers: answers(plain('slots advance, and no book is further behind the chain head than the bound', 'OK'), [
    { codes: ['stalled'] },
  ]),
} satisfies RouteContract;

const STARTUP_CONTRACT = {
  summary: 'Whether books can be served',
  tags: TAGS,
  parameters: {},
  answers: answers(plain('books can be served', 'OK'), [{ codes: ['notReady'] }]),
} satisfies RouteContract;

interface Follower {
  /** True once everything written before the start was read. */
  readonly ready: boolean;
}

export interface HealthServices {
  readonly reader: BookReader;
  /** How long the slot may stand still before `/health` answers NOK. */
  readonly slotStallMs: number;
  /** Without it, /health does not check the distance from the chain. */
  readonly bookLag?: BookLag;
  readonly feeds?: Follower;
  readonly quality?: Follower;
  readonly fillQuality?: Follower;
}

export function healthRoutes(app: FastifyInstance, services: HealthServices): void {
  const { reader, slotStallMs, bookLag, feeds, quality, fillQuality } = services;
  const followers = [reader, feeds, quality, fillQuality];
  const health = new SlotHealth(slotStallMs);
  const answer = async (): Promise<string> => {
    const observed = { slot: reader.newestSlot, advancedAtMs: reader.slotAdvancedAtMs };
    if (!health.healthy(observed, reader.now()) || bookLag?.isBehind) throw new OrderbookError('stalled');
    return 'OK';
  };
  serve(app, '/health', HEALTH_CONTRACT, answer);
  serve(app, '/', HEALTH_CONTRACT, answer);
  serve(app, '/startup', STARTUP_CONTRACT, async () => {
    const isReady = followers.every((follower) => follower?.ready ?? true);
    // Checked last: the distance does not include books that the reader has not read yet.
    if (!isReady || !(bookLag?.hasCaughtUp() ?? true)) throw new OrderbookError('notReady');
    return 'OK';
  });
}

/**
 * Below this many slots per second, an advancing slot counts as stalled.
 * Source: docs/internals/order-book-server.md, "Health".
 */
const MIN_SLOT_RATE = 0.03;

export interface SlotObservation {
  /** Newest slot; null before the first. */
  readonly slot: number | null;
  /** Wall-clock milliseconds at which that slot arrived, or at which the reader started. */
  readonly advancedAtMs: number;
}

export class SlotHealth {
  readonly #stallMs: number;
  #last: { slot: number; atMs: number } | null = null;

  /** `stallMs`: longest time without a newer slot. */
  constructor(stallMs: number) {
    this.#stallMs = stallMs;
  }

  /** True while slots advance. `nowMs` is wall-clock milliseconds. Stores the slot for the next call. */
  healthy({ slot, advancedAtMs }: SlotObservation, nowMs: number): boolean {
    if (nowMs - advancedAtMs > this.#stallMs) return false;
    if (slot === null || this.#last === null) {
      if (slot !== null) this.#last = { slot, atMs: nowMs };
      return true;
    }
    const { slot: lastSlot, atMs } = this.#last;
    if (slot <= lastSlot) return true;
    this.#last = { slot, atMs: nowMs };
    return ((slot - lastSlot) * 1000) / Math.max(1, nowMs - atMs) >= MIN_SLOT_RATE;
  }
}

/** Distance of the served books from the head of the chain. */
export class BookLag {
  readonly #reader: Pick<BookReader, 'oldestBookSlot'>;
  readonly #node: NodeSlotSource | undefined;
  /** Largest allowed distance, slots. */
  readonly slotsMax: number;
  #hasCaughtUp = false;

  /** Without a node the distance is unknown, and the books are never behind. */
  constructor(reader: Pick<BookReader, 'oldestBookSlot'>, node: NodeSlotSource | undefined, slotsMax: number) {
    this.#reader = reader;
    this.#node = node;
    this.slotsMax = slotsMax;
  }

  /** Newest slot of the chain; null while unknown. */
  get headSlot(): number | null {
    return this.#node?.slot ?? null;
  }

  /** Slots from the oldest book to the chain head, at least 0; null while either is unknown. */
  get slotsBehind(): number | null {
    const { oldestBookSlot } = this.#reader;
    const { headSlot } = this;
    return headSlot === null || oldestBookSlot === null ? null : Math.max(0, headSlot - oldestBookSlot);
  }

  get isBehind(): boolean {
    return (this.slotsBehind ?? 0) > this.slotsMax;
  }

  /** True once a call found the books within the bound, or the node did not answer. Never false again. */
  hasCaughtUp(): boolean {
    this.#hasCaughtUp ||= !(this.#node?.isAwaited ?? false) && !this.isBehind;
    return this.#hasCaughtUp;
  }
}
