// Reasons for parking unreadable data: labels of its counter, which has a series for each reason from the start.

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
