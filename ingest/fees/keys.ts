// Which accounts the fees of a market are asked for (orderbook-server reference 1.7).

import { PublicKey } from '@solana/web3.js';
import type { ChainDefinition, MarketRef, MarketType } from '../../schemas/index.ts';

/** Spot market of the quote asset, which every spot trade writes. */
const QUOTE_MARKET_INDEX = 0;

export type AccountKeys = (market: MarketRef) => readonly string[];

/** Perp market i: its account. Spot market i: that of the quote market and its own. Addresses are PDAs (protocol 1.2). */
export function feeAccounts(definition: ChainDefinition): AccountKeys {
  const exchange = definition.programs.find((program) => program.accounts.has('PerpMarket'));
  const program = new PublicKey(exchange?.programId ?? PublicKey.default);
  const known = new Map<string, string>();
  const address = (marketType: MarketType, index: number): string => {
    const name = `${marketType}_market`;
    const found = known.get(name + index);
    if (found !== undefined) return found;
    const bytes = Buffer.alloc(2);
    bytes.writeUInt16LE(index);
    const derived = PublicKey.findProgramAddressSync([Buffer.from(name), bytes], program)[0].toBase58();
    known.set(name + index, derived);
    return derived;
  };
  return ({ marketType, marketIndex }) =>
    marketType === 'perp'
      ? [address('perp', marketIndex)]
      : [address('spot', QUOTE_MARKET_INDEX), address('spot', marketIndex)];
}
