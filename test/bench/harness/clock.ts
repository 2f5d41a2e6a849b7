// One clock for all processes of a bench.

const NS_PER_MS = 1e6;

/** Milliseconds of the machine's monotonic clock, the same in every process. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / NS_PER_MS;
}
