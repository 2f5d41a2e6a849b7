// Lists of blocks. A slot that a node does not list was skipped, or the node lost its block: one that boots from a newer
// snapshot lacks every block between. The parent that the next block names decides which.

import { setTimeout as delay } from 'node:timers/promises';
import type { BlockSlots, SlotRange } from '../source.ts';
import type { Endpoint } from './endpoint.ts';
import { BEHIND, RpcError } from './errors.ts';
import type { AskOptions, Call, Nodes } from './nodes.ts';

/**
 * Slots behind a range that are searched for the next block. Dozens in a row are skipped in bad times
 * (docs/operations/real-nodes.md), and a list of so many slots has 10 KB.
 */
const LATER_SLOTS = 1_000;
/**
 * Shortest run of slots without a block that may be a jump. Dozens are skipped in a row; a node takes a newer snapshot when its
 * own is 2,500 slots old (`--maximum-local-snapshot-age` of Agave).
 */
const JUMP_SLOTS_MIN = 64;
/** Runs of a list whose next block is asked for. Any further one counts as a jump. */
const JUMPS_ASKED_MAX = 100;
/** Slots of one list: MAX_GET_CONFIRMED_BLOCKS_RANGE of Solana. */
const LIST_SLOTS_MAX = 500_000;
/** A node that lags may be known before the newest one names its slot. A node that is silent for longer holds no comparison. */
const TIPS_MS = 3_000;

export interface BlockOptions extends AskOptions {
  readonly commitment: string;
}

/** Options with the signal of the request. */
type GivenOptions = BlockOptions & { readonly signal: AbortSignal };

/** Header of a block. A member is null when the answer lacks it. */
export interface BlockHeader {
  /** base58 */
  readonly blockhash: string | null;
  readonly parentSlot: number | null;
}

/** Nodes by the blocks they hold since a slot. */
export interface Comparison {
  /** Nodes that have them, without a long run that is lost. It grows while slower nodes answer. */
  readonly whole: ReadonlySet<Endpoint>;
  /** Newest slot of each node that named it. It grows too. */
  readonly tips: ReadonlyMap<Endpoint, number>;
  /** Runs of blocks that some node has lost; empty while one is whole. */
  readonly jumps: readonly SlotRange[];
  /** Why a node that may be whole did not answer; null where all answered, or one is whole. */
  readonly unanswered: unknown;
}

export class BlockLists {
  readonly #nodes: Nodes;

  constructor(nodes: Nodes) {
    this.#nodes = nodes;
  }

  /** Null when no node has the block. */
  async header(slot: number, { commitment, ...options }: BlockOptions): Promise<BlockHeader | null> {
    const config = { commitment, transactionDetails: 'none', rewards: false };
    try {
      const value = await this.#nodes.call({ method: 'getBlock', params: [slot, config] }, options);
      const { blockhash, parentSlot } = (value ?? {}) as {
        readonly blockhash?: unknown;
        readonly parentSlot?: unknown;
      };
      return {
        blockhash: typeof blockhash === 'string' ? blockhash : null,
        parentSlot: Number.isSafeInteger(parentSlot) ? Number(parentSlot) : null,
      };
    } catch (error) {
      if (error instanceof RpcError && error.remedy === 'elsewhere' && !error.isTransport) return null;
      throw error;
    }
  }

