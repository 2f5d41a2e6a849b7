// One JSON line per figure. A figure that misses its bar makes the bench end with 1.

/** Least or greatest value of a figure. */
export type Bar = { readonly atLeast: number } | { readonly atMost: number };

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly bar?: Bar;
  /** Other load, and the configuration. */
  readonly [beside: string]: unknown;
}

const SIGNIFICANT_DIGITS = 4;
const EXIT_MISSED = 1;

/** Prints the figure and whether it meets its bar. The rounded value counts, because it is the printed one. */
export function report({ name, bar, ...figure }: Figure): void {
  const value = Number(figure.value.toPrecision(SIGNIFICANT_DIGITS));
  const held = bar ? { bar, met: isMet(value, bar) } : {};
  if (held.met === false) process.exitCode = EXIT_MISSED;
  process.stdout.write(`${JSON.stringify({ name, ...figure, value, ...held })}\n`);
}

/** NaN meets no bar. */
function isMet(value: number, bar: Bar): boolean {
  return 'atLeast' in bar ? value >= bar.atLeast : value <= bar.atMost;
}
