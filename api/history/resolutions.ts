// The candle resolutions that clients may ask for.

import type { CandleResolution } from '../../schemas/index.ts';

export const RESOLUTIONS = ['1', '5', '15', '60', '240', 'D', 'W', 'M'] as const satisfies readonly CandleResolution[];
