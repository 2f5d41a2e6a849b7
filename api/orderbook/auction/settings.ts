// Reads the tiers and bounds of /auctionParams from the configuration.

import { type Config, ConfigError, marketIndexes } from '../../../platform/index.ts';
import type { AuctionSettings } from '../../../processors/book/index.ts';

/** Throws ConfigError when a market list does not parse, or when the minimum exceeds the maximum. */
export function auctionSettings(config: Config): AuctionSettings {
  if (config.dynamicSlippageMin > config.dynamicSlippageMax) {
    throw new ConfigError('dynamicSlippageMin must not be above dynamicSlippageMax');
  }
  return {
    majors: marketIndexes('majorMarkets', config.majorMarkets),
    midMajors: marketIndexes('midMajorMarkets', config.midMajorMarkets),
    major: { basePercent: config.dynamicBaseSlippageMajor, multiplier: config.dynamicSlippageMultiplierMajor },
    midMajor: { basePercent: config.dynamicBaseSlippageMidMajor, multiplier: config.dynamicSlippageMultiplierMidMajor },
    nonMajor: { basePercent: config.dynamicBaseSlippageNonMajor, multiplier: config.dynamicSlippageMultiplierNonMajor },
    minPercent: config.dynamicSlippageMin,
    maxPercent: config.dynamicSlippageMax,
    crossSpreadCapPercent: config.dynamicCrossSpreadCap,
  };
}
