// Lengths of time in seconds.

export const MINUTE_S = 60;
export const HOUR_S = 3_600;
export const DAY_S = 86_400;
