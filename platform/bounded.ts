// The bound of maps and sets whose oldest entries leave first. Where reading keeps an entry, use lru-cache.

/** Deletes the entry that was added first when there are more than `max`. Returns its key. */
export function dropOldest<K>(entries: Map<K, unknown> | Set<K>, max: number): K | undefined {
  if (entries.size <= max) return undefined;
  const [oldest] = entries.keys();
  if (oldest !== undefined) entries.delete(oldest);
  return oldest;
}
