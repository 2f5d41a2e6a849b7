// The line that says in words what the book is: its slot and age, commitment, epoch, sequence, checksum and resumes.

import { count, duration } from '../format.ts';
import { books, headSlot, slotsBehind } from '../state/book-feed.ts';
import { now } from '../state/clock.ts';
import { freshness } from '../state/freshness.ts';
import { noticeCounts } from '../state/notices.ts';
import { isTravelling, travelSlot } from '../travel/travel.ts';
import { displayedBook, showsIndicative } from './book-view.ts';

export function FeedLine() {
  const { kind, label, explanation } = freshness.value;
  const book = displayedBook.value;
  const live = books.l2.value;
  const { resumed = 0, gap = 0, mismatch = 0 } = noticeCounts.value;
  return (
    <section class="feed-line" aria-label="State of the book" data-testid="feed-line" data-kind={kind}>
      <strong class={`state ${kind}`}>{label}</strong>
      {explanation === '' ? null : (
        <span class="explanation" role="status">
          {explanation}
        </span>
      )}
      {book ? (
        <>
          <span>slot {count(isTravelling.value ? travelSlot.value : book.slot)}</span>
          {isTravelling.value ? null : (
            <span class="age-now">{duration((now.value - book.receivedAtMs) / 1000)} old</span>
          )}
          <span title="A supermajority of stake has voted for every slot shown here">confirmed</span>
        </>
      ) : null}
      {showsIndicative.value && !isTravelling.value ? <span>with indicative quotes, without a sequence</span> : null}
      {live && book?.from === 'live' ? (
        <>
          <span data-testid="epoch">epoch {count(live.epoch)}</span>
          <span data-testid="seq">sequence {count(live.seq)}</span>
          <span>checksum {live.keeper.position === null ? 'differs' : 'matches'}</span>
          <span>
            {headSlot.value === null
              ? 'distance to the chain unknown'
              : `${count(slotsBehind.value ?? 0)} slots behind ${count(headSlot.value)}`}
          </span>
        </>
      ) : null}
      <span class="muted">
        {count(resumed)} resumes, {count(gap)} gaps, {count(mismatch)} checksum differences
      </span>
    </section>
  );
}
