// Numbers and times in the reader's formats. Amounts are integers with a scale; their text is exact.

const LOCALE = typeof navigator === 'undefined' ? 'en' : navigator.language;
const formats = new Map<string, Intl.NumberFormat>();

function numberFormat(least: number, most: number, extra: Intl.NumberFormatOptions = {}): Intl.NumberFormat {
  const key = `${least}/${most}/${JSON.stringify(extra)}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.NumberFormat(LOCALE, { minimumFractionDigits: least, maximumFractionDigits: most, ...extra });
    formats.set(key, format);
  }
  return format;
}

/** Decimal text of an integer with `scale` decimals: 1500000n and 6 give `1.500000`. */
export function decimalText(value: bigint, scale: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  const sign = value < 0n ? '-' : '';
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

/** Fewest decimals that write an integer of `scale` decimals exactly. */
export function decimalsNeeded(value: bigint, scale: number): number {
  let decimals = scale;
  let rest = value;
  while (decimals > 0 && rest % 10n === 0n) {
    rest /= 10n;
    decimals -= 1;
  }
  return decimals;
}

/** An exact amount: `value` is an integer of `scale` decimals, shown with `least` to `most` decimals. */
export function amount(value: bigint, scale: number, least = 0, most = scale): string {
  return numberFormat(least, most).format(decimalText(value, scale) as Intl.StringNumericLiteral);
}

/** A raw integer text of a REST answer; a dash for null. */
export function rawAmount(value: string | null | undefined, scale: number, least = 0, most = scale): string {
  return value === null || value === undefined ? '–' : amount(BigInt(value), scale, least, most);
}

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : numberFormat(0, 0).format(value);
}

export function decimal(value: number | null | undefined, least: number, most = least): string {
  return value === null || value === undefined ? '–' : numberFormat(least, most).format(value);
}

/** A price in whole units, with as many decimals as its size calls for. */
export function price(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  const decimals = size === 0 || size >= 10_000 ? 2 : size >= 100 ? 3 : size >= 1 ? 4 : 6;
  return numberFormat(decimals, decimals).format(value);
}

export function compact(value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : numberFormat(0, 2, { notation: 'compact' }).format(value);
}

/** `value` is in percent. */
export function percent(value: number | null | undefined, decimals = 2): string {
  if (value === null || value === undefined) return '–';
  return `${numberFormat(decimals, decimals, { signDisplay: 'exceptZero' }).format(value)} %`;
}

const time = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dateTime = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'short', timeStyle: 'medium' });

/** Unix seconds. */
export function timeOf(ts: number): string {
  return time.format(ts * 1000);
}

/** Unix seconds. */
export function dateTimeOf(ts: number | null | undefined): string {
  return ts === null || ts === undefined ? '–' : dateTime.format(ts * 1000);
}

const MINUTE = 60;
const HOUR = 3600;

/** A duration in words: `0.3 s`, `12 s`, `4 min`, `2 h 5 min`. */
export function duration(seconds: number): string {
  if (seconds < 9.95) return `${decimal(Math.max(0, seconds), 1)} s`;
  if (seconds < 2 * MINUTE) return `${count(Math.round(seconds))} s`;
  if (seconds < HOUR) return `${count(Math.floor(seconds / MINUTE))} min`;
  const minutes = Math.floor((seconds % HOUR) / MINUTE);
  return `${count(Math.floor(seconds / HOUR))} h${minutes > 0 ? ` ${minutes} min` : ''}`;
}

/** A key with its middle left out. */
export function shortKey(key: string): string {
  return key.length <= 10 ? key : `${key.slice(0, 4)}…${key.slice(-4)}`;
}
