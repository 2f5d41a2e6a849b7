// Maps a market to the accounts of its fee request (docs/internals/order-book-server.md, "Priority fees").

import { PublicKey } from '@solana/web3.js';
import type { ChainDefinition, MarketRef, MarketType } from '../../schemas/index.ts';

/** Spot market of the quote asset. Every spot trade writes it. */
const QUOTE_MARKET_INDEX = 0;

export type AccountKeys = (market: MarketRef) => readonly string[];

/** Perp market: its own account. Spot market: the quote market's account and its own. All are PDAs. */
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
