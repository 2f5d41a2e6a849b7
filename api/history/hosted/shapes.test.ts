import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { marketSummary } from '../../../test/support/api/history-stage.ts';
import { MARKETS, marketView } from '../../../test/support/api/market-views.ts';
import { MarketRegistry } from '../../views/registry.ts';
import { decimalsOf, type Members } from '../amount-decimals.ts';
import { convertedSchema, converterOf, DECIMAL_TEXT, type MemberSchemas } from '../amount-view.ts';
import type { Schema } from '../answer-schemas.ts';
import { rowSchema } from '../fields.ts';
import { LIQUIDATION_FIELDS } from '../rows/liquidations.ts';
import { TRADE_FIELDS } from '../rows/market.ts';
import { convertedCsv } from './csv.ts';
import { hostedMarket } from './markets.ts';
import { hostedRow } from './rows.ts';
import { decimalPoints } from './series.ts';

const registry = new MarketRegistry();
for (const view of MARKETS) registry.put(view);

function converted(schema: Schema, value: unknown): unknown {
  const convert = converterOf(schema, {
    format: DECIMAL_TEXT,
    decimalsOf: (unit, name, holder) => decimalsOf((market) => registry.get(market), unit, name, holder),
    prepare: hostedRow,
  });
  return convert?.(value, '', {});
}

const ofFields = (names: readonly string[], value: unknown) => Object.fromEntries(names.map((name) => [name, value]));

describe('rows of the hosted shapes', () => {
  it('show a rebate with the sign of the fee, and 0 for a paying maker', () => {
    const schema = rowSchema(TRADE_FIELDS);
    const rebate = (makerFee: string | null) =>
      (converted(schema, { ...ofFields(schema.required, null), makerFee, makerRebate: '5632' }) as Members).makerRebate;
    expect([rebate('-5632'), rebate('5632'), rebate(null)]).toEqual(['-0.005632', '0.000000', '0.000000']);
  });

  it('have zeros for the other types of a liquidation', () => {
    const schema = rowSchema(LIQUIDATION_FIELDS);
    const row = {
      ...ofFields(schema.required, null),
      liquidationType: 'liquidateSpot',
      liquidateSpot_assetMarketIndex: 1,
      liquidateSpot_assetTransfer: '1',
      liquidateSpot_liabilityMarketIndex: 0,
      liquidateSpot_liabilityTransfer: '1',
    };
    expect(converted(schema, row)).toMatchObject({
      liquidateSpot_assetTransfer: '0.000000001',
      liquidateSpot_liabilityTransfer: '0.000001',
      liquidatePerp_marketIndex: 0,
      liquidatePerp_baseAssetAmount: '0.000000000',
      liquidatePerp_fillRecordId: '0',
      perpBankruptcy_pnl: '0.000000',
      perpBankruptcy_clawbackUser: null,
      bitFlags: null,
    });
  });

  it('have the schema of decimal text', () => {
    const { properties } = convertedSchema(rowSchema(TRADE_FIELDS), DECIMAL_TEXT) as {
      properties: Record<string, Members>;
    };
    expect(properties.oraclePrice).toEqual({ type: 'string', description: 'decimal number, 6 places' });
    expect(properties.fillRecordId?.description).toBe('identifier');
    expect(JSON.stringify(properties)).not.toMatch(/raw integer|x-unit/);
  });
});

describe('markets of the hosted shapes', () => {
  it('show both sides of open interest and funding, each rate as received by its side', () => {
    expect(hostedMarket(marketView({ status: 'fundingPaused' }), marketSummary(), 'USDT')).toEqual({
      symbol: 'SOL-PERP',
      marketIndex: 0,
      marketType: 'perp',
      status: 'fundingPaused',
      precision: 9,
      oraclePrice: '81.122330',
      price: '150.200000',
      baseVolume: '3.000000000',
      quoteVolume: '450.600000',
      priceHigh: { fill: '151.000000', oracle: '151.100000' },
      priceLow: { fill: '149.500000', oracle: '149.400000' },
      priceChange24h: '0.200000',
      priceChange24hPercent: '0.13',
      baseAsset: 'SOL',
      quoteAsset: 'USDT',
      limits: { leverage: { min: 1 }, amount: { min: 0.01 } },
      markPrice: '150.200000',
      openInterest: { long: '2.000000000', short: '-2.500000000' },
      fundingRate: { long: '-0.007905170', short: '0.007905170' },
      fundingRate24h: '0.007905170',
      fundingRateUpdateTs: marketSummary().funding?.ts,
    });
  });

  it('show empty texts for unknown values, and no perp members for spot markets', () => {
    expect(hostedMarket(marketView({ oraclePrice: null }), null, '')).toMatchObject({
      oraclePrice: '',
      price: '',
      markPrice: '',
      priceChange24hPercent: '',
      fundingRate: { long: '0.000000000', short: '0.000000000' },
    });
    expect(hostedMarket(marketView({ marketType: 'spot', decimals: 6 }), null, '')).toMatchObject({
      precision: 6,
      baseVolume: '0.000000',
    });
    expect(hostedMarket(marketView({ marketType: 'spot' }), null, '')).not.toHaveProperty('openInterest');
  });
});

describe('series of the hosted shapes', () => {
  it('convert the values after the time', () => {
    expect(decimalPoints([[7, '1500000', '-1']], [6, 9])).toEqual([[7, '1.500000', '-0.000000001']]);
  });
});

describe('CSV of the hosted shapes', () => {
  const { properties } = rowSchema(LIQUIDATION_FIELDS.slice(0, 13));
  const schemas = properties as unknown as MemberSchemas;
  const text = [
    '"ts","marginFreed","canceledOrderIds","bankrupt","liquidationType"',
    '5,"1500000","[4,5]",false,"a ""quoted"", one"',
    '6,,"[]",true,""',
    '',
  ].join('\n');
  const convert = (row: Members): Members => ({ ...row, marginFreed: row.marginFreed === null ? null : '1.500000' });
  const read = async (source: Readable) => (await convertedCsv(source, schemas, convert).toArray()).join('');

  it('keeps columns, quotes and empty cells for any chunk boundary', async () => {
    const wanted = text.replace('1500000', '1.500000');
    for (let size = 1; size <= text.length; size++) {
      const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
        Buffer.from(text.slice(at * size, (at + 1) * size)),
      );
      expect(await read(Readable.from(chunks))).toBe(wanted);
    }
  });

  it('fails with its source, and destroys its source when it is destroyed', async () => {
    const failing = new Readable({ read() {} });
    failing.push(text);
    const reading = read(failing);
    failing.destroy(new Error('store away'));
    await expect(reading).rejects.toThrow('store away');
    const endless = new Readable({ read() {} });
    const unread = convertedCsv(endless, schemas, convert);
    unread.destroy();
    await new Promise((resolve) => endless.once('close', resolve));
    expect(endless.destroyed).toBe(true);
  });
});
