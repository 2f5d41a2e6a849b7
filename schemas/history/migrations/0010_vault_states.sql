-- The newest state of the vault program's accounts, from topic vaults. Keys are texts in base58 here. The newest slot counts,
-- and of one slot the row that was stored last.

-- Vaults as they stand. Shares and amounts in units of the vault's token; rates 1e6, the management fee by the year.
CREATE TABLE IF NOT EXISTS {{database}}.`vault_state` {{onCluster}} (
  slot UInt64 CODEC(Delta, ZSTD(1)),
  vault String CODEC(ZSTD(1)),
  name String CODEC(ZSTD(1)),
  manager String CODEC(ZSTD(1)),
  user String CODEC(ZSTD(1)),
  delegate String CODEC(ZSTD(1)),
  spot_market_index UInt16,
  user_shares UInt128 CODEC(ZSTD(1)),
  total_shares UInt128 CODEC(ZSTD(1)),
  shares_base UInt32 CODEC(ZSTD(1)),
  last_fee_update_ts Int64 CODEC(ZSTD(1)),
  init_ts Int64 CODEC(ZSTD(1)),
  liquidation_start_ts Int64 CODEC(ZSTD(1)),
  redeem_period Int64 CODEC(ZSTD(1)),
  total_withdraw_requested UInt64 CODEC(ZSTD(1)),
  max_tokens UInt64 CODEC(ZSTD(1)),
  min_deposit_amount UInt64 CODEC(ZSTD(1)),
  management_fee_rate Int64 CODEC(ZSTD(1)),
  profit_share_rate UInt32 CODEC(ZSTD(1)),
  hurdle_rate UInt32 CODEC(ZSTD(1)),
  permissioned Bool,
  net_deposits Int64 CODEC(ZSTD(1)),
  total_deposits UInt64 CODEC(ZSTD(1)),
  total_withdraws UInt64 CODEC(ZSTD(1)),
  manager_net_deposits Int64 CODEC(ZSTD(1)),
  manager_total_deposits UInt64 CODEC(ZSTD(1)),
  manager_total_withdraws UInt64 CODEC(ZSTD(1)),
  manager_total_fee Int64 CODEC(ZSTD(1)),
  manager_total_profit_share UInt64 CODEC(ZSTD(1)),
  manager_request_shares UInt128 CODEC(ZSTD(1)),
  manager_request_value UInt64 CODEC(ZSTD(1)),
  manager_request_ts Int64 CODEC(ZSTD(1)),
  has_protocol Bool
)
ENGINE = {{replacingMergeTree}}(slot)
ORDER BY vault
SETTINGS {{deduplicationWindow}};

-- What each wallet holds of each vault, by the key of its VaultDepositor account.
CREATE TABLE IF NOT EXISTS {{database}}.`vault_depositor_state` {{onCluster}} (
  slot UInt64 CODEC(Delta, ZSTD(1)),
  depositor String CODEC(ZSTD(1)),
  vault String CODEC(ZSTD(1)),
  authority String CODEC(ZSTD(1)),
  vault_shares UInt128 CODEC(ZSTD(1)),
  vault_shares_base UInt32 CODEC(ZSTD(1)),
  request_shares UInt128 CODEC(ZSTD(1)),
  request_value UInt64 CODEC(ZSTD(1)),
  request_ts Int64 CODEC(ZSTD(1)),
  net_deposits Int64 CODEC(ZSTD(1)),
  total_deposits UInt64 CODEC(ZSTD(1)),
  total_withdraws UInt64 CODEC(ZSTD(1)),
  cumulative_profit_share_amount Int64 CODEC(ZSTD(1)),
  profit_share_fee_paid UInt64 CODEC(ZSTD(1))
)
ENGINE = {{replacingMergeTree}}(slot)
ORDER BY depositor
SETTINGS {{deduplicationWindow}};
