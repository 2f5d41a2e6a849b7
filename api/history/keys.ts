// SQL of keys that a query gets as base58 text in its parameters.

import { PUBKEY_BYTES } from '../../schemas/index.ts';

const bytesSql = (base58: string): string => `toFixedString(base58Decode(${base58}), ${PUBKEY_BYTES})`;

/** The key in a parameter. */
export const keySql = (parameter: string): string => bytesSql(`{${parameter}:String}`);

/** Selects rows whose key is in the list of a parameter, see `keyList`. */
export const inKeysSql = (column: string, parameter: string): string =>
  `${column} IN (SELECT ${bytesSql(`arrayJoin(splitByChar(',', {${parameter}:String}))`)})`;

/** Value of a parameter for `inKeysSql`. */
export const keyList = (keys: readonly string[]): string => keys.join(',');
