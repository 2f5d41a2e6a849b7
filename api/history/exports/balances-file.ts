// File type `balances`: one row for each account and token, with the opening balance, the movements by kind and the closing
// balance (docs/internals/exports.md, "Balances").

import type { MarketRegistry } from '../../views/registry.ts';
import { plainText } from '../csv-text.ts';
import type { TokenMoveKind, TokenMoveRow } from '../queries/snapshots.ts';
import { type BalancePoint, sum } from '../snapshots/balances.ts';
import type { Grid } from '../snapshots/grid.ts';
import { spotName, type TokenHistory, tokensByUser } from '../snapshots/load.ts';
import type { HistoryStore } from '../store.ts';
import { csvLine } from './csv-cells.ts';

/**
 * Tokens in mint decimals. `openingBalance` + `earlierBalance` + `deposits` - `withdrawals` + `rewards` + `swapsReceived` -
 * `swapsPaid` + `settledPnl` + `liquidations` + `interest` = `closingBalance`.
 */
export interface BalanceRow {
  readonly user: string;
  readonly marketIndex: number;
  readonly symbol: string;
  /** Unix seconds, both inclusive. */
  readonly from: number;
  readonly to: number;
  /** Balance before the first second of the range. */
  readonly openingBalance: bigint;
  /** Balance of the account before its first stored record, where a deposit record of the range first shows it. */
  readonly earlierBalance: bigint;
  readonly deposits: bigint;
  readonly withdrawals: bigint;
  readonly rewards: bigint;
  readonly swapsReceived: bigint;
  readonly swapsPaid: bigint;
  readonly settledPnl: bigint;
  /** Received less given in liquidations and bankruptcies, on either side. */
  readonly liquidations: bigint;
  /** Interest between records of the account, and movements that no record of it shows. */
  readonly interest: bigint;
  /** Balance at the end of the last second. */
  readonly closingBalance: bigint;
  /** Tokens moved before the first deposit record, so the balances start at an unknown amount. */
  readonly isIncomplete: boolean;
}

const COLUMNS = [
  'user',
  'marketIndex',
  'symbol',
  'from',
  'to',
  'openingBalance',
  'earlierBalance',
  'deposits',
  'withdrawals',
  'rewards',
  'swapsReceived',
  'swapsPaid',
  'settledPnl',
  'liquidations',
  'interest',
  'closingBalance',
  'isIncomplete',
] as const satisfies readonly (keyof BalanceRow)[];

export interface BalanceScope {
  readonly users: readonly string[];
  readonly from: number;
  readonly to: number;
  /** Restricts the rows to one token. */
  readonly marketIndex: number | null;
}

/** Rows by account in the given order, then by market index. */
export async function balanceRows(
  store: HistoryStore,
  markets: MarketRegistry,
  scope: BalanceScope,
): Promise<readonly BalanceRow[]> {
  const { users, from, to, marketIndex } = scope;
  const grid: Grid = { first: from - 1, step: to - from + 1, times: [from - 1, to] };
  const histories = await tokensByUser({ store, markets }, users, grid);
  return users.flatMap((user) => {
    const rows = statementOf(histories.get(user) ?? { moves: [], points: [] });
    const wanted = rows.filter((row) => marketIndex === null || row.marketIndex === marketIndex);
    return wanted.map((row): BalanceRow => {
      const symbol = markets.byKey(spotName(row.marketIndex))?.symbol ?? '';
      return { user, symbol, from, to, ...row };
    });
  });
}

type TokenStatement = Omit<BalanceRow, 'user' | 'symbol' | 'from' | 'to'>;

/** Statements of one account, from its two balance points and the movements between them. Tokens without any are left out. */
function statementOf({ moves, points: [opening, closing] }: TokenHistory): readonly TokenStatement[] {
  if (!opening || !closing) return [];
  const rows = closing.balances.map(({ marketIndex }): TokenStatement => {
    const own = moves.filter((move) => move.marketIndex === marketIndex && move.bucket === '1');
    const openingBalance = balanceOf(opening, marketIndex);
    const closingBalance = balanceOf(closing, marketIndex);
    const moved = sum(own.map(({ delta }) => BigInt(delta)));
    const earlierBalance = balanceBefore(moves.filter((move) => move.marketIndex === marketIndex));
    return {
      marketIndex,
      openingBalance,
      earlierBalance,
      deposits: received(own, 'deposit'),
      withdrawals: -received(own, 'withdraw'),
      rewards: received(own, 'reward'),
      swapsReceived: sum(deltasOf(own, 'swap').filter((delta) => delta > 0n)),
      swapsPaid: -sum(deltasOf(own, 'swap').filter((delta) => delta < 0n)),
      settledPnl: received(own, 'settle'),
      liquidations: received(own, 'liquidation'),
      interest: closingBalance - openingBalance - earlierBalance - moved,
      closingBalance,
      isIncomplete: closing.isIncomplete,
    };
  });
  return rows.filter(({ marketIndex, openingBalance, closingBalance }) => {
    const hasMoved = moves.some((move) => move.marketIndex === marketIndex && move.bucket === '1');
    return hasMoved || openingBalance !== 0n || closingBalance !== 0n;
  });
}

/** The balance before the first of a token's movements, when the first deposit record lies in the range; else 0. */
function balanceBefore(moves: readonly TokenMoveRow[]): bigint {
  const at = moves.findIndex(({ after }) => after !== null);
  const first = moves[at];
  if (!first || first.after === null || first.bucket !== '1') return 0n;
  return BigInt(first.after) - sum(moves.slice(0, at + 1).map(({ delta }) => BigInt(delta)));
}

const balanceOf = ({ balances }: BalancePoint, marketIndex: number): bigint =>
  balances.find((token) => token.marketIndex === marketIndex)?.balance ?? 0n;
const deltasOf = (moves: readonly TokenMoveRow[], kind: TokenMoveKind): readonly bigint[] =>
  moves.filter((move) => move.kind === kind).map(({ delta }) => BigInt(delta));
const received = (moves: readonly TokenMoveRow[], kind: TokenMoveKind): bigint => sum(deltasOf(moves, kind));

export const BALANCES_HEADER = csvLine(COLUMNS);

/** CSV lines of rows. */
export function balanceLines(rows: readonly BalanceRow[]): string {
  return rows
    .map((row) =>
      csvLine(
        COLUMNS.map((name) => {
          const value = row[name];
          if (typeof value === 'bigint') return String(value);
          return name === 'symbol' ? plainText(row.symbol) : value;
        }),
      ),
    )
    .join('');
}
