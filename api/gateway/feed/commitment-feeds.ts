// A sequenced channel at both commitments: each has its own streams, and a request names its commitment.

import type { Connection } from '../connection.ts';
import { refuse } from './answers.ts';
import { FeedGroup, type SequencedFeed } from './feeds.ts';
import { isForProcessed, requestIdOf } from './request.ts';

export class CommitmentFeeds extends FeedGroup implements SequencedFeed {
  readonly #channel: 'book' | 'trades.v2';
  readonly #confirmed: SequencedFeed;
  readonly #processed: SequencedFeed | null;

  /** `processed`: null when this server has none. */
  constructor(channel: 'book' | 'trades.v2', confirmed: SequencedFeed, processed: SequencedFeed | null) {
    super(processed ? [confirmed, processed] : [confirmed]);
    this.#channel = channel;
    this.#confirmed = confirmed;
    this.#processed = processed;
  }

  request(
    connection: Connection,
    action: 'subscribe' | 'unsubscribe',
    message: Readonly<Record<string, unknown>>,
  ): void {
    if (!isForProcessed(message)) this.#confirmed.request(connection, action, message);
    else if (this.#processed) this.#processed.request(connection, action, message);
    else refuse(connection, this.#channel, 'processed', { id: requestIdOf(message) });
  }
}
