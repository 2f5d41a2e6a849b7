// Chance that follows from a text, so that a repeated run meets the same.

import { hash } from 'node:crypto';

/** A number in [0, 1). */
export function chanceOf(text: string): number {
  return hash('sha256', text, 'buffer').readUInt32LE(0) / 4_294_967_296;
}
