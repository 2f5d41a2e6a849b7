// Configuration of the managed ClickHouse child: small enough for a laptop, and without unused log tables.

const MIB = 1024 * 1024;

/** Limits in bytes. A server's defaults suit a machine without other work. */
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
  // A table without work doubles its pause after each look, up to so many seconds; an insert or a mutation ends the pause. By default a pause
  // grows by a tenth, and 60 tables without a row took 2 % of a core.
  background_processing_pool_task_sleep_seconds_when_no_work_multiplier: 2,
  background_processing_pool_task_sleep_seconds_when_no_work_max: 30,
  // Nothing moves to another disk, and nothing streams.
  background_move_processing_pool_thread_sleep_seconds_if_nothing_to_do: 60,
  background_streaming_processing_pool_thread_sleep_seconds_if_nothing_to_do: 60,
  // Results and sorts that spill to disk, all queries together.
  max_temporary_data_on_disk_size: 8192 * MIB,
  // Idle connections must not delay the stop.
  keep_alive_timeout: 3,
  shutdown_wait_unfinished: 0,
};

/** Host headers of requests to this machine's loopback address. */
const OWN_HOST = 'regex:(?i:127\\.0\\.0\\.1|localhost|\\[::1\\])(:[0-9]+)?';

/** With two merge threads the engine refuses to start with the defaults of these three (8, 20, 25). */
const MERGE_TREE = {
  number_of_free_entries_in_pool_to_execute_mutation: 1,
  number_of_free_entries_in_pool_to_lower_max_size_of_merge: 1,
  number_of_free_entries_in_pool_to_execute_optimize_entire_partition: 1,
  // A vertical merge reads a few columns at a time, which saves memory on event tables with 40 columns.
  vertical_merge_algorithm_min_rows_to_activate: 100_000,
  // The sink's parts become one file instead of two for each of 40 columns: creating files took a tenth of an insert.
  min_bytes_for_wide_part: 64 * MIB,
};

/**
 * HTTP requests, first match first. A browser names the asking page (`Origin`, `Sec-Fetch-Site`). With a rebound DNS name it
 * sends the page's own `Host`. The server refuses both before login. `none` is a typed address. Command-line clients and
 * drivers send neither header.
 */
const HTTP_HANDLERS = [
  rule({ headers: { Origin: 'regex:.+' } }, fixed(403, 'requests of web pages are refused')),
  rule(
    { headers: { 'Sec-Fetch-Site': 'regex:cross-site|same-site' } },
    fixed(403, 'requests of web pages are refused'),
  ),
  rule({ url: '/ping', headers: { Host: OWN_HOST } }, fixed(200, 'Ok.\n')),
  rule({ headers: { Host: OWN_HOST } }, '<type>dynamic_query_handler</type><query_param_name>query</query_param_name>'),
  rule({}, fixed(421, 'requests to another host are refused')),
].join('\n');

/**
 * XML for `--config-file`. `displayName()` returns `instance`; `usersFile` lists the users. It names no log tables, so the
 * engine writes none.
 */
export function serverConfig(instance: string, usersFile: string): string {
  const names = `<display_name>${instance}</display_name>\n<users_config>${escapeXml(usersFile)}</users_config>`;
  return `<clickhouse>\n${names}\n${tags(LIMITS)}\n<merge_tree>\n${tags(MERGE_TREE)}\n</merge_tree>\n<http_handlers>\n${HTTP_HANDLERS}\n</http_handlers>\n</clickhouse>\n`;
}

interface RuleFilter {
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function rule({ url, headers = {} }: RuleFilter, handler: string): string {
  const values = Object.entries(headers).map(([name, value]) => `<${name}>${escapeXml(value)}</${name}>`);
  const filters = `${url === undefined ? '' : `<url>${url}</url>`}${values.length === 0 ? '' : `<headers>${values.join('')}</headers>`}`;
  return `<rule>${filters}<handler>${handler}</handler></rule>`;
}

function fixed(status: number, text: string): string {
  return `<type>static</type><status>${status}</status><response_content>${text}</response_content>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function tags(values: Readonly<Record<string, number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `<${name}>${value}</${name}>`)
    .join('\n');
}
