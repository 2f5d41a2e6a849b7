// The reference page of the history tables for SQL users, from the migrations and the event schemas.

import { EVENT_NAMES } from '../log/event-codec.ts';
import { type StoredTable, storedTables } from './table-catalogue.ts';
import { meaningOf } from './table-units.ts';
import { type Column, tableOf } from './tables.ts';

const HEAD = new Set(['signature', 'event_index', 'slot', 'tx_index']);

/** Descriptions by table. Without one the page shows the event's name. */
const ABOUT: Readonly<Record<string, string>> = {
  order_action: 'Everything that happens to an order: placed, filled, cancelled, triggered, expired.',
  order: 'Orders as they were placed, with all their terms.',
  signed_msg_order:
    'Orders that takers signed off the chain, as they were placed; `user_order_id` is the `order_id` of the order. Auction columns exist in the first layout of the program only.',
  taker_origin_cross_v1: 'A resting taker remainder was crossed at a better price.',
  order_place_v0: 'Market-level book: an order was placed.',
  order_cancel_v0: 'Market-level book: an order was cancelled.',
  order_evict_v0: 'Market-level book: an order was pushed out of a full side.',
  order_expire_v0: 'Market-level book: an order expired.',
  orders_cancel_v0: 'Market-level book: several orders of an account were cancelled at once.',
  execute_v0: 'Market-level book: one execution, its fills as parallel lists.',
  fill_v0: 'Market-level book: fills of one match, as parallel lists.',
  new_user: 'Accounts (sub-accounts) as they were opened.',
  delete_user: 'Accounts as they were closed.',
  deposit: 'Deposits, withdrawals, transfers between accounts and rewards.',
  swap: 'Swaps between spot markets by an account.',
  funding_payment: 'Funding that an account paid (negative) or received.',
  settle_pnl: 'Profit and loss settled into the quote balance.',
  liquidation: 'Liquidations of all kinds and bankruptcies; members of other kinds are zero.',
  insurance_fund_stake: 'Stakes into and out of the insurance fund.',
  revenue_share_settle: 'Rewards of builders and referrers as settled.',
  accelerated_referral_status_changed_v0: 'Referral status of an authority changed.',
  funding_rate: 'Hourly funding of a perp market.',
  spot_interest: 'Interest of a spot market as it is updated.',
  amm_curve_changed: 'The curve of a vAMM was moved.',
  insurance_fund: 'Money into and out of the insurance fund of a spot market.',
  spot_market_vault_deposit: 'A deposit into the vault of a spot market for all its lenders.',
  perp_market_fee_sweep: 'Fees of a perp market handed on.',
  protocol_fee_withdraw: 'Protocol fees taken out.',
  protocol_user_withdraw_v0: 'Protocol fees of an account taken out.',
  transfer_fee_and_pnl_pool: 'Transfers between the fee and P&L pools of perp markets.',
  market_initialize_v0: 'Market-level book: opened.',
  market_update_v0: 'Market-level book: settings changed.',
  market_resize_v0: 'Market-level book: resized.',
  lp_settle: 'Liquidity pool: settlement with the AMM of a market.',
  lp_swap: 'Liquidity pool: swaps.',
  lp_mint_redeem: 'Liquidity pool: shares minted or redeemed.',
  lp_borrow_lend_deposit: 'Liquidity pool: deposits into and out of lending.',
  vault: 'Equity of a vault; the record does not name the vault.',
  vault_depositor:
    'Steps of vault depositors and, as `depositor_authority`, of managers: deposits, requests, withdrawals, fees.',
  vault_depositor_v1: 'The same for vaults with a protocol that takes fees besides the manager.',
  share_transfer: 'Vault shares that went from one depositor to another.',
  fuel_season: 'Fuel of a wallet over a season.',
  candle:
    'A candle without prices is withdrawn: the chain dropped the fills that its market began with. Take the newest version first.',
  unknown: 'Events whose body is not known, kept as they came.',
};

const OPENING = `# Tables

<!-- Written by \`npm run docs\` from the migrations and the schemas of events. Edit the source, not this page. -->

- One table per event of the programs, plus lookup tables (the same events in another order) and the output of reducers.
- **Every row once.** A row may be stored twice for a while: read \`FROM table FINAL\`, or \`LIMIT 1 BY\` the end of the sorting key
  (\`signature, event_index\`).
- **Fast queries** narrow the beginning of the sorting key. Times are unix seconds in \`ts\`; \`ts_time\` is the same as a DateTime.
- **Whole numbers.** Amounts are raw integers with the scale given here: divide by it in the last step. \`order\` and \`unknown\` need
  backticks or a database before them.
- Base amounts of spot markets are units of the token (10^decimals) instead of 1e9.
- **Keys** are 32 bytes: compare with \`base58Decode('...')\`, show with the \`..._base58\` alias (aliases are not part of \`*\`).
- Fill price = quote_asset_amount_filled * 1e9 / base_asset_amount_filled (1e6).

Columns of every event, not repeated below: \`signature\` (FixedString(64)) and \`event_index\` (UInt32), which name the event;
\`slot\` (UInt64); \`tx_index\` (Nullable(UInt32)), its transaction's place in the block.
`;

/** The page as Markdown. */
export function tablesPage(): string {
  const tables = storedTables();
  const events = new Map(EVENT_NAMES.map((name) => [tableOf(name), name]));
  const sections = [...tables.values()].map((table) => section(table, events.get(table.name), tables));
  const index = [...tables.values()].map(({ name }) => `[\`${name}\`](#${name})`).join(', ');
  return `${[OPENING, `${index}\n`, ...sections].join('\n')}`;
}

function section(table: StoredTable, event: string | undefined, tables: ReadonlyMap<string, StoredTable>): string {
  const { name, comment, columns, aliases, orderBy, filledFrom } = table;
  const lookups = [...tables.values()].filter((other) => other.filledFrom === name);
  const isEvent = event !== undefined;
  const lines = [
    `## ${name}`,
    '',
    [ABOUT[name], comment].filter(Boolean).join(' ') || (event ?? ''),
    '',
    ...(isEvent ? [`- Event: \`${event}\``] : []),
    `- Sorting key: \`${orderBy}\``,
    ...(filledFrom === null ? [] : [`- Lookup table of [\`${filledFrom}\`](#${filledFrom}), filled with it`]),
    ...lookups.map((other) => `- In another order: [\`${other.name}\`](#${other.name}) (\`${other.orderBy}\`)`),
    ...(aliases.length > 0 ? [`- Aliases: ${aliases.map((alias) => `\`${alias.name}\``).join(', ')}`] : []),
    '',
    '| Column | Type | Unit |',
    '|---|---|---|',
    ...columns.filter((column) => !(isEvent && HEAD.has(column.name))).map(columnRow),
    '',
  ];
  return lines.join('\n');
}

function columnRow(column: Column): string {
  return `| \`${column.name}\` | ${column.type} | ${meaningOf(column) ?? ''} |`;
}
