// Says how fresh the page's numbers are: live, late, standing still, or wrong. In words, with a remedy.

import { computed } from '@preact/signals';
import { addresses } from '../addresses.ts';
import { duration } from '../format.ts';
import { isTravelling, travelError, travelSlot } from '../travel/travel.ts';
import { books, connection, isAwaitingSnapshot, secondsWithoutSlot, slotsBehind } from './book-feed.ts';
import { now } from './clock.ts';

export type FreshnessKind = 'live' | 'late' | 'stale' | 'lost' | 'waiting' | 'wrong' | 'earlier' | 'none';

export interface Freshness {
  readonly kind: FreshnessKind;
  /** One or two words. */
  readonly label: string;
  /** A sentence; empty while all is well. */
  readonly explanation: string;
  /** True while prices must not look alive. */
  readonly isStale: boolean;
}

/** Heartbeats name the newest slot every 5 s, so a shorter silence says nothing. */
const NO_SLOT_SECONDS = 8;
/** A chain makes 2.5 slots a second; more than this is more than a moment. */
const LATE_SLOTS = 10;

export const freshness = computed<Freshness>(() => {
  const stale = (kind: FreshnessKind, label: string, explanation: string): Freshness => ({
    ...{ kind, label, explanation, isStale: true },
  });
  if (isTravelling.value) return earlier();
  if (addresses.gateway === null) return stale('none', 'No feed', 'This page has no address of the gateway.');
  const link = connection.value;
  const book = books.l2.value;
  const standing = book ? ` The book stands at slot ${book.slot}.` : '';
  if (link.is === 'lost') {
    const since = duration((now.value - link.atMs) / 1000);
    return stale(
      'lost',
      'Connection lost',
      `Lost for ${since} (${link.reason}). The page tries again by itself.${standing}`,
    );
  }
  if (link.is === 'connecting') return stale('waiting', 'Connecting', '');
  if (isAwaitingSnapshot.value) {
    return stale('wrong', 'Book incomplete', `A message was missing or wrong. A new snapshot is requested.${standing}`);
  }
  if (!book) return stale('waiting', 'Waiting for the book', '');
  if (secondsWithoutSlot.value > NO_SLOT_SECONDS) {
    const since = duration(secondsWithoutSlot.value);
    return stale(
      'stale',
      'Standing still',
      `No new slot for ${since}. Ingest or the chain has stopped; the status view says more.${standing}`,
    );
  }
  const behind = slotsBehind.value ?? 0;
  if (behind > LATE_SLOTS) {
    const explanation = `The books are ${behind} slots behind the chain. Prices are older than they look.`;
    return { kind: 'late', label: 'Late', explanation, isStale: false };
  }
  return { kind: 'live', label: 'Live', explanation: '', isStale: false };
});

function earlier(): Freshness {
  const error = travelError.value;
  return {
    kind: 'earlier',
    label: `Slot ${travelSlot.value}`,
    explanation: error ?? '',
    isStale: error !== null,
  };
}
