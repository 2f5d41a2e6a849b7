import { describe, expect, it } from 'vitest';
import type { TokenMoveRow } from '../queries/snapshots.ts';
import { balancePoints, type Interest, type SpotMarkets } from './balances.ts';
import { CarriedForward } from './series.ts';

const ONE = 10_000_000_000n;

function move(slot: number, delta: number, members: Partial<TokenMoveRow> = {}): TokenMoveRow {
  return {
    user: 'u',
    bucket: '0',
    slot: String(slot),
    marketIndex: 0,
    kind: 'settle',
    delta: String(delta),
    after: null,
    recordId: '0',
    depositInterest: '0',
    borrowInterest: '0',
    price: '0',
    ...members,
  };
}

function deposit(slot: number, delta: number, after: number, recordId = 1): TokenMoveRow {
  const kind = delta < 0 ? 'withdraw' : 'deposit';
  const interest = String(ONE);
  return move(slot, delta, {
    kind,
    after: String(after),
    recordId: String(recordId),
    depositInterest: interest,
    borrowInterest: interest,
  });
}

/** The balance after all moves, with the interest of a slot known. */
function balanceOf(moves: readonly TokenMoveRow[], interest?: Interest): bigint | undefined {
  const rows = interest ? [{ bucket: '0', interest }] : [];
  const markets: SpotMarkets = {
    prices: CarriedForward.of<{ bucket: string }, bigint>(
      [],
      1,
      () => '',
      () => 0n,
    ),
    interest: CarriedForward.of(
      rows,
      1,
      () => 'spot-0',
      (row) => row.interest,
    ),
    scaleOf: () => 1_000_000n,
  };
  return balancePoints(moves, 1, markets)[0]?.balances[0]?.balance;
}

describe('a balance of tokens', () => {
  it('is the newest deposit record’s balance plus later movements', () => {
    expect(balanceOf([deposit(1, 100, 100), move(2, 7), move(3, -2)])).toBe(105n);
  });

  it('counts movements in the slot of a deposit record once, for either order', () => {
    const first = deposit(1, 100, 100);
    expect(balanceOf([first, move(5, 30), deposit(5, 50, 180, 2)])).toBe(180n);
    expect(balanceOf([first, deposit(5, 50, 180, 2), move(5, 30)])).toBe(180n);
    expect(balanceOf([first, move(5, 30), deposit(5, 50, 150, 2)])).toBe(180n);
    expect(balanceOf([first, deposit(5, 50, 160, 2), move(5, 30), move(5, 10)])).toBe(190n);
  });

  it('uses the last deposit record of a slot, for any arrival order', () => {
    expect(balanceOf([deposit(4, -20, 80, 12), deposit(4, 100, 100, 11)])).toBe(80n);
  });

  it('grows with deposit interest, and shrinks when lenders share a loss', () => {
    const grown = { slot: 9n, deposit: (ONE * 11n) / 10n, borrow: ONE };
    const fallen = { slot: 9n, deposit: (ONE * 9n) / 10n, borrow: ONE };
    expect(balanceOf([deposit(1, 1_000, 1_000), move(2, 5)], grown)).toBe(1_105n);
    expect(balanceOf([deposit(1, 1_000, 1_000), move(2, 5)], fallen)).toBe(905n);
  });

  it('ignores interest older than the deposit record', () => {
    expect(balanceOf([deposit(10, 1_000, 1_000)], { slot: 9n, deposit: ONE / 2n, borrow: ONE })).toBe(1_000n);
  });

  it('grows a debt with borrow interest', () => {
    const later = { slot: 9n, deposit: ONE * 5n, borrow: ONE * 2n };
    expect(balanceOf([deposit(1, -1_000, -1_000)], later)).toBe(-2_000n);
  });
});
