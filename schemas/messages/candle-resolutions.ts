// The bucket lengths of candles: minutes, or day, week and month.

export const CANDLE_RESOLUTIONS = ['1', '5', '15', '60', '240', 'D', 'W', 'M'] as const;
export type CandleResolution = (typeof CANDLE_RESOLUTIONS)[number];
