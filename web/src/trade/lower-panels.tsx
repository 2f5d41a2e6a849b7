// The tabs below the chart.

import { useSignal } from '@preact/signals';
import { OverTime } from '../charts/over-time.tsx';
import { lazy } from '../parts/lazy.tsx';
import { Tabs } from '../parts/tabs.tsx';

const panels = () => import('./panels.tsx');
const TopMakers = lazy(async () => (await panels()).TopMakers);
const Unsettled = lazy(async () => (await panels()).Unsettled);
const Leaderboard = lazy(async () => (await panels()).Leaderboard);
const LiquidationList = lazy(async () => (await panels()).LiquidationList);
const FeedNotices = lazy(async () => (await panels()).FeedNotices);

const CHOICES = [
  { name: 'time', label: 'Over time' },
  { name: 'makers', label: 'Top makers' },
  { name: 'pnl', label: 'Unsettled P&L' },
  { name: 'board', label: 'Leaderboard' },
  { name: 'liquidations', label: 'Liquidations' },
  { name: 'feed', label: 'Feed' },
] as const;
type Panel = (typeof CHOICES)[number]['name'];

export function LowerPanels({ market }: { readonly market: string }) {
  const panel = useSignal<Panel>('time');
  const chosen = panel.value;
  return (
    <Tabs
      id="lower"
      label="More about the market"
      choices={CHOICES}
      chosen={chosen}
      onChoose={(name) => {
        panel.value = name;
      }}
    >
      {chosen === 'time' ? <OverTime market={market} /> : null}
      {chosen === 'makers' ? <TopMakers market={market} /> : null}
      {chosen === 'pnl' ? <Unsettled market={market} /> : null}
      {chosen === 'board' ? <Leaderboard /> : null}
      {chosen === 'liquidations' ? <LiquidationList /> : null}
      {chosen === 'feed' ? <FeedNotices /> : null}
    </Tabs>
  );
}
