// Where the row of a liquidation names its perp market.

/** Column with the perp market of each liquidation type that has one. The nested records of other types are zeros. */
export const LIQUIDATED_PERP = {
  liquidatePerp: 'liquidate_perp_market_index',
  liquidateBorrowForPerpPnl: 'liquidate_borrow_for_perp_pnl_perp_market_index',
  liquidatePerpPnlForDeposit: 'liquidate_perp_pnl_for_deposit_perp_market_index',
  perpBankruptcy: 'perp_bankruptcy_market_index',
} as const;
