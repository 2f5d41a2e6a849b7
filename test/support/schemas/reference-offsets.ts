// Expected offsets and types of protocol revision B, one `offset:name:type` each, for the layout tests. Accounts count from
// the first byte, nested structs from their start. Structs and lists have no type here.

export const REFERENCE_OFFSETS: Readonly<Record<string, string>> = {
  User: `
    8:authority:pubkey 40:delegate:pubkey 72:name 104:spot_positions 424:perp_positions 1128:orders
    4456:total_deposits:u64 4464:total_withdraws:u64 4472:total_social_loss:u64 4480:settled_perp_pnl:i64
    4488:cumulative_spot_fees:i64 4496:cumulative_perp_funding:i64 4504:liquidation_margin_freed:u64
    4512:last_active_slot:u64 4520:next_order_id:u32 4524:max_margin_ratio:u32 4528:next_liquidation_id:u16
    4530:sub_account_id:u16 4532:status:u8 4533:is_margin_trading_enabled:bool 4534:idle:bool 4535:has_open_order:bool
    4536:open_orders:u16 4538:open_auctions:u8 4539:has_open_auction:bool 4540:pool_id:u8 4541:special_user_status:u8
    4542:padding 4544:equity_floor:u64 4552:equity_floor_buffer:u64`,
  UserStats: `
    8:authority:pubkey 40:referrer:pubkey 72:fees 104:maker_volume_30d:u64 112:taker_volume_30d:u64
    120:filler_volume_30d:u64 128:last_maker_volume_30d_ts:i64 136:last_taker_volume_30d_ts:i64
    144:last_filler_volume_30d_ts:i64 152:if_staked_quote_asset_amount:u64 160:number_of_sub_accounts:u16
    162:number_of_sub_accounts_created:u16 164:referrer_status:u8 165:disable_update_perp_bid_ask_twap:u8
    166:paused_operations:u8 167:padding1 176:delegate_permissions:u8 177:equity_breaker_tripped:u8
    178:accelerated_referral_status:u8 179:padding`,
  PerpMarket: `
    8:pubkey:pubkey 40:base_asset_amount_long:i128 56:base_asset_amount_short:i128 72:quote_asset_amount:i128
    88:quote_entry_amount_long:i128 104:quote_entry_amount_short:i128 120:quote_break_even_amount_long:i128
    136:quote_break_even_amount_short:i128 152:max_open_interest:u128 168:total_social_loss:u128
    184:cumulative_funding_rate_long:i128 200:cumulative_funding_rate_short:i128 216:fee_ledger 312:oracle:pubkey
    344:pnl_pool 376:protocol_fee_pool 408:protocol_liquidation_fee:u32 412:_padding_buffer
    416:fee_pool_buffer_target:u64 424:name 456:insurance_claim 496:last_funding_rate:i64
    504:last_funding_rate_long:i64 512:last_funding_rate_short:i64 520:last_funding_rate_ts:i64
    528:net_unsettled_funding_pnl:i64 536:funding_clamp_threshold:u32 540:funding_ramp_slope:u32
    544:order_step_size:u64 552:order_tick_size:u64 560:unrealized_pnl_max_imbalance:u64 568:expiry_ts:i64
    576:expiry_price:i64 584:next_fill_record_id:u64 592:next_funding_rate_record_id:u64 600:imf_factor:u32
    604:unrealized_pnl_imf_factor:u32 608:liquidator_fee:u32 612:if_liquidation_fee:u32 616:margin_ratio_initial:u32
    620:margin_ratio_maintenance:u32 624:unrealized_pnl_initial_asset_weight:u32
    628:unrealized_pnl_maintenance_asset_weight:u32 632:number_of_users_with_base:u32 636:number_of_users:u32
    640:market_index:u16 642:status:enum 643:contract_type:enum 644:contract_tier:enum 645:paused_operations:u8
    646:quote_spot_market_index:u16 648:fee_adjustment:i16 650:pending_bankruptcy_claims:u16 652:_padding_align_lfp
    656:last_fill_price:u64 664:pool_id:u8 665:_padding_pmm 667:_padding_hedge 672:market_config:u8
    673:oracle_source:enum 674:oracle_slot_delay_override:i8 675:oracle_low_risk_slot_delay_override:i8
    676:bankruptcy_if_floor_pct:u32 680:market_stats 680:market_stats.last_mark_price_twap:u64
    688:market_stats.last_mark_price_twap_5min:u64 696:market_stats.last_mark_price_twap_ts:i64
    704:market_stats.last_bid_price_twap:u64 712:market_stats.last_ask_price_twap:u64 720:market_stats.mark_std:u64
    728:market_stats.oracle_std:u64 736:market_stats.last_oracle_conf_pct:u64 744:market_stats.volume_24h:u64
    752:market_stats.long_intensity_volume:u64 760:market_stats.short_intensity_volume:u64
    768:market_stats.last_trade_ts:i64 776:market_stats.last_24h_avg_funding_rate:i64
    784:market_stats.funding_period:i64 792:market_stats.min_order_size:u64 800:market_stats.mm_oracle_price:i64
    808:market_stats.mm_oracle_slot:u64 816:market_stats.mm_oracle_sequence_id:u64
    824:market_stats.last_oracle_normalised_price:i64 832:market_stats.last_reference_price_offset:i32
    836:market_stats.last_oracle_valid:bool 837:market_stats.padding 840:market_stats.last_funding_oracle_twap:i64
    848:market_stats.historical_oracle_data 896:pending_revenue_share:u64 904:amm 904:amm.fee_pool
    936:amm.base_asset_reserve:u128 952:amm.quote_asset_reserve:u128 968:amm.concentration_coef:u128
    984:amm.min_base_asset_reserve:u128 1000:amm.max_base_asset_reserve:u128 1016:amm.sqrt_k:u128
    1032:amm.peg_multiplier:u128 1048:amm.terminal_quote_asset_reserve:u128 1064:amm.base_asset_amount_with_amm:i128
    1080:amm.total_fee:i128 1096:amm.total_mm_fee:i128 1112:amm.total_fee_minus_distributions:i128
    1128:amm.total_fee_withdrawn:u128 1144:amm.ask_base_asset_reserve:u128 1160:amm.ask_quote_asset_reserve:u128
    1176:amm.bid_base_asset_reserve:u128 1192:amm.bid_quote_asset_reserve:u128 1208:amm.last_update_slot:u64
    1216:amm.net_revenue_since_last_funding:i64 1224:amm.last_cumulative_funding_rate_long:i64
    1232:amm.last_cumulative_funding_rate_short:i64 1240:amm.last_oracle_reserve_price_spread_pct:i64
    1248:amm.last_spread_update_slot:u64 1256:amm.base_spread:u32 1260:amm.max_spread:u32 1264:amm.long_spread:u32
    1268:amm.short_spread:u32 1272:amm.reference_price_offset:i32 1276:amm.max_fill_reserve_fraction:u16
    1278:amm.max_slippage_ratio:u16 1280:amm.curve_update_intensity:u8 1281:amm.amm_jit_intensity:u8
    1282:amm.amm_spread_adjustment:i8 1283:amm.amm_inventory_spread_adjustment:i8
    1284:amm.reference_price_offset_deadband_pct:u8 1285:amm.funding_bias_sensitivity:u8 1286:amm.padding_post_amm
    1288:hedge_config 1304:clob_market:pubkey 1336:quoter_slab:pubkey 1368:_padding_future`,
  SpotMarket: `
    8:pubkey:pubkey 40:oracle:pubkey 72:mint:pubkey 104:vault:pubkey 136:name 168:insurance_fund
    280:total_spot_fee:u128 296:deposit_balance:u128 312:borrow_balance:u128 328:cumulative_deposit_interest:u128
    344:cumulative_borrow_interest:u128 360:total_social_loss:u128 376:total_quote_social_loss:u128 392:revenue_pool
    424:spot_fee_pool 456:historical_oracle_data 504:historical_index_data 544:withdraw_guard_threshold:u64
    552:max_token_deposits:u64 560:deposit_token_twap:u64 568:borrow_token_twap:u64 576:utilization_twap:u64
    584:last_interest_ts:u64 592:last_twap_ts:u64 600:expiry_ts:i64 608:order_step_size:u64 616:order_tick_size:u64
    624:min_order_size:u64 632:max_position_size:u64 640:next_fill_record_id:u64 648:next_deposit_record_id:u64
    656:initial_asset_weight:u32 660:maintenance_asset_weight:u32 664:initial_liability_weight:u32
    668:maintenance_liability_weight:u32 672:imf_factor:u32 676:liquidator_fee:u32 680:if_liquidation_fee:u32
    684:optimal_utilization:u32 688:optimal_borrow_rate:u32 692:max_borrow_rate:u32 696:decimals:u32
    700:market_index:u16 702:orders_enabled:bool 703:oracle_source:enum 704:status:enum 705:asset_tier:enum
    706:paused_operations:u8 707:if_paused_operations:u8 708:fee_adjustment:i16 710:max_token_borrows_fraction:u16
    712:flash_loan_amount:u64 720:flash_loan_initial_token_amount:u64 728:total_swap_fee:u64
    736:scale_initial_asset_weight_start:u64 744:min_borrow_rate:u8 745:token_program_flag:u8 746:pool_id:u8
    747:_padding_align_pfp:u8 748:withdraw_circuit_breaker_bps:u16 750:max_deposit_bps_per_day:u16
    752:deposit_guard_threshold:u64 760:protocol_fee_pool 792:protocol_liquidation_fee:u32 796:protocol_fee_factor:u32
    800:if_last_settle_vault_amount:u64 808:_padding_future`,
  ClobHeaderV0: `
    8:authority:pubkey 40:place_authority:pubkey 72:order_tick_size:u64 80:order_step_size:u64 88:min_order_size:u64
    96:blocking_min_size:u64 104:base_precision:u64 112:next_order_id:u64 120:best_bid:u32 124:best_ask:u32
    128:worst_bid:u32 132:worst_ask:u32 136:free_head:u32 140:free_count:u32 144:bid_count:u32 148:ask_count:u32
    152:default_activation_delay_slots:u32 156:max_activation_delay_slots:u32 160:unknown_user_grace_slots:u32
    164:evict_threshold_per_side:u32 168:market_index:u16 170:max_quote_levels:u16 172:max_execute_fills:u16
    174:max_execute_users:u16 176:next_expiry_ts:i64 184:next_activation_slot:u64 192:crank
    1256:pending_authority:pubkey 1288:padding 1360:taker_origin_head 1368:taker_origin_tail 1376:taker_origin_count
    1380:reservation_grace_slots:u16 1382:padding1 1384:response`,
  State: `
    8:cold_admin:pubkey 40:warm_admin:pubkey 72:pause_admin:pubkey 104:hot_amm_crank:pubkey 136:hot_lp_cache:pubkey
    168:hot_lp_swap:pubkey 200:hot_lp_settle:pubkey 232:hot_feature_flag:pubkey 264:hot_fuel:pubkey
    296:hot_user_flag:pubkey 328:hot_vault_deposit:pubkey 360:hot_mm_oracle_crank:pubkey
    392:hot_amm_spread_adjust:pubkey 424:whitelist_mint:pubkey 456:discount_mint:pubkey 488:signer:pubkey
    520:srm_vault:pubkey 552:perp_fee_structure 920:spot_fee_structure 1288:oracle_guard_rails
    1336:number_of_authorities:u64 1344:number_of_sub_accounts:u64 1352:liquidation_margin_buffer_ratio:u32
    1356:settlement_duration:u16 1358:number_of_markets:u16 1360:number_of_spot_markets:u16 1362:signer_nonce:u8
    1363:min_perp_auction_duration:u8 1364:default_market_order_time_in_force:u8 1365:default_spot_auction_duration:u8
    1366:exchange_status:u8 1367:liquidation_duration:u8 1368:initial_pct_to_liquidate:u16
    1370:max_number_of_sub_accounts:u16 1372:max_initialize_user_fee:u16 1374:feature_bit_flags:u8
    1375:lp_pool_feature_bit_flags:u8 1376:solvency_status:u8 1377:protocol_fee_recipient_perp:pubkey
    1409:protocol_fee_recipient_spot:pubkey 1441:hot_fee_withdraw:pubkey 1473:hot_account_extension:pubkey
    1505:promo_fee_tier:u8 1506:slot_duration_ms:u16 1508:pending_slot_duration_ms:u16 1510:slot_duration_pad
    1512:slot_duration_effective_slot:u64 1520:slot_duration_transition_slots 1552:hot_vamm_quote_management:pubkey
    1584:hot_flow_authority:pubkey 1616:transaction_fee_rails 1636:liquidation_crank_reimbursement_bps:u16
    1638:sol_spot_market_index:u16 1640:padding_0 1642:hot_conditions_sync:pubkey 1674:padding`,
  Order: `
    0:slot:u64 8:price:u64 16:base_asset_amount:u64 24:base_asset_amount_filled:u64 32:quote_asset_amount_filled:u64
    40:trigger_price:u64 48:clob_node_index:i64 56:clob_order_id:i64 64:max_ts:i64 72:oracle_price_offset:i64
    80:order_id:u32 84:market_index:u16 86:status:enum 87:order_type:enum 88:market_type:enum 89:user_order_id:u8
    90:existing_position_direction:enum 91:direction:enum 92:reduce_only:bool 93:post_only:bool
    94:immediate_or_cancel:bool 95:trigger_condition:enum 96:unused_auction_duration:u8 97:posted_slot_tail:u8
    98:bit_flags:u8 99:padding`,
  OrderNodeV0: `
    0:authority:pubkey 32:price:u64 40:base_asset_amount:u64 48:activation_slot:u64 56:max_ts:i64 64:order_id:u64
    72:placed_slot:u64 80:prev:u32 84:next:u32 88:taker_origin_prev:u32 92:taker_origin_next:u32 96:bit_flags:u8
    97:padding0:u8 98:sub_account_id:u16 100:client_order_id:u32`,
  PerpPosition: `
    0:last_cumulative_funding_rate:i64 8:base_asset_amount:i64 16:quote_asset_amount:i64
    24:quote_break_even_amount:i64 32:quote_entry_amount:i64 40:open_bids:i64 48:open_asks:i64 56:settled_pnl:i64
    64:isolated_position_scaled_balance:u64 72:reduce_only_clob_orders:u16 74:max_margin_ratio:u16 76:market_index:u16
    78:open_orders:u16 80:position_flag:u8 81:padding`,
};
