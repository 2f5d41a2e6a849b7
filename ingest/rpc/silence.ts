// Notices that a session has no news for a while.

export class SilenceWatch {
  readonly #signal: AbortSignal;
  readonly #silenceMs: number;
  readonly #onSilence: () => Promise<void>;
  #timer: NodeJS.Timeout | null = null;

  /** `onSilence` is called once for each silence; `news` then begins the next one. `signal` ends the session. */
  constructor(signal: AbortSignal, silenceMs: number, onSilence: () => Promise<void>) {
    this.#signal = signal;
    this.#silenceMs = silenceMs;
    this.#onSilence = onSilence;
  }

  /** News came, or the session begins. */
  news(): void {
    this.stop();
    if (!this.#signal.aborted) this.#timer = setTimeout(() => void this.#onSilence(), this.#silenceMs);
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