  /**
   * Slots with a block in a range of a few slots, and those that no block proves skipped. Blocks that one node lacks are asked
   * of another. Each run of slots without a block costs a small request.
   */
  async inRange({ fromSlot, toSlot }: SlotRange, options: BlockOptions): Promise<BlockSlots> {
    const listed = new Set<number>();
    let missing: readonly SlotRange[] = [];
    try {
      await this.#nodes.first(async (endpoint, signal) => {
        const given = { ...options, signal };
        for (const slot of await this.#list(endpoint, { fromSlot, toSlot: toSlot + LATER_SLOTS }, given))
          listed.add(slot);
        missing = await this.#missing({ fromSlot, toSlot }, ascending(listed), given);
        if (missing.length > 0) throw new RpcError('the node lacks blocks', null, { remedy: 'elsewhere' });
      }, options);
    } catch (error) {
      if (missing.length === 0 || !(error instanceof RpcError) || error.isTransport) throw error;
    }
    return { slots: ascending(listed).filter((slot) => slot <= toSlot), missing };
  }

  /**
   * Looks for long runs of slots since `fromSlot` whose blocks a node has lost between others. Resolves when one node has all
   * since then, or when each was asked. Rejects when none answered. A busy node, and one far behind another, may have what the
   * others lack: ask again.
   */
  async compare(fromSlot: number, options: BlockOptions): Promise<Comparison> {
    const whole = new Set<Endpoint>();
    const tips = new Map<Endpoint, number>();
    const jumps: SlotRange[] = [];
    const failures: unknown[] = [];
    const { endpoints } = this.#nodes;
    const asked = endpoints.map(async (endpoint) => {
      const slot = await this.#tip(endpoint, options);
      tips.set(endpoint, slot);
      return slot;
    });
    const areNamed = Promise.race([Promise.allSettled(asked), delay(TIPS_MS, undefined, { ref: false })]);
    const judge = async (endpoint: Endpoint, tip: Promise<number>): Promise<boolean> => {
      const toSlot = await tip;
      const found = await this.#jumps(endpoint, { fromSlot, toSlot }, options);
      jumps.push(...found.jumps);
      if (!found.isWhole) return false;
      await areNamed;
      // It shows nothing of the slots before the newest one.
      if (toSlot < Math.max(...tips.values()) - JUMP_SLOTS_MIN)
        throw new RpcError('the node is far behind another one', BEHIND);
      return true;
    };
    const compareOne = async (endpoint: Endpoint, index: number): Promise<void> => {
      const isWhole = await judge(endpoint, asked[index] ?? Promise.resolve(-1)).catch((error: unknown) => {
        failures.push(error);
        throw error;
      });
      if (!isWhole) throw new RpcError('the node lacks blocks', null, { remedy: 'elsewhere' });
      whole.add(endpoint);
    };
    await Promise.any(endpoints.map(compareOne)).catch(() => {});
    if (whole.size > 0) return { whole, tips, jumps: [], unanswered: null };
    const unanswered = failures.find((one) => !(one instanceof RpcError) || one.remedy === 'later') ?? null;
    if (failures.length === endpoints.length) throw unanswered ?? failures[0];
    return { whole, tips, jumps, unanswered };
  }

  #tip(one: Endpoint, options: BlockOptions): Promise<number> {
    const { commitment } = options;
    return this.#nodes.first(
      (endpoint, signal) =>
        this.#slot(endpoint, { method: 'getSlot', params: [{ commitment }] }, { ...options, signal }),
      { ...options, mayAsk: (endpoint) => endpoint === one },
    );
  }

  /** Rejects when the list of the node does not reach `toSlot`, its newest one, yet: a run of lost blocks may follow. */
  async #jumps(
    one: Endpoint,
    { fromSlot, toSlot }: SlotRange,
    options: BlockOptions,
  ): Promise<{ readonly jumps: readonly SlotRange[]; readonly isWhole: boolean }> {
    const found = await this.#nodes.first(
      async (endpoint, signal) => {
        // At confirmed, a node that booted from a snapshot also lists blocks that only the snapshot remembers.
        const given = { ...options, signal };
        const final = { ...given, commitment: 'finalized' };
        const judge = async (listed: readonly number[], asked: GivenOptions) => {
          const last = listed.at(-1);
          if (last === undefined) return;
          jumps.push(...(await this.#missing({ fromSlot: next, toSlot: last }, listed, asked, JUMP_SLOTS_MIN)));
          next = last + 1;
        };
        const firstSlot = await this.#slot(endpoint, { method: 'getFirstAvailableBlock', params: [] }, given);
        const jumps: SlotRange[] = [];
        let next = Math.max(fromSlot, firstSlot);
        for (let from = next; from <= toSlot; from += LIST_SLOTS_MAX) {
          const part = { fromSlot: from, toSlot: Math.min(toSlot, from + LIST_SLOTS_MAX - 1) };
          await judge(ascending(await this.#list(endpoint, part, final)), final);
        }
        const isFinalityLate = toSlot - next >= JUMP_SLOTS_MIN;
        if (isFinalityLate) await judge(await this.#heldTail(endpoint, { fromSlot: next, toSlot }, given), given);
        return { jumps, next, isWhole: firstSlot <= fromSlot && jumps.length === 0 };
      },
      { ...options, mayAsk: (endpoint) => endpoint === one },
    );
    if (toSlot - found.next >= JUMP_SLOTS_MIN) throw new RpcError('the node lists no block at its newest slot', BEHIND);
    return found;
  }

  /** Blocks above the finalized ones; none where the node lists blocks that it does not have. */
  async #heldTail(endpoint: Endpoint, range: SlotRange, options: GivenOptions): Promise<readonly number[]> {
    const listed = ascending(await this.#list(endpoint, range, options));
    const [first = -1] = listed;
    const areHeld =
      (await this.#holds(endpoint, first, options)) && (await this.#holds(endpoint, listed.at(-1) ?? -1, options));
    return areHeld ? listed : [];
  }

  async #holds(endpoint: Endpoint, slot: number, options: GivenOptions): Promise<boolean> {
    if (slot < 0) return false;
    const config = { commitment: options.commitment, transactionDetails: 'none', rewards: false };
    try {
      return (await this.#ask(endpoint, { method: 'getBlock', params: [slot, config] }, options)) !== null;
    } catch (error) {
      if (error instanceof RpcError && !error.isTransport) return false;
      throw error;
    }
  }

  /** Slots of a range that neither have a listed block nor lie between a block and its parent, in runs of some length. */
  async #missing(
    { fromSlot, toSlot }: SlotRange,
    listed: readonly number[],
    options: BlockOptions,
    slotsMin = 1,
  ): Promise<readonly SlotRange[]> {
    const missing: SlotRange[] = [];
    let next = fromSlot;
    let asked = 0;
    for (const slot of listed) {
      if (next > toSlot) return missing;
      if (slot - next >= slotsMin) {
        // Without its parent, a block proves nothing.
        const header = ++asked > JUMPS_ASKED_MAX ? null : await this.header(slot, options);
        const parentSlot = header?.parentSlot ?? slot - 1;
        if (parentSlot >= next) missing.push({ fromSlot: next, toSlot: Math.min(parentSlot, toSlot) });
      }
      next = slot + 1;
    }
    if (toSlot - next + 1 >= slotsMin) missing.push({ fromSlot: next, toSlot });
    return missing;
  }

  async #list(endpoint: Endpoint, { fromSlot, toSlot }: SlotRange, options: GivenOptions): Promise<readonly number[]> {
    const params = [fromSlot, toSlot, { commitment: options.commitment }];
    const slots = await this.#ask(endpoint, { method: 'getBlocks', params }, options);
    if (!Array.isArray(slots)) throw new RpcError('getBlocks: unreadable answer');
    return slots.filter((slot) => Number.isSafeInteger(slot) && slot >= fromSlot && slot <= toSlot);
  }

  async #slot(endpoint: Endpoint, call: Call, options: GivenOptions): Promise<number> {
    const slot = await this.#ask(endpoint, call, options);
    if (!Number.isSafeInteger(slot)) throw new RpcError(`${call.method}: unreadable answer`);
    return Number(slot);
  }

  async #ask(endpoint: Endpoint, call: Call, options: GivenOptions): Promise<unknown> {
    const answer = await endpoint.post({ jsonrpc: '2.0', id: 1, ...call }, options);
    return this.#nodes.resultOf(endpoint, answer, call.params);
  }
}

const ascending = (slots: Iterable<number>): readonly number[] => [...slots].sort((a, b) => a - b);
