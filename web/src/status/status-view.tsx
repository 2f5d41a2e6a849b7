// The status view for operators: lag of every stage, gaps, checks, connections, rows and offsets in the log.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { compact, count, dateTimeOf, decimal, duration } from '../format.ts';
import { Table } from '../parts/table.tsx';
import { connection, followBooks, headSlot, secondsWithoutSlot, slotsBehind } from '../state/book-feed.ts';
import { perpMarkets } from '../state/markets.ts';
import { noticeCounts } from '../state/notices.ts';
import { type Sample, total, totalsBy } from './prometheus.ts';
import { type Freshness, type MarketQuality, type Quality, useFreshness, useMetrics, useQuality } from './sources.ts';
import '../style/status.css';

const LATE_SLOTS = 10;

interface Stage {
  readonly name: string;
  readonly slot: number | null;
  readonly detail: string;
}

export function StatusView() {
  const market = perpMarkets.value[0]?.symbol ?? '';
  // The stage of this page needs a book to follow.
  useEffect(() => {
    if (market !== '') followBooks(market, 'perp', ['l2']);
  }, [market]);
  const quality = useQuality();
  const freshness = useFreshness();
  const metrics = useMetrics();
  const samples = metrics.data?.flatMap((one) => one.samples) ?? [];
  const isWithoutMetrics = metrics.data !== null && metrics.data.length === 0;
  return (
    <div class="page status" data-testid="status">
      <h1>Status</h1>
      {[quality.error, freshness.error, metrics.error].map((error) =>
        error === null ? null : (
          <p key={error} class="problem">
            {error}
          </p>
        ),
      )}
      {isWithoutMetrics ? (
        <p class="note">
          This deployment hands on no metrics. Set pageMetricsUrls to show stages, connections and rows here.
        </p>
      ) : null}
      {metrics.data?.map(({ process, error }) =>
        error === null ? null : (
          <p key={process} class="problem">
            No metrics of {process}: {error}
          </p>
        ),
      )}
      <Stages quality={quality.data} freshness={freshness.data} samples={samples} />
      <Figures samples={samples} freshness={freshness.data} />
      <h2>Gaps in the chain data</h2>
      <Gaps freshness={freshness.data} samples={samples} />
      <h2>Books and their sources</h2>
      <Books quality={quality.data} />
      <h2>Shadow checks</h2>
      <p class="note">Comparisons of accounts, book and view with a fresh read of the chain.</p>
      <Checks quality={quality.data} />
      <h2>History by stream</h2>
      <Streams freshness={freshness.data} />
      <h2>Records not yet applied</h2>
      <LogPositions samples={samples} />
      <h2>Rows stored</h2>
      <Rows samples={samples} />
    </div>
  );
}

function stagesOf(quality: Quality | null, freshness: Freshness | null, samples: readonly Sample[]): readonly Stage[] {
  const slots = (quality?.markets ?? []).flatMap(({ slot }) => (slot === null ? [] : [slot]));
  const rpcSlot = total(samples, 'slotbook_chain_slot');
  const stored = total(samples, 'slotbook_sink_lag_records');
  const client = connection.value.is === 'open' ? 'connected' : connection.value.is;
  return [
    { name: 'Chain (RPC node)', slot: rpcSlot, detail: rpcSlot === null ? 'from metrics' : 'newest slot of the node' },
    {
      ...{ name: 'Ingest', slot: total(samples, 'slotbook_ingest_slot') ?? quality?.slot ?? null },
      detail: `${count(total(samples, 'slotbook_ingest_reconnects_total') ?? 0)} reconnects`,
    },
    {
      ...{ name: 'Book role', slot: total(samples, 'slotbook_book_slot') },
      detail: `${count(total(samples, 'slotbook_book_lag_records') ?? 0)} records behind`,
    },
    {
      ...{ name: 'Published books', slot: slots.length === 0 ? null : Math.min(...slots) },
      detail: `the oldest of ${count(slots.length)} markets`,
    },
    {
      ...{ name: 'Store', slot: freshness?.newest?.slot ?? null },
      detail: `${count(freshness?.eventsNotStored ?? stored ?? 0)} events not stored`,
    },
    {
      ...{ name: 'This page', slot: headSlot.value },
      detail: `${client}, ${count(slotsBehind.value ?? 0)} slots behind, slot ${duration(secondsWithoutSlot.value)} old`,
    },
  ];
}

