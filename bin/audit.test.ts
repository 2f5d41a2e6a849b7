import { describe, expect, it } from 'vitest';
import { readConfig } from '../platform/index.ts';
import { audit, isComplete, textOf } from './audit.ts';

const hole = { fromId: 4, toId: 5, fromSlot: 40, toSlot: 50, isLost: true, reconstructed: [], reconstructedOrders: [] };
const sum = { user: 'u', orderId: 7, direction: 'long', baseAssetAmount: '5', quoteAssetAmount: null };

describe('the text of an audit', () => {
  it('says of each stream what is complete, where the holes are and where the chain is, and of accounts the totals', () => {
    const fills = { subject: 'perp-0', stream: 'fills', slot: 99, firstId: 1, lastId: 9, chainId: 9 };
    const text = textOf(false, {
      streams: [
        { ...fills, missing: 0, holes: [] },
        { ...fills, subject: 'perp-1', missing: 2, holes: [hole] },
        { ...fills, subject: 'perp-2', firstId: null, lastId: null, chainId: 5, missing: 2, holes: [hole] },
        { ...fills, subject: 'perp-4', missing: 2, holes: [{ ...hole, reconstructed: [sum, sum] }] },
        { ...fills, subject: 'perp-3', firstId: null, lastId: null, chainId: 5, missing: 0, holes: [] },
      ],
      accounts: [{ stream: 'orders', slot: 99, accounts: 40, withHoles: 1, missing: 3, lost: 2, forgotten: 7 }],
    });
    expect(text.split('\n')).toEqual([
      'perp-0 fills: complete from 1 to 9, chain at 9',
      'perp-1 fills: from 1 to 9, 2 missing: [4, 5] (slots 40 to 50, lost), chain at 9',
      'perp-2 fills: no record, 2 missing: [4, 5] (slots 40 to 50, lost), chain at 5',
      'perp-4 fills: from 1 to 9, 2 missing: [4, 5] (slots 40 to 50, lost, 2 orders reconstructed), chain at 9',
      'perp-3 fills: no record, chain at 5',
      'accounts orders: 40 accounts, 1 with holes, 3 missing, 2 of them lost, 7 forgotten',
      'incomplete',
      '',
    ]);
  });
});

describe('an audit is complete', () => {
  const stream = { subject: 'account', slot: 99, firstId: 1, lastId: 9, chainId: 9, missing: 0, holes: [] };

  it('where a liquidation has a number without a record, and not where another record is missing', () => {
    const lacking = { ...stream, missing: 2, holes: [hole] };
    expect(isComplete({ streams: [{ ...lacking, stream: 'liquidations' }] })).toBe(true);
    expect(isComplete({ streams: [{ ...lacking, stream: 'orders' }] })).toBe(false);
  });

  it('never where no coverage is known', () => {
    expect(isComplete({ streams: [] })).toBe(false);
    expect(textOf(false, { streams: [] })).toBe('no coverage known\nincomplete\n');
  });

  it('of no text that is not a key', async () => {
    await expect(audit(readConfig({}, {}), { account: 'abc' })).rejects.toThrow('--account must be a public key');
  });
});
