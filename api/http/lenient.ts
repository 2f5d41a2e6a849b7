// Lenient spellings of numbers and flags, as the predecessor accepts them: leading digits count, the rest is ignored.

/** Leading decimal digits with an optional sign, after blanks; null without digits. `7x` is 7, `abc` is null. */
export function lenientInteger(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? Math.trunc(value) : null;
  if (typeof value !== 'string') return null;
  const match = /^\s*([+-]?\d+)/.exec(value);
  if (!match) return null;
  const parsed = Number(match[1]);
  // `-0` would appear in JSON and text.
  return parsed === 0 ? 0 : parsed;
}

/** True only for the text `true` in any letter case; `1` is false. */
export function lenientFlag(value: string | undefined): boolean {
  return value?.toLowerCase() === 'true';
}

export type Query = Readonly<Record<string, unknown>>;

/** A query parameter as text: the first of repeated ones; undefined when absent. */
export function parameter(query: Query, name: string): string | undefined {
  const value = query[name];
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : undefined;
}
