// Access to parsed JSON from other servers.

/** Member of parsed JSON; undefined when it is missing or the value is no object. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
