import { describe, expect, it } from 'vitest';
import { snakeCase, variantName } from './names.ts';

describe('names', () => {
  it.each([
    ['OrderFilledWithAMMJitLPSplit', 'orderFilledWithAmmJitLpSplit'],
    ['OrderFilledWithAMM', 'orderFilledWithAmm'],
    ['OrderFilledWithOpenbookV2', 'orderFilledWithOpenbookV2'],
    ['PythLazer1K', 'pythLazer1K'],
    ['Pyth1KPull', 'pyth1KPull'],
    ['TriggerMarket', 'triggerMarket'],
    ['A', 'a'],
  ])('spells the variant %s as %s', (name, wanted) => {
    expect(variantName(name)).toBe(wanted);
  });

  it.each([
    ['makerVolume30d', 'maker_volume_30d'],
    ['lpPool', 'lp_pool'],
    ['LPBorrowLendDeposit', 'lp_borrow_lend_deposit'],
    ['sqrtK', 'sqrt_k'],
    ['oracle_twap_5min_percent', 'oracle_twap_5min_percent'],
  ])('spells the field %s as %s', (name, wanted) => {
    expect(snakeCase(name)).toBe(wanted);
  });
});
