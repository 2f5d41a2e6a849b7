// Whole-number arithmetic of the program, which several rooms repeat. Division of bigint truncates toward zero, like in the program.

export function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

/** Rounded up; `value` not below zero, `by` above zero. */
export function ceilDiv(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}
