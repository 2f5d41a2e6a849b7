// The tables below the chart: top makers, unsettled P&L, leaderboard, liquidations, and what happened to the feed.

import { useSignal } from '@preact/signals';
import type { HistoryRecord } from '../../../client/index.ts';
import { compact, count, dateTimeOf, decimal, rawAmount, shortKey } from '../format.ts';
import { AnswerState } from '../parts/answer-state.tsx';
import { Table } from '../parts/table.tsx';
import { usePolled } from '../parts/use-polled.ts';
import { linkOf } from '../route.ts';
import { history, orderbook } from '../services.ts';
import { marketOf, markets } from '../state/markets.ts';
import { noticeCounts, notices } from '../state/notices.ts';

const QUOTE = 6;

export function AccountLink({ account }: { readonly account: string }) {
  return (
    <a class="key" href={linkOf({ view: 'account', subject: account, options: {} })} title={account}>
      {shortKey(account)}
    </a>
  );
}

const MAKERS = 10;

/** Accounts of the best orders of a side. Without `includeAccounts` the answer is keys alone. */
const makersOf = (marketName: string, side: 'bid' | 'ask') => async (signal: AbortSignal) =>
  (await orderbook.get('/topMakers', { marketName, side, limit: MAKERS }, { signal })) as readonly string[];

export function TopMakers({ market }: { readonly market: string }) {
  const bids = usePolled(market, makersOf(market, 'bid'));
  const asks = usePolled(market, makersOf(market, 'ask'));
  const rows = Array.from({ length: Math.max(bids.data?.length ?? 0, asks.data?.length ?? 0) }, (_, index) => ({
    ...{ rank: index + 1, bid: bids.data?.[index], ask: asks.data?.[index] },
  }));
  return (
    <>
      <AnswerState polled={bids.error === null ? asks : bids} />
      <Table
        caption={`Makers of the best orders of ${market}`}
        rows={rows}
        keyOf={({ rank }) => String(rank)}
        empty="No maker has an order in this market."
        columns={[
          { head: 'Rank', cell: ({ rank }) => rank, isNumber: true },
          { head: 'Best bids', cell: ({ bid }) => (bid ? <AccountLink account={bid} /> : '–') },
          { head: 'Best asks', cell: ({ ask }) => (ask ? <AccountLink account={ask} /> : '–') },
        ]}
      />
    </>
  );
}

export function Unsettled({ market }: { readonly market: string }) {
  const summary = marketOf(market);
  const isPerp = summary?.marketType === 'perp';
  const marketIndex = summary?.marketIndex ?? 0;
  const polled = usePolled(isPerp ? market : null, (signal) =>
    orderbook.get('/unsettledPnlUsers', { marketIndex }, { signal }),
  );
  if (!isPerp) return <p class="note">Only perp markets have unsettled profit and loss.</p>;
  const rows = [...(polled.data?.gainers ?? []), ...(polled.data?.losers ?? []).toReversed()];
  return (
    <>
      <AnswerState polled={polled} />
      <Table
        caption={`Largest claimable gains and losses in ${market}`}
        rows={rows}
        keyOf={({ userPubKey }) => userPubKey}
        empty="No account has profit or loss to settle."
        columns={[
          { head: 'Account', cell: ({ userPubKey }) => <AccountLink account={userPubKey} /> },
          { head: 'Claimable P&L', cell: ({ pnl }) => <Signed value={pnl} />, isNumber: true },
        ]}
      />
    </>
  );
}

export function Signed({ value, decimals = 2 }: { readonly value: number; readonly decimals?: number }) {
  return <span class={value < 0 ? 'ask' : 'bid'}>{decimal(value, decimals)}</span>;
}

const BOARD_MS = 30_000;
const ROWS = 50;

