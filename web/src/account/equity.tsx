// Equity and profit of an account over time.

import { useSignal } from '@preact/signals';
import { createChart, LineSeries } from 'lightweight-charts';
import { useEffect, useRef } from 'preact/hooks';
import type { HistoryAnswer } from '../../../client/index.ts';
import { Attribution } from '../charts/attribution.tsx';
import { chartOptions, timeOfChart } from '../charts/chart-base.ts';
import { rawAmount } from '../format.ts';
import { AnswerState } from '../parts/answer-state.tsx';
import { palette } from '../parts/palette.ts';
import { usePolled } from '../parts/use-polled.ts';
import { history } from '../services.ts';

const QUOTE = 6;
const QUOTE_UNITS = 1e6;
const REFRESH_MS = 30_000;
const SPANS = [1, 7, 30, 100] as const;

type Snapshot = HistoryAnswer<'/user/{accountId}/snapshots/trading'>['snapshots'][number];

export function Equity({ account }: { readonly account: string }) {
  const days = useSignal<number>(7);
  const element = useRef<HTMLDivElement>(null);
  const span = days.value;
  const polled = usePolled(
    `${account} ${span}`,
    (signal) => history.get('/user/{accountId}/snapshots/trading', { accountId: account, days: span }, { signal }),
    REFRESH_MS,
  );
  const snapshots = polled.data?.snapshots ?? [];
  const colours = palette.value;
  useEffect(() => {
    if (!element.current || snapshots.length === 0) return;
    const chart = createChart(element.current, chartOptions(colours));
    const lineOf = (name: keyof Snapshot, title: string, color: string, pane: number) =>
      chart
        .addSeries(LineSeries, { title, color, lineWidth: 2 }, pane)
        .setData(snapshots.map((one) => ({ time: timeOfChart(one.ts), value: Number(one[name]) / QUOTE_UNITS })));
    lineOf('accountBalance', 'Equity', colours.accent, 0);
    lineOf('cumulativeRealizedPnl', 'Realized P&L', colours.bid, 1);
    lineOf('unrealizedPnl', 'Unrealized P&L', colours.own, 1);
    chart.timeScale().fitContent();
    return () => chart.remove();
  }, [polled.data, colours]);
  const newest = snapshots.at(-1);
  const cards: readonly (readonly [string, string | undefined])[] = [
    ['Equity', newest?.accountBalance],
    ['Unrealized P&L', newest?.unrealizedPnl],
    ['Realized P&L', newest?.cumulativeRealizedPnl],
    ['Funding', newest?.cumulativeFunding],
    ['Fees paid', newest?.cumulativeFeePaid],
    ['Taker volume', newest?.cumulativeTakerVolume],
    ['Maker volume', newest?.cumulativeMakerVolume],
  ];
  return (
    <section aria-label="Equity and profit">
      <dl class="cards">
        {cards.map(([name, value]) => (
          <div key={name} class="card">
            <dt>{name}</dt>
            <dd>{rawAmount(value, QUOTE, 2, 2)}</dd>
          </div>
        ))}
      </dl>
      <div class="panel-bar">
        <fieldset class="choices">
          <legend class="hidden">Days shown</legend>
          {SPANS.map((span) => (
            <button
              key={span}
              type="button"
              aria-pressed={days.value === span}
              onClick={() => {
                days.value = span;
              }}
            >
              {span === 1 ? '1 day' : `${span} days`}
            </button>
          ))}
        </fieldset>
        <AnswerState polled={polled} />
      </div>
      {polled.data !== null && snapshots.length === 0 ? <p class="note">Nothing of this account is stored.</p> : null}
      <div
        class="equity-chart"
        ref={element}
        role="img"
        aria-label="Equity, realized and unrealized profit over time"
      />
      <Attribution />
    </section>
  );
}
