// Publishes priority fees at each refresh, changed or not, without replay.

import type { EventLog, Logger } from '../../platform/index.ts';
import { type FeeLevels, TOPICS } from '../../schemas/index.ts';
import { levelsOf } from '../views/fees.ts';
import { NewestFollower } from '../views/newest.ts';
import { envelope } from './envelope.ts';
import type { Fanout } from './fanout.ts';
import { resolveChannel } from './requests.ts';

export interface FeeChannelsOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly fanout: Fanout;
}

export class FeeChannels {
  readonly #fanout: Fanout;
  readonly #follower: NewestFollower<'FeeLevels'>;

  constructor({ log, logger, fanout }: FeeChannelsOptions) {
    this.#fanout = fanout;
    this.#follower = new NewestFollower({
      log,
      logger,
      topic: TOPICS.feeViews,
      name: 'FeeLevels',
      onMessage: (fees) => this.#publish(fees),
    });
  }

  /** Resolves once the end of the log is known: later refreshes are published. */
  start(): Promise<void> {
    return this.#follower.start();
  }

  /** Settles when following ends. */
  get done(): Promise<void> {
    return this.#follower.done;
  }

  stop(): Promise<void> {
    return this.#follower.stop();
  }

  #publish(fees: FeeLevels): void {
    const { name } = resolveChannel('priorityfees', fees, 1);
    if (!this.#fanout.has(name)) return;
    this.#fanout.send([{ name, frame: envelope(name, JSON.stringify(levelsOf(fees))) }]);
  }
}
