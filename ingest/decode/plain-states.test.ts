import anchor from '@coral-xyz/anchor';
import { PublicKey } from '@solana/web3.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeMessage, loadDefinition } from '../../schemas/index.ts';
import { accountOf, key, newDiffer, SPOT, update } from '../../test/support/ingest/accounts.ts';
import { blankAccount, setField } from '../../test/support/ingest/bytes.ts';
import type { Output } from '../diff/output.ts';
import { accountFilters } from '../rpc/account-filters.ts';

const { BN, BorshAccountsCoder } = anchor;
const [SHARE, ESCROW] = [accountOf('RevenueShare'), accountOf('RevenueShareEscrow')];
const definition = loadDefinition('velocity');
const idl = definition.programs[0]?.idl;
if (!idl) throw new Error('no IDL');
const coder = new BorshAccountsCoder(idl);
const AUTHORITY = key(2);
const REFERRER = key(3);

interface Builder {
  readonly authority: Uint8Array;
  readonly maxFeeTenthBps: number;
}

/** Bytes of an escrow by Anchor, an implementation of its own. */
function escrowBytes(orders: number, builders: readonly Builder[]): Promise<Buffer> {
  const order = {
    fees_accrued: new BN(1),
    order_id: 2,
    fee_tenth_bps: 3,
    market_index: 4,
    sub_account_id: 5,
    rest: Array(14).fill(6),
  };
  return coder.encode('RevenueShareEscrow', {
    authority: new PublicKey(AUTHORITY),
    referrer: new PublicKey(REFERRER),
    reserved: Array(28).fill(9),
    orders: Array(orders).fill(order),
    padding: 77,
    approved_builders: builders.map(({ authority, maxFeeTenthBps }) => ({
      authority: new PublicKey(authority),
      max_fee_tenth_bps: maxFeeTenthBps,
      padding: Array(6).fill(8),
    })),
  });
}

/** Events that updates emit after a first, empty snapshot. */
function emittedBy(...updates: readonly Parameters<typeof update>[]): Output[] {
  const differ = newDiffer();
  const emitted: Output[] = [];
  const take = (output: Output) => emitted.push(output);
  differ.snapshotBegin();
  differ.snapshotEnd(1, take);
  emitted.length = 0;
  for (const each of updates) differ.account(update(...each), take);
  return emitted;
}

describe('builder accounts', () => {
  it('yield what the wallet earned', async () => {
    const bytes = await coder.encode('RevenueShare', {
      authority: new PublicKey(AUTHORITY),
      total_referrer_rewards: new BN(5),
      total_builder_rewards: new BN('18446744073709551615'),
      padding: Array(24).fill(0),
    });
    expect(emittedBy([key(1), SHARE.owner, bytes, 7])).toEqual([
      {
        name: 'RevenueShareState',
        value: {
          slot: 7,
          account: key(1),
          authority: AUTHORITY,
          totalReferrerRewards: 5n,
          totalBuilderRewards: 2n ** 64n - 1n,
        },
      },
    ]);
  });

  it('yield the approved builders behind any number of orders', async () => {
    const builder = fc.record({
      authority: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      maxFeeTenthBps: fc.integer({ min: 0, max: 65_535 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 12 }), fc.array(builder, { maxLength: 8 }), async (orders, approvedBuilders) => {
        const bytes = await escrowBytes(orders, approvedBuilders);
        const emitted = emittedBy([key(1), ESCROW.owner, bytes, 7]);
        const value = { slot: 7, account: key(1), authority: AUTHORITY, referrer: REFERRER, approvedBuilders };
        expect(emitted).toEqual([{ name: 'RevenueShareEscrowState', value }]);
        encodeMessage('RevenueShareEscrowState', value);
      }),
      { numRuns: 30 },
    );
  });

  it('are emitted when they change, and parked when a list does not fit', async () => {
    const bytes = await escrowBytes(2, [{ authority: key(4), maxFeeTenthBps: 10 }]);
    const same = Buffer.from(bytes);
    const cut = bytes.subarray(0, bytes.length - 1);
    const huge = Buffer.from(bytes);
    huge.writeUInt32LE(0xffff_ffff, ESCROW.layout.size);
    const names = emittedBy(
      [key(1), ESCROW.owner, bytes, 7],
      [key(1), ESCROW.owner, same, 8],
      [key(1), ESCROW.owner, cut, 9],
      [key(1), ESCROW.owner, huge, 10],
      [key(1), ESCROW.owner, bytes.subarray(0, ESCROW.layout.size), 11],
      [key(1), ESCROW.owner, Buffer.of(), 12],
    ).map(({ name }) => name);
    expect(names).toEqual(['RevenueShareEscrowState', 'DeadLetter', 'DeadLetter', 'DeadLetter']);
  });

  it('are among the accounts that ingest reads', () => {
    const names = accountFilters(definition).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['RevenueShare', 'RevenueShareEscrow']));
  });
});

describe('the insurance fund of a spot market', () => {
  it('is emitted with its unstaking period once, and again when that changes', () => {
    const spot = (unstaking: bigint, interest: bigint) => {
      const bytes = blankAccount(SPOT);
      setField(bytes, SPOT.layout, 'market_index', 3);
      setField(bytes, SPOT.layout, 'cumulative_deposit_interest', interest);
      setField(bytes, SPOT.layout, 'insurance_fund.unstaking_period', unstaking);
      return bytes;
    };
    const emitted = emittedBy(
      [key(5), SPOT.owner, spot(1_209_600n, 1n), 7],
      [key(5), SPOT.owner, spot(1_209_600n, 2n), 8],
      [key(5), SPOT.owner, spot(60n, 2n), 9],
    );
    expect(emitted.filter(({ name }) => name === 'InsuranceFundState').map(({ value }) => value)).toEqual([
      { marketIndex: 3, slot: 7, unstakingPeriod: 1_209_600n },
      { marketIndex: 3, slot: 9, unstakingPeriod: 60n },
    ]);
  });
});
