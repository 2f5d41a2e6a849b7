// Reads the setting `quoteMakers`: who may send indicative quotes, and who gets a place first.

import bs58 from 'bs58';
import { readKey } from '../../platform/index.ts';

/** Element of the setting that admits every key. */
const ANYBODY = '*';

/** Keys that may quote. */
export interface AllowedMakers {
  /** Base58 keys, preferred where places are scarce. */
  readonly listed: ReadonlySet<string>;
  /** Whether all other keys may quote too. */
  readonly others: boolean;
}

/** Reads the setting: base58 keys and `*`, separated by commas. Empty text admits every key. Throws RangeError. */
export function readAllowedMakers(setting: string): AllowedMakers {
  const names = setting
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const listed = new Set(names.filter((name) => name !== ANYBODY));
  for (const name of listed) if (!readKey(name)) throw new RangeError(`quoteMakers: not a public key: ${name}`);
  return { listed, others: names.length === 0 || names.includes(ANYBODY) };
}

/** Whether the setting names a maker, which then gets a place first. Throws RangeError. */
export function preferredMakers(setting: string): (maker: Uint8Array) => boolean {
  const { listed } = readAllowedMakers(setting);
  return (maker) => listed.size > 0 && listed.has(bs58.encode(maker));
}
