// Configuration of the managed ClickHouse child: small enough for a laptop, nothing written that nobody reads.

const MIB = 1024 * 1024;

/** Caps, bytes. A server's defaults are for machines that do nothing else. */
const LIMITS = {
  max_server_memory_usage: 1024 * MIB,
  mark_cache_size: 32 * MIB,
  uncompressed_cache_size: 8 * MIB,
  index_mark_cache_size: 8 * MIB,
  index_uncompressed_cache_size: 0,
  primary_index_cache_size: 16 * MIB,
  query_condition_cache_size: 8 * MIB,
  mmap_cache_size: 16,
  max_thread_pool_size: 256,
  max_thread_pool_free_size: 8,
  background_pool_size: 2,
  background_merges_mutations_concurrency_ratio: 1,
  background_schedule_pool_size: 4,
  background_move_pool_size: 1,
  background_fetches_pool_size: 1,
  background_common_pool_size: 2,
  // Idle connections must not hold up the stop.
  keep_alive_timeout: 3,
  shutdown_wait_unfinished: 0,
};

/** With two merge threads the defaults of these three (8, 20, 25) would be refused at start. */
const MERGE_TREE = {
  number_of_free_entries_in_pool_to_execute_mutation: 1,
  number_of_free_entries_in_pool_to_lower_max_size_of_merge: 1,
  number_of_free_entries_in_pool_to_execute_optimize_entire_partition: 1,
  // Merging a wide table vertically reads a few columns at a time: less memory for 40-column event tables.
  vertical_merge_algorithm_min_rows_to_activate: 100_000,
  // A part of the sink's is one file, not two for each of 40 columns: making files was a tenth of what an insert cost.
  min_bytes_for_wide_part: 64 * MIB,
};

/**
 * XML for `--config-file`; `instance` is what `displayName()` answers, `usersFile` where the users are. No log tables are
 * named, so none are written.
 */
export function serverConfig(instance: string, usersFile: string): string {
  const names = `<display_name>${instance}</display_name>\n<users_config>${escapeXml(usersFile)}</users_config>`;
  return `<clickhouse>\n${names}\n${tags(LIMITS)}\n<merge_tree>\n${tags(MERGE_TREE)}\n</merge_tree>\n</clickhouse>\n`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function tags(values: Readonly<Record<string, number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `<${name}>${value}</${name}>`)
    .join('\n');
}
