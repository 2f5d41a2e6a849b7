// Unreadable data as a dead letter, and the reasons for parking it.

import type { DeadLetter } from '../schemas/index.ts';

/** Labels of the counter, which has a series for each reason from the start. */
export const PARK_REASONS = [
  'unknown_discriminator',
  'wrong_length',
  'bad_value',
  'unknown_enum',
  'unknown_record',
  'damaged_record',
  'incomplete_logs',
  'garbage_line',
  'garbage_frame',
] as const;

export type ParkReason = (typeof PARK_REASONS)[number];

/** Bytes of unreadable data in a dead letter. The chain has the rest. */
export const PARKED_BYTES_MAX = 4096;
const DETAIL_CHARACTERS_MAX = 500;

/** A dead letter with bounded detail and bytes. */
export function deadLetter(
  reason: ParkReason,
  detail: string,
  slot: number,
  origin: string,
  bytes: Uint8Array,
): DeadLetter {
  return {
    reason,
    detail: detail.slice(0, DETAIL_CHARACTERS_MAX),
    slot,
    origin,
    bytes: Uint8Array.from(bytes.subarray(0, PARKED_BYTES_MAX)),
  };
}
