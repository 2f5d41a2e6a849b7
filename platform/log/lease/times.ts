// Intervals of a lease, milliseconds.

export interface LeaseTimes {
  readonly lookMs: number;
  readonly leaseMs: number;
  readonly handoverMs: number;
  readonly silentMs: number;
  readonly askMs: number;
  readonly releaseMs: number;
}
