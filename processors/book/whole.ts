// Whole-number helpers of the vAMM rules. Division of bigint truncates toward zero, like in the programs.

export { ceilDiv, magnitude } from '../../schemas/index.ts';

export function greater(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

export function lesser(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}

/** `value` limited to `most` on either side of zero. */
export function within(value: bigint, most: bigint): bigint {
  return value > most ? most : value < -most ? -most : value;
}

/** The largest whole number whose square is not above `value`. */
export function squareRoot(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}
