// Quotes of the vAMM at the current oracle price. The stored account alone would give the quotes of the last trade. Each
// program has its own rule: docs/internals/vamm-quotes.md.

import type { AmmState, BookMarket, BookOracle, SpreadInputs } from '../../schemas/index.ts';
import { driftCurve } from './drift/curve.ts';
import { driftQuote } from './drift/quote.ts';
import type { QuotingOracle } from './live-inputs.ts';
import { marketMakerOracle, viewOracle } from './quotes.ts';
import { velocityQuote } from './velocity/quote.ts';

/** Oracle of the vAMM's quotes: the market maker's while it is in force, else the exchange's. */
export function quotingOracle(market: BookMarket, exchange: BookOracle): QuotingOracle {
  // Older checkpoints have no time.
  const ts = exchange.publishTs ?? null;
  const { price, confidence, slot } = marketMakerOracle(market, exchange) ?? viewOracle(exchange);
  return { price, confidence, slot, ts };
}

/**
 * A market's curve at an oracle price, with the reserves that its program would quote. A record without spread inputs names
 * no program: its curve follows the older rule with the stored spreads.
 */
export function liveQuote(market: BookMarket, amm: AmmState, oracle: QuotingOracle): AmmState {
  const { spreadInputs: inputs } = market;
  if (inputs === null) return driftCurve(amm, oracle.price);
  return isVelocity(inputs) ? velocityQuote(market, amm, inputs, oracle) : driftQuote(market, amm, inputs, oracle);
}

/** Only Velocity's layout has a funding bias. */
function isVelocity({ fundingBiasSensitivity }: SpreadInputs): boolean {
  return fundingBiasSensitivity !== null;
}