function Stages(props: {
  readonly quality: Quality | null;
  readonly freshness: Freshness | null;
  readonly samples: readonly Sample[];
}) {
  const stages = stagesOf(props.quality, props.freshness, props.samples);
  const head = Math.max(0, ...stages.map(({ slot }) => slot ?? 0));
  return (
    <ol class="stages" aria-label="Stages from chain to client">
      {stages.map(({ name, slot, detail }) => {
        const lag = slot === null ? null : head - slot;
        return (
          <li key={name} class={lag === null ? 'unknown' : lag > LATE_SLOTS ? 'late' : ''}>
            <h2>{name}</h2>
            <p class="slot">{slot === null ? 'unknown' : count(slot)}</p>
            <p>{lag === null ? '' : lag === 0 ? 'newest' : `${count(lag)} slots behind`}</p>
            <p class="muted">{detail}</p>
          </li>
        );
      })}
    </ol>
  );
}

/** Increase of a sum a second since the reading before. */
function useRate(value: number | null): number | null {
  const last = useRef<{ value: number; atMs: number; rate: number | null } | null>(null);
  if (value === null) return null;
  const atMs = Date.now();
  const before = last.current;
  if (!before) last.current = { value, atMs, rate: null };
  else if (value !== before.value) {
    last.current = {
      value,
      atMs,
      rate: Math.max(0, ((value - before.value) * 1000) / Math.max(1, atMs - before.atMs)),
    };
  }
  return last.current?.rate ?? null;
}