export function Leaderboard() {
  const sort = useSignal<'pnl' | 'volume'>('pnl');
  const by = sort.value;
  const polled = usePolled(
    by,
    (signal) => history.get('/stats/leaderboard', { sort: by, limit: ROWS }, { signal }),
    BOARD_MS,
  );
  return (
    <>
      <div class="panel-bar">
        <fieldset class="choices">
          <legend class="hidden">Order of the leaderboard</legend>
          {(['pnl', 'volume'] as const).map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={sort.value === name}
              onClick={() => {
                sort.value = name;
              }}
            >
              {name === 'pnl' ? 'by P&L' : 'by volume'}
            </button>
          ))}
        </fieldset>
        <AnswerState polled={polled} />
      </div>
      <Table
        caption="Wallets of the last 30 days"
        rows={polled.data?.data.leaderboard ?? []}
        keyOf={({ authority }) => authority}
        empty="No wallet has traded in the last 30 days."
        columns={[
          { head: 'Rank', cell: ({ rank }) => rank, isNumber: true },
          { head: 'Wallet', cell: ({ authority }) => <AccountLink account={authority} /> },
          { head: 'P&L, 30 days', cell: ({ pnl }) => <Signed value={Number(pnl) / 10 ** QUOTE} />, isNumber: true },
          { head: 'Volume', cell: ({ volume }) => rawAmount(volume, QUOTE, 0, 0), isNumber: true },
        ]}
      />
    </>
  );
}

type Liquidation = HistoryRecord<'/stats/liquidations'>;
const LIQUIDATIONS_MS = 10_000;

export function LiquidationList() {
  const polled = usePolled(
    'liquidations',
    (signal) => history.get('/stats/liquidations', { limit: ROWS }, { signal }),
    LIQUIDATIONS_MS,
  );
  const perps = markets.value.filter(({ marketType }) => marketType === 'perp');
  const nameOf = ({ liquidationType, liquidatePerp_marketIndex: index }: Liquidation) =>
    liquidationType === 'liquidatePerp'
      ? (perps.find(({ marketIndex }) => marketIndex === index)?.symbol ?? index)
      : '–';
  const stats = polled.data?.stats;
  return (
    <>
      <div class="panel-bar">
        {stats ? (
          <p class="note">
            24 h: {count(stats['24h'].count)} of {compact(Number(stats['24h'].amount) / 10 ** QUOTE)}. 30 days:{' '}
            {count(stats['30d'].count)} of {compact(Number(stats['30d'].amount) / 10 ** QUOTE)}.
          </p>
        ) : null}
        <AnswerState polled={polled} />
      </div>
      <Table
        caption="Newest liquidations"
        rows={polled.data?.records ?? []}
        keyOf={({ txSig, txSigIndex }) => `${txSig}/${txSigIndex}`}
        empty="No liquidation in the last 31 days."
        columns={[
          { head: 'Time', cell: ({ ts }) => dateTimeOf(ts) },
          { head: 'Slot', cell: ({ slot }) => count(slot), isNumber: true },
          { head: 'Market', cell: nameOf },
          { head: 'Kind', cell: ({ liquidationType }) => kindOf(liquidationType) },
          {
            head: 'Amount',
            cell: (row) => rawAmount(String(row.liquidatePerp_quoteAssetAmount).replace('-', ''), QUOTE, 0, 0),
            isNumber: true,
          },
          { head: 'Account', cell: ({ user }) => <AccountLink account={user} /> },
          { head: 'Liquidator', cell: ({ liquidator }) => <AccountLink account={liquidator} /> },
        ]}
      />
    </>
  );
}

/** `liquidateBorrowForPerpPnl` reads `borrow for perp pnl`. */
export function kindOf(name: string): string {
  return name
    .replace(/^liquidate/, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
}

export function FeedNotices() {
  const kinds = noticeCounts.value;
  return (
    <>
      <p class="note">
        Since this page was opened: {count(kinds.lost ?? 0)} losses, {count(kinds.resumed ?? 0)} resumes,{' '}
        {count(kinds.snapshot ?? 0)} snapshots instead of a resume, {count(kinds.gap ?? 0)} gaps,{' '}
        {count(kinds.mismatch ?? 0)} checksum differences, {count(kinds.epoch ?? 0)} new epochs,{' '}
        {count(kinds.malformed ?? 0)} unreadable messages.
      </p>
      <ul class="notices" data-testid="notices">
        {notices.value.map(({ id, atMs, text, kind }) => (
          <li key={id} data-kind={kind}>
            <time>{dateTimeOf(Math.floor(atMs / 1000))}</time> {text}
          </li>
        ))}
      </ul>
    </>
  );
}
