// Reads the inputs of a perp market's live quote besides its curve: statistics that revisions keep in different structs.

import type { SpreadInputs, StructLayout } from '../../schemas/index.ts';
import { findField, requireField } from './layout.ts';
import { bigintField, type Field, numberField, variantField } from './values.ts';

/** Drift contract type of markets whose prices lie between 0 and 1. */
const PREDICTION = 'prediction';

/** Compiles the reader of a PerpMarket. `paths` lists where revisions keep a field. Throws DefinitionError when none exists. */
export function compileSpreadInputs(
  layout: StructLayout,
  paths: (name: string) => readonly string[],
): Field<SpreadInputs> {
  const wide = (name: string) => bigintField(requireField(layout, ...paths(name)));
  const maybe = (name: string) => findField(layout, ...paths(name));
  const contractType = variantField(maybe('contract_type'), 'perpetual');
  const markStd = wide('mark_std');
  const oracleStd = wide('oracle_std');
  const lastOracleConfPct = wide('last_oracle_conf_pct');
  const longIntensityVolume = wide('long_intensity_volume');
  const shortIntensityVolume = wide('short_intensity_volume');
  const volume24H = wide('volume_24h');
  const lastMarkPriceTwap = wide('last_mark_price_twap');
  const lastOraclePriceTwapTs = wide('last_oracle_price_twap_ts');
  const fundingPeriod = wide('funding_period');
  const lastFundingOracleTwap = bigintField(maybe('last_funding_oracle_twap'));
  // Velocity stores the offset before a sign change apart from the quoted offset.
  const lastOffset = numberField(maybe('last_reference_price_offset') ?? maybe('reference_price_offset'));
  const deadbandPct = numberField(maybe('reference_price_offset_deadband_pct'));
  const unsettledLp = bigintField(maybe('base_asset_amount_with_unsettled_lp'));
  const ifKnown = (name: string) => {
    const found = maybe(name);
    return found ? numberField(found) : () => null;
  };
  const fundingBias = ifKnown('funding_bias_sensitivity');
  const marketConfig = ifKnown('market_config');
  return (view) => ({
    isPrediction: contractType(view) === PREDICTION,
    markStd: markStd(view),
    oracleStd: oracleStd(view),
    lastOracleConfPct: lastOracleConfPct(view),
    longIntensityVolume: longIntensityVolume(view),
    shortIntensityVolume: shortIntensityVolume(view),
    volume24H: volume24H(view),
    lastMarkPriceTwap: lastMarkPriceTwap(view),
    lastOraclePriceTwapTs: lastOraclePriceTwapTs(view),
    fundingPeriod: fundingPeriod(view),
    lastFundingOracleTwap: lastFundingOracleTwap(view),
    lastReferencePriceOffset: lastOffset(view),
    referencePriceOffsetDeadbandPct: deadbandPct(view),
    baseAssetAmountWithUnsettledLp: unsettledLp(view),
    fundingBiasSensitivity: fundingBias(view),
    marketConfig: marketConfig(view),
  });
}
