// The exchange-wide State account: role keys, fee tiers and limits.

import { deriveKey, exchangeAddress, text } from './keys.ts';
import { PERP_LISTINGS, SPOT_LISTINGS } from './markets.ts';
import type { FeeTier, Stored } from './model.ts';
import type { FeeStructure, StateAccount } from './world.ts';

/** Nonce of the signer address of the program id used here. */
const SIGNER_NONCE = 254;
const FEE_TIERS = 10;
/** Taker fee at tier 0 in parts per 100,000. Each further tier lowers it. */
const TAKER_FEE = 50;
const FEE_DENOMINATOR = 100_000;

export function genesisState(seed: number): Stored<StateAccount> {
  const role = (name: string): string => deriveKey(seed, `role-${name}`);
  return {
    key: exchangeAddress(text('velocity_state')),
    type: 'State',
    grown: 0,
    account: {
      cold_admin: role('cold'),
      warm_admin: role('warm'),
      pause_admin: role('pause'),
      hot_amm_crank: role('amm-crank'),
      signer: exchangeAddress(text('velocity_signer')),
      perp_fee_structure: feeStructure(),
      spot_fee_structure: feeStructure(),
      oracle_guard_rails: {
        mark_oracle_percent_divergence: 100_000n,
        oracle_twap_5min_percent_divergence: 500_000n,
        slots_before_stale_for_amm: 10n,
        slots_before_stale_for_margin: 120n,
        confidence_interval_max_size: 20_000n,
        too_volatile_ratio: 5n,
      },
      number_of_authorities: 0n,
      number_of_sub_accounts: 0n,
      liquidation_margin_buffer_ratio: 200,
      number_of_markets: PERP_LISTINGS.length,
      number_of_spot_markets: SPOT_LISTINGS.length,
      signer_nonce: SIGNER_NONCE,
      default_market_order_time_in_force: 60,
      initial_pct_to_liquidate: 5_000,
      max_number_of_sub_accounts: 3_000,
      slot_duration_ms: 400,
      sol_spot_market_index: 1,
    },
  };
}

function feeStructure(): FeeStructure {
  return {
    fee_tiers: Array.from({ length: FEE_TIERS }, (_, tier) => feeTier(tier)),
    filler_reward_structure: { time_based_reward_lower_bound: 10_000n, reward_numerator: 1, reward_denominator: 10 },
    flat_filler_fee: 10_000n,
    amm_fee_numerator: 0,
    if_fee_numerator: 100_000,
  };
}

function feeTier(tier: number): FeeTier {
  return {
    fee_numerator: TAKER_FEE - 4 * tier,
    fee_denominator: FEE_DENOMINATOR,
    maker_rebate_numerator: 10,
    maker_rebate_denominator: FEE_DENOMINATOR,
    referrer_reward_numerator: 15,
    referrer_reward_denominator: 100,
    referee_fee_numerator: 5,
    referee_fee_denominator: 100,
  };
}
