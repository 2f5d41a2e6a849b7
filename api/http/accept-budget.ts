// Admits new connections only in a short slice of each turn of the event loop. A burst then does not delay connected
// clients.

/** Slice of each turn, milliseconds: room for about ten connections. A slot lasts 400 ms. */
const ACCEPT_SLICE_MS = 1;

export interface Entrant {
  /** Accepts the connection. */
  readonly admit: () => void;
  /** Ends the connection, when the server stops. */
  readonly refuse: () => void;
}

export class AcceptBudget {
  readonly #clock: () => number;
  readonly #waiting = new Set<Entrant>();
  /** End of the slice of this turn. */
  #untilMs = 0;
  #nextTurn: NodeJS.Immediate | null = null;
  #isClosed = false;

  /** `clock`: monotonic milliseconds. */
  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
  }

  /** Number of waiting connections. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Admits a connection at once if none waits and the slice has time left. Otherwise it waits in order of arrival. */
  take(entrant: Entrant): void {
    if (this.#isClosed) {
      entrant.refuse();
      return;
    }
    if (this.#nextTurn === null) this.#begin();
    if (this.#waiting.size === 0 && this.#clock() < this.#untilMs) entrant.admit();
    else this.#waiting.add(entrant);
  }

  /** Removes a connection that closed while it waited. */
  forget(entrant: Entrant): void {
    this.#waiting.delete(entrant);
  }

  /** Refuses all waiting and all later connections. */
  close(): void {
    this.#isClosed = true;
    if (this.#nextTurn) clearImmediate(this.#nextTurn);
    this.#nextTurn = null;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const entrant of waiting) entrant.refuse();
  }

  #begin(): void {
    this.#untilMs = this.#clock() + ACCEPT_SLICE_MS;
    this.#nextTurn = setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#nextTurn = null;
    if (this.#waiting.size === 0) return;
    this.#begin();
    for (const entrant of this.#waiting) {
      this.#waiting.delete(entrant);
      entrant.admit();
      if (this.#clock() >= this.#untilMs) return;
    }
  }
}
