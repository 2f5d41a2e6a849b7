// Unit and scale of a stored column, by its name and type (docs/internals/accounts.md, "Units").

import type { Column } from './tables.ts';

const BASE = 'base, 1e9';
const QUOTE = 'quote, 1e6';
const PRICE = 'price, quote per base, 1e6';
const TOKEN = 'units of the token, 10^decimals of its spot market';
const FUNDING = 'quote per base, 1e9';
const SHARES = 'shares of the insurance fund';
const VAULT_SHARES = 'shares of the vault';
const UNKNOWN = 'raw; its scale is not established';

/** The first match wins. */
const BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/^(last_)?event_index$/, 'index among all events of the transaction'],
  [/^tx_index$/, 'place of the transaction in its block'],
  [/(^|_)market_index|constituent_index$|_index_with_/, 'index of the market'],
  [/^record_slot$/, 'slot that the record itself names'],
  [/(^|_)slot$/, 'slot'],
  [/^order_posted_slot_tail$/, 'last byte of the slot'],
  [/_slots$/, 'slots'],
  [/^closes$/, 'whether the fill reduced, closed or flipped the position of its side'],
  [/^day$/, 'days since 1970-01-01'],
  [/^(fills|events|fundings|(taker|maker)_trades)$/, 'count'],
  [/^(taker|maker)_volume$|^(entry|expired_entry|cash|realized|funding|settled|moved)$/, QUOTE],
  [/(^|_)ts$/, 'unix seconds'],
  [/^at_ms$/, 'unix milliseconds of the wall clock'],
  [/auction_duration$/, 'slots'],
  [/_tenth_bps$/, 'tenths of a basis point'],
  [/^lp_price$|^lp_aum$|^last_aum$|_weight$|^(in|out)_fee$|^lp_(fee|amount)$/, UNKNOWN],
  [/spot_liability_transfer$|spot_asset_transfer$|_asset_transfer$|_liability_transfer$/, TOKEN],
  [/^spot_bankruptcy_(borrow_amount|if_payment)$|^liquidate_spot_(if|protocol)_fee$/, TOKEN],
  [/cumulative_(deposit|borrow)_interest/, '1e10'],
  [/funding_rate|cumulative_funding/, FUNDING],
  [/^maker_fee$/, 'quote, 1e6; negative = rebate'],
  [/^long_spread$|^short_spread$/, 'share of the price, 1e6'],
  [/_reserve_(before|after)$|^sqrt_k_/, '1e9'],
  [/^peg_multiplier_/, '1e6'],
  [/price|_twap$|^(fill|oracle)_(open|high|low|close)$|tick_size$/, PRICE],
  [/if_shares/, SHARES],
  [/vault_shares_base$|^shares_base$/, 'power of ten'],
  [
    /vault_shares|depositor_shares|protocol_shares|fee_shares$|^shares$|^(total|user|(manager_)?request)_shares$/,
    VAULT_SHARES,
  ],
  [/^management_fee_rate$/, 'share of the equity by the year, 1e6'],
  [/^(profit_share|hurdle)_rate$/, 'share, 1e6'],
  [/^vault_equity_before$|profit_share$|^(management|protocol)_fee$|^value$/, TOKEN],
  [/(net|total)_(deposits|withdraws)$|_withdraw_requested$|request_value$|^max_tokens$|^min_deposit_amount$/, TOKEN],
  [/^manager_total_fee$|^cumulative_profit_share_amount$|^profit_share_fee_paid$/, TOKEN],
  [/^redeem_period$/, 'seconds'],
  [/^fuel_/, 'points'],
  [/^optimal_|^max_borrow_rate$/, 'share, 1e6'],
  [/if_factor$/, 'share, 1e6'],
  [/^(market_)?(deposit|withdraw|borrow)_balance$/, 'scaled balance, 1e9'],
  [/^token_balance$|^last_token_balance$|token_amount/, TOKEN],
  [/^(amount|amount_in|amount_out|in_amount|out_amount|amount_deposit_withdraw)$|vault_amount_before$/, TOKEN],
  [/^base_precision$/, 'units of one base'],
  [/quote/, QUOTE],
  [/base|lp_shares$|open_interest|min_order_size$|order_step_size$|blocking_min_size$/, BASE],
  [/fee|reward|pnl|margin|collateral|_payment$|improvement|adjustment_cost|period_revenue|_swept$/, QUOTE],
  [/^total_(deposits|withdraws)_after$|^amm_provision_tokenized$|^settle_to_lp_amount$/, QUOTE],
  [/(^|_)(order_id|order_ids|record_id|swap_id|redeem_id|liquidation_id|user_order_id|sub_account_id)$/, 'number'],
  [
    /node_index$|builder_idx$|capacity$|_max_|max_(quote|execute)|evict_threshold|^trades$|^version$|^number$/,
    'number',
  ],
  [/bit_flags$|^flags$|^side$|^sides$|^direction$|_status$|^description$|^discriminator$/, 'code of the program'],
];

/** Meaning of columns without a number. */
function textMeaning({ name, type }: Column): string | null {
  if (/FixedString\(64\)/.test(type)) return 'transaction signature, 64 bytes';
  if (/FixedString\(32\)/.test(type)) return name === 'name' ? 'text, padded to 32 bytes' : 'key, 32 bytes';
  if (/^Bool|\(Bool\)/.test(type)) return 'yes or no';
  if (/^LowCardinality/.test(type)) return 'name';
  if (name === 'signed_msg_order_uuid') return 'id that the signer chose, 8 bytes';
  if (name === 'hash') return 'hash of the signature, base64';
  if (name === 'raw') return 'bytes as the program wrote them';
  if (/^FixedString|String/.test(type)) return 'text';
  if (/^DateTime/.test(type)) return 'time';
  return null;
}

/** Unit and scale of a column; null when no rule matches its name, which a test reports. */
export function meaningOf(column: Column): string | null {
  return textMeaning(column) ?? BY_NAME.find(([pattern]) => pattern.test(column.name))?.[1] ?? null;
}
