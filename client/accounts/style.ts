// How decoded values look to integrators: camelCase names, byte arrays as arrays of numbers.

import type { ReadStyle } from '../../schemas/portable.ts';

/** `last_24h_avg_funding_rate` -> `last24hAvgFundingRate`. */
export function camelCase(name: string): string {
  return name.replace(/(?!^)_+([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export const CLIENT_STYLE: ReadStyle = { name: camelCase, bytes: 'numbers' };
