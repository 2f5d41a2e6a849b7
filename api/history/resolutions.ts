// Candle resolutions of the API.

import type { CandleResolution } from '../../schemas/index.ts';
import { DAY_S, HOUR_S, MINUTE_S } from './seconds.ts';

/** Longest bucket of each resolution, seconds. */
export const STEP_S: Readonly<Record<CandleResolution, number>> = {
  '1': MINUTE_S,
  '5': 5 * MINUTE_S,
  '15': 15 * MINUTE_S,
  '60': HOUR_S,
  '240': 4 * HOUR_S,
  D: DAY_S,
  W: 7 * DAY_S,
  M: 31 * DAY_S,
};
