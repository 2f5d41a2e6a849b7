// Why ingest parks what it cannot read: the label of its counter, which has a series for each from the start.

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
