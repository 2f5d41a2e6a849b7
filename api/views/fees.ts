// Priority fees in the form that clients receive.

import type { FeeLevels } from '../../schemas/index.ts';

export type Levels = Pick<FeeLevels, 'min' | 'low' | 'medium' | 'high' | 'veryHigh' | 'unsafeMax'>;

/** The six levels alone, micro-lamports per compute unit. */
export function levelsOf({ min, low, medium, high, veryHigh, unsafeMax }: FeeLevels): Levels {
  return { min, low, medium, high, veryHigh, unsafeMax };
}
