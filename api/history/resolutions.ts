// Candle resolutions of the API.

import type { CandleResolution } from '../../schemas/index.ts';

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
