// Compares the book's quotes of Velocity's vAMMs with a model written straight from the page of formulas
// (docs/internals/vamm-quotes.md). Takes every state of the simulated exchange's market accounts, at oracles near and far.

import { BorshAccountsCoder, type Idl } from '@coral-xyz/anchor';
import { expect, it } from 'vitest';
import { compilePerpMarket, UNKNOWN_EXCHANGE } from '../../ingest/decode/market.ts';
import { createExchange } from '../../localnet/exchange/index.ts';
import { liveQuote } from '../../processors/index.ts';
import { loadDefinition } from '../../schemas/index.ts';
import { type Fields, naiveCurve } from './harness/naive/curve.ts';

const SLOTS = 100;
/** Parts per thousand of the exchange's price. */
const ORACLES = [850n, 960n, 995n, 1_000n, 1_003n, 1_050n, 1_300n];

it('quotes the vAMMs of a trading exchange from the reserves that the formulas give', () => {
  const program = loadDefinition('velocity').programs.find(({ accounts }) => accounts.has('PerpMarket'));
  const definition = program?.accounts.get('PerpMarket');
  if (!program || !definition) throw new Error('no PerpMarket');
  const anchor = new BorshAccountsCoder(program.idl as Idl);
  const discriminator = Buffer.from(anchor.accountDiscriminator('PerpMarket'));
  const reader = compilePerpMarket(definition);
  const exchange = createExchange({ seed: 11, genesisTime: 1_760_000_000, activity: 3 });
  const seen = { states: 0, offset: 0, 'one side far wider': 0 };
  for (let slot = 0; slot < SLOTS; slot++) {
    for (const { data, pubkey } of exchange.nextBlock().transactions.flatMap(({ writes }) => writes)) {
      const bytes = Buffer.from(data ?? []);
      if (!bytes.subarray(0, 8).equals(discriminator)) continue;
      const fields = anchor.decode('PerpMarket', bytes) as Fields;
      const market = reader.market(reader.account.open(bytes), new Uint8Array(32), slot, UNKNOWN_EXCHANGE);
      const { amm } = market;
      if (!amm) throw new Error(`market ${pubkey} without a vAMM`);
      for (const parts of ORACLES) {
        const price = (market.lastOraclePriceTwap5Min * parts) / 1_000n;
        const oracle = { price, confidence: price / 900n, slot: BigInt(slot), ts: 1_760_000_000n + BigInt(slot) };
        const ours = liveQuote(market, amm, oracle);
        const theirs = naiveCurve(fields, oracle);
        expect([ours.baseAssetReserve, ours.pegMultiplier]).toEqual([theirs.base, theirs.peg]);
        expect([ours.minBaseAssetReserve, ours.maxBaseAssetReserve]).toEqual([theirs.min, theirs.max]);
        expect([ours.askBaseAssetReserve, ours.askQuoteAssetReserve]).toEqual([theirs.asks.base, theirs.asks.quote]);
        expect([ours.bidBaseAssetReserve, ours.bidQuoteAssetReserve]).toEqual([theirs.bids.base, theirs.bids.quote]);
        const asked = ours.askQuoteAssetReserve - ours.quoteAssetReserve;
        const bid = ours.quoteAssetReserve - ours.bidQuoteAssetReserve;
        seen.states += 1;
        if (asked > 3n * bid || bid > 3n * asked) seen['one side far wider'] += 1;
      }
      if (amm.referencePriceOffset !== 0) seen.offset += 1;
    }
  }
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(10);
});
