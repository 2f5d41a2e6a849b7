// One JSON line per figure.

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What was run beside it, and the configuration. */
  readonly [beside: string]: unknown;
}

const SIGNIFICANT_DIGITS = 4;

export function report(figure: Figure): void {
  const value = Number(figure.value.toPrecision(SIGNIFICANT_DIGITS));
  process.stdout.write(`${JSON.stringify({ ...figure, value })}\n`);
}
