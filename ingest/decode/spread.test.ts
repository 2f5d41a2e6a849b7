import { BorshAccountsCoder, type Idl } from '@coral-xyz/anchor';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { loadDefinition } from '../../schemas/index.ts';
import { randomAccount } from '../../test/support/ingest/bytes.ts';
import { compilePerpMarket, UNKNOWN_EXCHANGE } from './market.ts';

type Fields = Record<string, unknown>;

it("reads the inputs of a market's spreads like Anchor's coder", () => {
  const program = loadDefinition('velocity').programs.find(({ accounts }) => accounts.has('PerpMarket'));
  const definition = program?.accounts.get('PerpMarket');
  if (!program || !definition) throw new Error('no PerpMarket');
  const anchor = new BorshAccountsCoder(program.idl as Idl);
  const reader = compilePerpMarket(definition);
  const big = (value: unknown) => BigInt(String(value));
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const bytes = randomAccount(definition, seed);
      const market = anchor.decode('PerpMarket', bytes) as Record<string, Fields>;
      const { amm, market_stats: stats, contract_type: contractType } = market;
      const history = stats?.historical_oracle_data as Fields;
      const view = reader.account.open(bytes);
      expect(reader.market(view, new Uint8Array(32), 1, UNKNOWN_EXCHANGE).spreadInputs).toEqual({
        isPrediction: Object.keys(contractType ?? {})[0] === 'Prediction',
        markStd: big(stats?.mark_std),
        oracleStd: big(stats?.oracle_std),
        lastOracleConfPct: big(stats?.last_oracle_conf_pct),
        longIntensityVolume: big(stats?.long_intensity_volume),
        shortIntensityVolume: big(stats?.short_intensity_volume),
        volume24H: big(stats?.volume_24h),
        lastMarkPriceTwap: big(stats?.last_mark_price_twap),
        lastOraclePriceTwapTs: big(history.last_oracle_price_twap_ts),
        fundingPeriod: big(stats?.funding_period),
        lastFundingOracleTwap: big(stats?.last_funding_oracle_twap),
        lastReferencePriceOffset: stats?.last_reference_price_offset,
        referencePriceOffsetDeadbandPct: amm?.reference_price_offset_deadband_pct,
        baseAssetAmountWithUnsettledLp: 0n,
        fundingBiasSensitivity: amm?.funding_bias_sensitivity,
        marketConfig: market.market_config,
      });
      expect(reader.oracle(view).lastTs).toBe(big(history.last_oracle_price_twap_ts));
    }),
    { numRuns: 20 },
  );
});
