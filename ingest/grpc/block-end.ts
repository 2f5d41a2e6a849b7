// Finds out when a server has sent all of its newest block: after a quiet time it is sent a ping.

import { PING_ID } from './stream.ts';

/** This long after the metadata of a block, a server has sent the rest of it: it sends all of a block at once. */
const QUIET_MS = 500;

export interface BlockEndOptions {
  /** False while nothing may be labelled; the question then waits. */
  readonly mayAsk: () => boolean;
  readonly ping: (id: number) => void;
  readonly ended: () => void;
}

export class BlockEnd {
  readonly #options: BlockEndOptions;
  #quiet: NodeJS.Timeout | null = null;
  /** Number of the last ping. */
  #pinged = PING_ID;

  constructor(options: BlockEndOptions) {
    this.#options = options;
  }

  /** The metadata of a block came. */
  block(): void {
    this.stop();
    this.#quiet = setTimeout(() => this.#onQuiet(), QUIET_MS);
  }

  stop(): void {
    if (this.#quiet) clearTimeout(this.#quiet);
  }

  pong(id: number | null): void {
    // A newer block has a ping of its own.
    if (id === this.#pinged && this.#quiet === null) this.#options.ended();
  }

  /** The rest of the newest block may still be on its way. A pong cannot overtake it. */
  #onQuiet(): void {
    this.#quiet = null;
    if (!this.#options.mayAsk()) this.block();
    else this.#options.ping(++this.#pinged);
  }
}
