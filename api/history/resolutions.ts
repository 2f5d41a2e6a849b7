// Candle resolutions of the API.

import type { CandleResolution } from '../../schemas/index.ts';

export const RESOLUTIONS = ['1', '5', '15', '60', '240', 'D', 'W', 'M'] as const satisfies readonly CandleResolution[];

/** Longest bucket of each resolution, seconds. */
export const STEP_S: Readonly<Record<CandleResolution, number>> = {
  '1': 60,
  '5': 300,
  '15': 900,
  '60': 3_600,
  '240': 14_400,
  D: 86_400,
  W: 7 * 86_400,
  M: 31 * 86_400,
};
