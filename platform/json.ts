// What stands in an answer of somebody else's server.

/** Member of parsed JSON; undefined where there is none, or the value is no object. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
