// Lengths of time in seconds.

export { DAY_S } from '../../schemas/index.ts';
export const MINUTE_S = 60;
export const HOUR_S = 3_600;
