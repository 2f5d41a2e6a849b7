// Polls the RPC node for the newest slot of the chain. /health and the lag metrics compare the books with it.

import type { Logger } from '../../platform/index.ts';

export interface NodeSlotSource {
  /** Newest slot that the node reported; null before the first. */
  readonly slot: number | null;
  /** True until the first answer or FIRST_TRIES failures: the lag of the books is unknown. */
  readonly isAwaited: boolean;
}

export interface NodeSlotOptions {
  readonly rpcUrl: string;
  readonly logger: Logger;
  readonly everyMs?: number;
}

/** Two or three slots. The bound of the lag is tens of slots. */
const EVERY_MS = 1000;
const TIMEOUT_MS = 3000;
/** After this many failed first requests, /startup no longer waits for the node. */
const FIRST_TRIES = 3;
/** Between two answers a second apart. */
const JUMP_SLOTS = 1_000;
/** Commitment of `slotSubscribe`, which ingest follows. */
const COMMITMENT = 'processed';

export class NodeSlot implements NodeSlotSource {
  readonly #options: NodeSlotOptions;
  readonly #stopped = new AbortController();
  #slot: number | null = null;
  /** A far slot that waits for a second answer. */
  #unconfirmed: number | null = null;
  #failures = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: NodeSlotOptions) {
    this.#options = options;
  }

  get slot(): number | null {
    return this.#slot;
  }

  get isAwaited(): boolean {
    return this.#slot === null && this.#failures < FIRST_TRIES;
  }

  /** Polls at once, then `everyMs` after each answer. */
  start(): void {
    void this.#poll();
  }

  stop(): void {
    this.#stopped.abort();
    if (this.#timer) clearTimeout(this.#timer);
  }

  async #poll(): Promise<void> {
    const { logger, everyMs = EVERY_MS } = this.#options;
    try {
      this.#take(await this.#read());
      if (this.#failures >= FIRST_TRIES) logger.info({ slot: this.#slot }, 'the RPC node reports slots again');
      this.#failures = 0;
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      this.#failures += 1;
      // The error text may contain the URL, and URLs contain API keys.
      const name = error instanceof Error ? error.name : 'unknown';
      if (this.#failures === FIRST_TRIES) logger.warn({ error: name }, 'cannot read the newest slot from the RPC node');
    }
    if (!this.#stopped.signal.aborted) this.#timer = setTimeout(() => void this.#poll(), everyMs).unref();
  }

  /** A slot far from the last one counts when a second answer agrees: nodes answer a wrong slot now and then. */
  #take(slot: number): void {
    const isFar = this.#slot !== null && Math.abs(slot - this.#slot) > JUMP_SLOTS;
    const isConfirmed = this.#unconfirmed !== null && Math.abs(slot - this.#unconfirmed) <= JUMP_SLOTS;
    this.#unconfirmed = isFar && !isConfirmed ? slot : null;
    if (this.#unconfirmed === null) this.#slot = slot;
  }

  async #read(): Promise<number> {
    const response = await fetch(this.#options.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot', params: [{ commitment: COMMITMENT }] }),
      signal: AbortSignal.any([this.#stopped.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const answer: unknown = await response.json();
    const slot = (answer as { result?: unknown } | null)?.result;
    if (!Number.isSafeInteger(slot)) throw new Error('no slot in the answer');
    return Number(slot);
  }
}
