// One JSON line per figure. A figure that misses its bar makes the bench end with 1.

/** What a figure has to reach, or what it must not go beyond. */
export type Bar = { readonly atLeast: number } | { readonly atMost: number };

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly bar?: Bar;
  /** What was run beside it, and the configuration. */
  readonly [beside: string]: unknown;
}

const SIGNIFICANT_DIGITS = 4;
const EXIT_MISSED = 1;

/** Prints the figure, with a bar also whether it is met: the rounded value is what counts, as it is what is printed. */
export function report({ name, bar, ...figure }: Figure): void {
  const value = Number(figure.value.toPrecision(SIGNIFICANT_DIGITS));
  const held = bar ? { bar, met: isMet(value, bar) } : {};
  if (held.met === false) process.exitCode = EXIT_MISSED;
  process.stdout.write(`${JSON.stringify({ name, ...figure, value, ...held })}\n`);
}

/** A figure that is no number meets nothing. */
function isMet(value: number, bar: Bar): boolean {
  return 'atLeast' in bar ? value >= bar.atLeast : value <= bar.atMost;
}