function Figures({
  samples,
  freshness,
}: {
  readonly samples: readonly Sample[];
  readonly freshness: Freshness | null;
}) {
  const events = useRate(total(samples, 'slotbook_ingest_events_total'));
  const changes = useRate(total(samples, 'slotbook_book_changes_total'));
  const messages = useRate(total(samples, 'slotbook_gateway_messages_total'));
  const health = samples.filter(({ name }) => name === 'health_status').map(({ value }) => value);
  const { lost = 0, resumed = 0, gap = 0 } = noticeCounts.value;
  const cards: readonly (readonly [string, string, string])[] = [
    [
      'Health',
      health.length === 0 ? '–' : Math.max(...health) === 0 ? 'OK' : `status ${Math.max(...health)}`,
      'of all processes',
    ],
    ['Events', events === null ? '–' : `${decimal(events, 0)}/s`, 'appended by ingest'],
    ['Book changes', changes === null ? '–' : `${decimal(changes, 0)}/s`, 'published'],
    ['Messages', messages === null ? '–' : `${decimal(messages, 0)}/s`, 'sent by the gateway'],
    ['Connections', count(total(samples, 'slotbook_gateway_connections')), 'of the gateway'],
    ['History sockets', count(total(samples, 'slotbook_history_connections')), 'of the history service'],
    [
      'Rows stored',
      compact(total(samples, 'slotbook_sink_rows_total')),
      `${count(freshness?.eventsNotStored ?? 0)} waiting`,
    ],
    ['Resumes', count(total(samples, 'slotbook_feed_resumes_total', { outcome: 'recovered' })), 'recovered by clients'],
    ['This page', `${count(lost)} losses`, `${count(resumed)} resumes, ${count(gap)} gaps`],
  ];
  return (
    <dl class="cards">
      {cards.map(([name, value, detail]) => (
        <div key={name} class="card">
          <dt>{name}</dt>
          <dd>
            {value}
            <small class="muted">{detail}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Gaps({ freshness, samples }: { readonly freshness: Freshness | null; readonly samples: readonly Sample[] }) {
  const open = total(samples, 'slotbook_ingest_open_gaps');
  return (
    <>
      {open === null ? null : <p class="note">{count(open)} gaps are open.</p>}
      <Scroll label="Gaps">
        <Table
          caption="Gaps in the chain data, newest first"
          rows={freshness?.gaps ?? []}
          keyOf={({ fromSlot, toSlot, foundTs }) => `${fromSlot}-${toSlot}-${foundTs}`}
          empty="No gap was found."
          columns={[
            { head: 'From slot', cell: ({ fromSlot }) => count(fromSlot), isNumber: true },
            { head: 'To slot', cell: ({ toSlot }) => count(toSlot), isNumber: true },
            { head: 'Reason', cell: ({ reason }) => reason },
            { head: 'Found', cell: ({ foundTs }) => dateTimeOf(foundTs) },
            {
              head: 'State',
              cell: ({ filled, lasting, filledTs }) =>
                filled ? `filled ${dateTimeOf(filledTs)}` : lasting ? 'cannot be filled' : 'being filled',
            },
          ]}
        />
      </Scroll>
    </>
  );
}

function Scroll({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling table must be reachable by key
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}

function Books({ quality }: { readonly quality: Quality | null }) {
  const sources = ['user', 'clob', 'market', 'oracle', 'trades'] as const;
  return (
    <Scroll label="Books">
      <Table<MarketQuality>
        caption="Published books and the age of their sources"
        rows={quality?.markets ?? []}
        keyOf={({ marketName }) => marketName}
        empty="No book is published."
        columns={[
          { head: 'Market', cell: ({ marketName }) => marketName },
          { head: 'Slot', cell: ({ slot }) => count(slot), isNumber: true },
          { head: 'Epoch', cell: ({ epoch }) => count(epoch), isNumber: true },
          { head: 'Sequence', cell: ({ seq }) => count(seq), isNumber: true },
          ...sources.map((name) => ({
            head: `${name}, ms`,
            cell: (market: MarketQuality) => count(market.sources[name]?.msSinceLastEvent),
            isNumber: true,
          })),
          {
            head: 'Gaps found / filled',
            cell: (market) => {
              const all = Object.values(market.sources);
              const sum = (pick: (source: (typeof all)[number]) => number) => all.reduce((a, b) => a + pick(b), 0);
              return `${count(sum(({ gapsFound }) => gapsFound))} / ${count(sum(({ gapsFilled }) => gapsFilled))}`;
            },
            isNumber: true,
          },
        ]}
      />
    </Scroll>
  );
}

function Checks({ quality }: { readonly quality: Quality | null }) {
  const rows = (quality?.markets ?? []).flatMap(({ marketName, checks }) =>
    Object.entries(checks).map(([name, check]) => ({ marketName, name, ...check })),
  );
  const words = { none: 'not compared yet', equal: 'equal', differs: 'differs' };
  return (
    <Scroll label="Checks">
      <Table
        caption="Comparisons with the chain"
        rows={rows}
        keyOf={({ marketName, name }) => `${marketName} ${name}`}
        empty="No market is checked."
        className={({ lastResult }) => (lastResult === 'differs' ? 'liquidation' : '')}
        columns={[
          { head: 'Market', cell: ({ marketName }) => marketName },
          { head: 'Check', cell: ({ name }) => name },
          { head: 'Comparisons', cell: ({ comparisons }) => count(comparisons), isNumber: true },
          { head: 'Differences', cell: ({ differences }) => count(differences), isNumber: true },
          { head: 'Last slot', cell: ({ lastSlot }) => count(lastSlot), isNumber: true },
          { head: 'Last result', cell: ({ lastResult }) => words[lastResult] },
        ]}
      />
    </Scroll>
  );
}

function Streams({ freshness }: { readonly freshness: Freshness | null }) {
  return (
    <Scroll label="Streams">
      <Table
        caption="Newest row of each stream"
        rows={freshness?.streams ?? []}
        keyOf={({ stream }) => stream}
        empty="The history service has not answered yet."
        columns={[
          { head: 'Stream', cell: ({ stream }) => stream },
          { head: 'Table', cell: ({ table }) => table },
          { head: 'Newest slot', cell: ({ lastSlot }) => count(lastSlot), isNumber: true },
          { head: 'Newest row', cell: ({ lastTs }) => dateTimeOf(lastTs) },
          { head: 'Slots since', cell: ({ lagSlots }) => count(lagSlots), isNumber: true },
        ]}
      />
    </Scroll>
  );
}

const LAG_METRIC = /^slotbook_(\w+)_lag_records$/;

function LogPositions({ samples }: { readonly samples: readonly Sample[] }) {
  const rows = samples.flatMap(({ name, labels, value }) => {
    const role = LAG_METRIC.exec(name)?.[1];
    return role === undefined ? [] : [{ role, topic: labels.topic ?? '', partition: labels.partition ?? '', value }];
  });
  return (
    <Scroll label="Records not yet applied">
      <Table
        caption="Records of the log that a role has not yet applied"
        rows={rows}
        keyOf={({ role, topic, partition }) => `${role} ${topic} ${partition}`}
        empty="No process reports its offset in the log."
        columns={[
          { head: 'Role', cell: ({ role }) => role },
          { head: 'Topic', cell: ({ topic }) => topic },
          { head: 'Partition', cell: ({ partition }) => partition, isNumber: true },
          { head: 'Records behind', cell: ({ value }) => count(value), isNumber: true },
        ]}
      />
    </Scroll>
  );
}

function Rows({ samples }: { readonly samples: readonly Sample[] }) {
  return (
    <Scroll label="Rows stored">
      <Table
        caption="Rows acknowledged by ClickHouse since the sink started, by table"
        rows={totalsBy(samples, 'slotbook_sink_rows_total', 'table')}
        keyOf={([table]) => table}
        empty="No process reports stored rows."
        columns={[
          { head: 'Table', cell: ([table]) => table },
          { head: 'Rows', cell: ([, value]) => count(value), isNumber: true },
        ]}
      />
    </Scroll>
  );
}
