// The age of an answer, or why there is none.

import { duration } from '../format.ts';
import { now } from '../state/clock.ts';
import type { Polled } from './use-polled.ts';

export function AnswerState({ polled }: { readonly polled: Polled<unknown> }) {
  if (polled.error !== null) return <p class="problem">{polled.error}</p>;
  if (polled.atMs === null) return <p class="note">Loading.</p>;
  return <p class="age">{duration((now.value - polled.atMs) / 1000)} old</p>;
}
