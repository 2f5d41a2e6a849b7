// What a perp market's live spreads follow from beside its curve: statistics that revisions keep in different structs.

import type { SpreadInputs, StructLayout } from '../../schemas/index.ts';
import { place, requiredPlace } from './layout.ts';
import { bigintField, type Field, numberField, variantField } from './values.ts';

/** Drift contract type of markets whose prices lie between 0 and 1. */
const PREDICTION = 'prediction';

/** Reads them from a PerpMarket. `paths` are the places where revisions keep a field. Throws DefinitionError when one is in none. */
export function compileSpreadInputs(
  layout: StructLayout,
  paths: (name: string) => readonly string[],
): Field<SpreadInputs> {
  const wide = (name: string) => bigintField(requiredPlace(layout, ...paths(name)));
  const maybe = (name: string) => place(layout, ...paths(name));
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
  // Velocity's statistics keep the offset that a sign change starts from apart from the one that is quoted.
  const lastOffset = numberField(maybe('last_reference_price_offset') ?? maybe('reference_price_offset'));
  const deadbandPct = numberField(maybe('reference_price_offset_deadband_pct'));
  const unsettledLp = bigintField(maybe('base_asset_amount_with_unsettled_lp'));
  const biasPlace = maybe('funding_bias_sensitivity');
  const fundingBias = biasPlace ? numberField(biasPlace) : () => null;
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
  });
}
