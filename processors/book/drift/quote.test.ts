import { describe, expect, it } from 'vitest';
import {
  AT_HUNDRED,
  ORACLE_TS,
  type QuotingTerms,
  quotingMarket,
} from '../../../test/support/processors/book/spread-terms.ts';
import { liveQuote, quotingOracle } from '../live-quote.ts';
import { spreadReserves } from '../vamm.ts';
import { driftSpreads } from './quote.ts';

/** Users are long a tenth of the depth. */
const longUsers = {
  baseAssetAmountWithAmm: 10_000_000_000_000n,
  terminalQuoteAssetReserve: 990_099_009_900_990n,
} as const;

/** Drift's markets have no sensitivity to a funding bias. */
const drift = (terms: QuotingTerms): QuotingTerms => ({
  ...terms,
  inputs: { fundingBiasSensitivity: null, ...terms.inputs },
});

function spreadsOf(terms: QuotingTerms = {}) {
  const { amm, inputs, market, oracle } = quotingMarket(drift(terms));
  return driftSpreads(market, amm, inputs, quotingOracle(market, oracle));
}

function quoteOf(terms: QuotingTerms = {}) {
  const { amm, market, oracle } = quotingMarket(drift(terms));
  return liveQuote(market, amm, quotingOracle(market, oracle));
}

describe('the quote of a Drift vAMM at the current oracle price', () => {
  it('is half the base spread to each side of a quiet market without inventory', () => {
    const quote = quoteOf();
    const plain = { base: quote.baseAssetReserve, quote: quote.quoteAssetReserve };
    const [ask, bid] = [500n, -500n].map((spread) => spreadReserves(plain, quote.sqrtK, spread));
    expect(quote).toMatchObject({
      askBaseAssetReserve: ask?.base,
      askQuoteAssetReserve: ask?.quote,
      bidBaseAssetReserve: bid?.base,
      bidQuoteAssetReserve: bid?.quote,
    });
  });

  it('changes with the oracle alone, while the account stays as it is', () => {
    const quiet = spreadsOf();
    expect(spreadsOf({ oracle: { confidence: 400_000n } })?.long).toBe(4_000);
    expect(spreadsOf({ oracle: { price: 100_300_000n } })?.long).toBeGreaterThan(3_000);
    expect(spreadsOf({ oracle: { price: 100_300_000n } })?.short).toBe(quiet?.short);
  });

  it('fades an earlier uncertainty by the time of the price, not by a clock', () => {
    const inputs = { lastOracleConfPct: 10_000n };
    const longAfter = (seconds: bigint) => spreadsOf({ inputs, oracle: { publishTs: ORACLE_TS + seconds } })?.long;
    expect([longAfter(0n), longAfter(1n), longAfter(16n), longAfter(1_000n)]).toEqual([10_000, 9_500, 8_000, 8_000]);
  });

  it('dates a price without a time by slots since the update of the account', () => {
    const inputs = { lastOracleConfPct: 10_000n };
    const terms = { inputs, amm: { lastUpdateSlot: 100n }, oracle: { publishTs: null, oracleSlot: 103n } };
    // 3 slots of 400 ms are one whole second.
    expect(spreadsOf(terms)?.long).toBe(9_500);
  });

  it('is wider on the side that adds to the inventory', () => {
    const spreads = spreadsOf({ amm: longUsers });
    expect(spreads?.long).toBeGreaterThan(5 * (spreads?.short ?? 0));
    expect(spreads?.short).toBe(500);
  });

  it('has no dynamic spreads without a base spread', () => {
    const terms = { amm: { baseSpread: 0 }, oracle: { confidence: 400_000n } };
    expect(spreadsOf(terms)).toEqual({ long: 0, short: 0, offset: 0 });
  });

  it('moves in steps to the side of a lasting premium that the inventory agrees with', () => {
    const premium = {
      amm: { ...longUsers, curveUpdateIntensity: 150, lastUpdateSlot: 100n },
      inputs: { lastMarkPriceTwap: 101_000_000n },
      market: { lastMarkPriceTwap5Min: 101_000_000n, last24hAvgFundingRate: AT_HUNDRED },
    };
    const settled = { ...premium, inputs: { ...premium.inputs, lastReferencePriceOffset: 1 } };
    expect(spreadsOf(settled)?.offset).toBe(5_000);
    const offsetAfter = (slots: bigint) => spreadsOf({ ...premium, oracle: { oracleSlot: 100n + slots } })?.offset;
    expect([offsetAfter(0n), offsetAfter(2n), offsetAfter(50n)]).toEqual([10, 200, 500]);
    const disagreeing = { ...premium, amm: { ...premium.amm, baseAssetAmountWithAmm: -1n } };
    expect(spreadsOf(disagreeing)?.offset).toBe(0);
  });
});
