// A node that boots from a newer snapshot while the process is away: it never has the blocks between, and names no error for them.

import type { Method, Methods } from '../../localnet/rpc/dispatch.ts';
import { RpcError, SLOT_SKIPPED } from '../../localnet/rpc/errors.ts';

interface HasSlot {
  readonly slot: number;
}

export class LedgerJump {
  #fromSlot = Number.POSITIVE_INFINITY;
  #toSlot = -1;

  get hasBegun(): boolean {
    return this.#toSlot >= 0;
  }

  /** The node loses these blocks. */
  begin(fromSlot: number, toSlot: number): void {
    this.#fromSlot = fromSlot;
    this.#toSlot = toSlot;
  }

  /** The methods of the node, which go straight over the lost blocks. */
  over(methods: Methods): Methods {
    const isLost = (slot: number) => slot >= this.#fromSlot && slot <= this.#toSlot;
    const changed = new Map(methods);
    const change = (name: string, over: (value: unknown) => unknown) => {
      const method = methods.get(name);
      if (method !== undefined) changed.set(name, overResult(method, over));
    };
    change('getBlocks', (slots) => (slots as readonly number[]).filter((slot) => !isLost(slot)));
    change('getSignaturesForAddress', (page) => (page as readonly HasSlot[]).filter(({ slot }) => !isLost(slot)));
    change('getTransaction', (found) => (found !== null && isLost((found as HasSlot).slot) ? null : found));
    const getBlock = methods.get('getBlock');
    if (getBlock !== undefined)
      changed.set('getBlock', (params) => {
        if (isLost(Number(params[0]))) throw new RpcError(SLOT_SKIPPED, `Slot ${params[0]} was skipped, or missing`);
        return getBlock(params);
      });
    return changed;
  }
}

function overResult(method: Method, over: (value: unknown) => unknown): Method {
  return async (params) => {
    const answered = await method(params);
    return JSON.stringify(over(JSON.parse(typeof answered === 'string' ? answered : [...answered].join(''))));
  };
}
