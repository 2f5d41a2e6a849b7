// The lists of an account: where each is asked for, its columns, and its pages.

import type { HistoryParams, PagedPath } from '../../../client/index.ts';
import { amount, dateTimeOf, rawAmount } from '../format.ts';
import type { Column } from '../parts/table.tsx';
import { history } from '../services.ts';
import { parametersOf } from '../state/markets.ts';
import { sideOf } from './open-positions.ts';
import type { Row } from './row.ts';

/** Where the records of a list are asked for. */
export interface ListSource {
  readonly path: Extract<PagedPath, `/user/{accountId}/${string}`>;
  readonly marketFilter?: 'perp' | 'spot';
}

export interface AccountList extends ListSource {
  /** In the address and in the names of files. */
  readonly name: string;
  readonly label: string;
  readonly empty: string;
  readonly columns: readonly Column<Row>[];
}

type FillPath = '/user/{accountId}/trades';

interface Page {
  readonly records: readonly Row[];
  readonly meta: { readonly nextPage: string | null };
}

const QUOTE = 6;
const PRICE = 6;
export const PAGE_ROWS = 50;
/** 5,000 rows: more of a month come from the history service's monthly files. */
export const CSV_PAGES_MAX = 100;

export async function listPage(
  accountId: string,
  { path, marketFilter }: ListSource,
  page: string | null,
  signal?: AbortSignal,
): Promise<Page> {
  const params = { accountId, marketFilter, limit: PAGE_ROWS, page: page ?? undefined };
  // One set of parameters serves all these paths; the compiler wants one path.
  const answer = await history.get(path as FillPath, params as HistoryParams<FillPath>, signal ? { signal } : {});
  return answer as unknown as Page;
}

/** Every row of a list, newest first, up to `pagesMax` pages. */
export async function allRows(
  account: string,
  source: ListSource,
  pagesMax = CSV_PAGES_MAX,
  signal?: AbortSignal,
): Promise<{ readonly rows: readonly Row[]; readonly isWhole: boolean }> {
  const rows: Row[] = [];
  let page: string | null = null;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const { records, meta }: Page = await listPage(account, source, page, signal);
    rows.push(...records);
    page = meta.nextPage;
    if (page === null) return { rows, isWhole: true };
  }
  return { rows, isWhole: false };
}

const text = (row: Row, name: string): string | null => (row[name] === null ? null : String(row[name] ?? ''));
const baseDecimalsOf = (row: Row): number => parametersOf(String(row.symbol ?? '')).baseDecimals;

const time: Column<Row> = { head: 'Time', cell: ({ ts }) => dateTimeOf(ts), csv: ({ ts }) => ts };
const plain = (head: string, name: string): Column<Row> => ({
  head,
  cell: (row) => String(row[name] ?? '–'),
  csv: (row) => text(row, name),
});
/** CSV cells are the raw integers of the service. */
const quote = (head: string, name: string): Column<Row> => ({
  head,
  cell: (row) => rawAmount(text(row, name), QUOTE, 2, 4),
  csv: (row) => text(row, name),
  isNumber: true,
});
const price = (head: string, name: string): Column<Row> => ({
  head,
  cell: (row) => (text(row, name) === '0' ? '–' : rawAmount(text(row, name), PRICE, 2)),
  csv: (row) => text(row, name),
  isNumber: true,
});
const base = (head: string, name: string): Column<Row> => ({
  head,
  cell: (row) => (text(row, name) === null ? '–' : amount(BigInt(text(row, name) || '0'), baseDecimalsOf(row))),
  csv: (row) => text(row, name),
  isNumber: true,
});
const slot: Column<Row> = { ...plain('Slot', 'slot'), isNumber: true };
const transaction: Column<Row> = {
  head: 'Transaction',
  cell: ({ txSig }) => `${txSig.slice(0, 8)}…`,
  csv: ({ txSig }) => txSig,
};

const orderList = (kind: 'perp' | 'spot', columns: AccountList['columns']): AccountList => ({
  name: `orders-${kind}`,
  label: kind === 'perp' ? 'Perp orders' : 'Spot orders',
  path: '/user/{accountId}/orders/{marketFilter}',
  marketFilter: kind,
  empty: `No ${kind} order in the last 31 days.`,
  columns,
});

export function listsOf(account: string): readonly AccountList[] {
  const side: Column<Row> = { head: 'Side', cell: (row) => sideOf(row, account), csv: (row) => sideOf(row, account) };
  const role = (row: Row) => (row.taker === account ? 'taker' : 'maker');
  const orderColumns = [
    ...[time, slot, plain('Market', 'symbol'), plain('Order', 'orderId'), plain('Type', 'orderType')],
    ...[plain('Side', 'direction'), price('Price', 'price'), base('Size', 'baseAssetAmount')],
    ...[base('Filled', 'baseAssetAmountFilled'), plain('Status', 'status'), transaction],
  ];
  return [
    {
      label: 'Fills',
      name: 'trades',
      path: '/user/{accountId}/trades',
      empty: 'No fill in the last 31 days.',
      columns: [
        ...[
          time,
          slot,
          plain('Market', 'symbol'),
          side,
          { head: 'Role', cell: role, csv: role },
          price('Price', 'price'),
        ],
        ...[base('Size', 'baseAssetAmountFilled'), quote('Value', 'quoteAssetAmountFilled')],
        ...[quote('Taker fee', 'takerFee'), plain('How', 'actionExplanation'), transaction],
      ],
    },
    orderList('perp', orderColumns),
    orderList('spot', orderColumns),
    {
      label: 'Closed positions',
      name: 'positions',
      path: '/user/{accountId}/positions',
      empty: 'No position was reduced or closed in the last 31 days.',
      columns: [
        ...[time, slot, plain('Market', 'symbol'), side, price('Price', 'price')],
        ...[base('Closed', 'baseClosedForPnl'), quote('Entry value', 'userExistingQuoteEntryAmount')],
        ...[quote('Fee', 'userFee'), transaction],
      ],
    },
    {
      label: 'Funding',
      name: 'fundingPayments',
      path: '/user/{accountId}/fundingPayments',
      empty: 'No funding in the last 31 days.',
      columns: [
        ...[time, slot, plain('Market', 'symbol'), base('Position', 'baseAssetAmount')],
        ...[quote('Received', 'fundingPayment'), transaction],
      ],
    },
    {
      label: 'Settled P&L',
      name: 'settlePnl',
      path: '/user/{accountId}/settlePnl',
      empty: 'No profit or loss was settled in the last 31 days.',
      columns: [time, slot, plain('Market', 'symbol'), quote('P&L', 'pnl'), transaction],
    },
    {
      label: 'Deposits',
      name: 'deposits',
      path: '/user/{accountId}/deposits',
      empty: 'No deposit or withdrawal in the last 31 days.',
      columns: [
        ...[time, slot, plain('Market', 'symbol'), plain('Direction', 'direction')],
        ...[base('Amount', 'amount'), transaction],
      ],
    },
    {
      label: 'Liquidations',
      name: 'liquidations',
      path: '/user/{accountId}/liquidations',
      empty: 'No liquidation in the last 31 days.',
      columns: [time, slot, plain('Kind', 'liquidationType'), plain('Liquidator', 'liquidator'), transaction],
    },
  ];
}
