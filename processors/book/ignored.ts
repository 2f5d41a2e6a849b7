// User accounts whose orders are in no book (`ignoreList`). The engine still keeps their orders, hidden: a comparison with
// the chain counts them, and a checkpoint has them for a later list.

import bs58 from 'bs58';
import { sameKey } from './makers-table.ts';

export class IgnoredMakers {
  /** The accounts sorted, so that equal lists have equal texts. Part of a checkpoint. */
  readonly text: string;
  // Lists are short, and the first byte distinguishes most keys.
  readonly #keys: readonly Uint8Array[];

  constructor(keys: readonly Uint8Array[]) {
    this.#keys = keys;
    this.text = [...new Set(keys.map((key) => bs58.encode(key)))].sort().join(',');
  }

  has(maker: Uint8Array): boolean {
    const keys = this.#keys;
    for (let i = 0; i < keys.length; i++) if (sameKey(keys[i] as Uint8Array, maker)) return true;
    return false;
  }
}

export const NOBODY = new IgnoredMakers([]);
