// The controls of time travel: slider, slot field, play, step, speed, and the link to this moment.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { count, dateTimeOf } from '../format.ts';
import { setOptions } from '../route.ts';
import { parametersOf } from '../state/markets.ts';
import { findEarliest, isPlaying, loadSlot, SPEEDS, speed } from './load.ts';
import { earliestSlot, isTravelLoading, latestSlot, travelError, travelSlot, travelTo, travelTs } from './travel.ts';

const COPIED_MS = 2_000;

export function TravelBar({ market }: { readonly market: string }) {
  const slot = travelSlot.value;
  const { baseDecimals } = parametersOf(market);
  useEffect(() => {
    if (slot !== null) void loadSlot(market, slot, baseDecimals);
  }, [market, slot, baseDecimals]);
  useEffect(() => {
    if (slot !== null && earliestSlot.value === null) void findEarliest(market);
  }, [market, slot]);
  if (slot === null) return null;
  const least = earliestSlot.value ?? Math.min(slot, latestSlot.value ?? slot);
  const most = Math.max(slot, latestSlot.value ?? slot);
  const step = (by: number) => () => travelTo(slot + by);
  return (
    <section class="travel" aria-label="Time travel" data-testid="travel">
      <button type="button" onClick={step(-1)} aria-label="One slot back" disabled={slot <= least}>
        ◀
      </button>
      <button
        type="button"
        aria-pressed={isPlaying.value}
        onClick={() => {
          isPlaying.value = !isPlaying.value;
        }}
      >
        {isPlaying.value ? 'Pause' : 'Play'}
      </button>
      <button type="button" onClick={step(1)} aria-label="One slot on" disabled={slot >= most}>
        ▶
      </button>
      <label>
        <span class="hidden">Speed</span>
        <select
          value={speed.value}
          onChange={({ currentTarget }) => {
            speed.value = Number(currentTarget.value);
          }}
        >
          {SPEEDS.map((factor) => (
            <option key={factor} value={factor}>
              {factor}×
            </option>
          ))}
        </select>
      </label>
      <input
        class="slider"
        type="range"
        aria-label="Slot"
        min={least}
        max={most}
        value={slot}
        onChange={({ currentTarget }) => travelTo(Number(currentTarget.value))}
      />
      <SlotField slot={slot} />
      <span class="muted moment">{travelTs.value === null ? '' : dateTimeOf(travelTs.value)}</span>
      <CopyLink />
      <button type="button" class="primary" onClick={() => setOptions({ slot: undefined })}>
        Back to live
      </button>
      <output class="travel-state" data-loading={isTravelLoading.value}>
        {travelError.value ?? (isTravelLoading.value ? 'Loading' : `Slots ${count(least)} to ${count(most)}`)}
      </output>
    </section>
  );
}

function SlotField({ slot }: { readonly slot: number }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const field = event.currentTarget.elements.namedItem('slot') as HTMLInputElement;
        if (/^\d+$/.test(field.value)) travelTo(Number(field.value));
      }}
    >
      <label>
        Slot <input key={slot} name="slot" type="text" inputMode="numeric" size={11} defaultValue={String(slot)} />
      </label>
    </form>
  );
}

/** Copies the address, which names market, slot and view. */
function CopyLink() {
  const copied = useSignal<'no' | 'yes' | 'failed'>('no');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      copied.value = 'yes';
    } catch {
      copied.value = 'failed';
    }
    setTimeout(() => {
      copied.value = 'no';
    }, COPIED_MS);
  };
  const texts = { no: 'Copy link', yes: 'Copied', failed: 'Copy it from the address bar' };
  return (
    <button type="button" onClick={copy}>
      {texts[copied.value]}
    </button>
  );
}
