// A numbered stream as subscriptions see it, whatever it carries: books, fills.

import type { Steps } from '../../../processors/book/index.ts';
import type { BookVersion } from '../../../schemas/index.ts';
import type { LogPlace } from './log-search.ts';
import type { Ring } from './ring.ts';

/** A stream as the shared lists of streams need it. */
export interface NamedStream {
  readonly name: string;
  /** Number of the stream in its messages, for as long as this gateway has it open. */
  readonly streamId: number;
  readonly market: { readonly key: string };
}

export interface SentState extends BookVersion {
  readonly slot: number;
}

/**
 * How a client gets from its version to the stream's. `frames`: by these, up to `until` when more follow. `gather`: by this
 * backfill, which needs more turns. `wait`: the gateway is behind the client. `older`: changes have left the ring. `lost`: only
 * by a snapshot.
 */
export type BackfillResult<G> =
  | { readonly is: 'frames'; readonly frames: readonly Buffer[]; readonly until?: number }
  | { readonly is: 'gather'; readonly backfill: G }
  | { readonly is: 'wait' | 'older' | 'lost' };

/** `O`: changes read back from the log. `G`: a backfill of several turns. */
export interface FeedStream<O, G> extends NamedStream {
  readonly market: LogPlace & { readonly ring: Ring };
  /** Active and pending subscribers. */
  subscriberCount: number;
  /** True when changes wait for the stream's next message. */
  readonly isDirty: boolean;
  /** State after the newest message; null before the first. */
  readonly sent: SentState | null;
  /** The first message for a subscriber without a version; null while there is none. */
  snapshot(): Buffer | null;
  /** The message that brings all subscribers to a client's version; null when there is none. */
  catchUp(version: BookVersion): Buffer | null;
  backfill(version: BookVersion, older: O | null, own: G | null): BackfillResult<G>;
  gather(backfill: G, version: BookVersion, older: O | null): Steps<void>;
}
