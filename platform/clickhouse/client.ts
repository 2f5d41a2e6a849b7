// Makes ClickHouse clients, all with the same settings and with errors in our logger.

import { type ClickHouseClient, ClickHouseLogLevel, type ClickHouseSettings, createClient } from '@clickhouse/client';
import type { Logger } from 'pino';

export type { ClickHouseClient, ClickHouseSettings };

const MAX_CONNECTIONS = 16;
/** A large block on a busy laptop takes seconds; this only ends hanging requests. */
const REQUEST_TIMEOUT_MS = 60_000;
/** Below the server's own keep-alive (3 s in the managed child, 10 s by default on servers). */
const IDLE_SOCKET_MS = 2_000;

/**
 * The engine compiles an expression at its fourth use, and compiled code compares 128-bit integers as unsigned:
 * `greatest(-toInt128(5), toInt128(0))` gives -5 (26.7.2).
 */
export const UNCOMPILED = {
  compile_expressions: 0,
  compile_aggregate_expressions: 0,
  compile_sort_description: 0,
} as const;

/** Every query has them. */
const COMMON_SETTINGS: ClickHouseSettings = {
  ...UNCOMPILED,
  // Without these two, JSON carries 64-bit integers as numbers and JavaScript loses digits.
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  // The writer forms the blocks; the engine's own batching would answer before it has stored them.
  async_insert: 0,
  date_time_input_format: 'best_effort',
};

const READ_TIMEOUT_SECONDS = 20;

/** For queries of readers: no writes, limited time, and an aborted request ends its query. */
export const READ_SETTINGS: ClickHouseSettings = {
  readonly: '2',
  cancel_http_readonly_queries_on_client_close: 1,
  max_execution_time: READ_TIMEOUT_SECONDS,
  // Copies of an event have the same time, so FINAL need not compare partitions with each other.
  do_not_merge_across_partitions_select_final: 1,
};

/** Below the request's own timeout, so that the server's answer comes first. */
const QUORUM_TIMEOUT_MS = REQUEST_TIMEOUT_MS / 2;

/**
 * For inserts into replicated tables: the server answers when `replicas` of them have the rows. Inserts may run in parallel,
 * and a repeated block waits for the quorum of the first one.
 */
export function quorumSettings(replicas: number): ClickHouseSettings {
  // The engine would wait forever for a quorum of one replica.
  const insert_quorum = String(replicas > 1 ? replicas : 0);
  return { insert_quorum, insert_quorum_parallel: 1, insert_quorum_timeout: QUORUM_TIMEOUT_MS };
}

export interface ClientOptions {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  readonly logger: Logger;
  /** Absent for statements that must run before the database exists. */
  readonly database?: string;
  /** Every query has them; they override the common ones. */
  readonly settings?: ClickHouseSettings;
}

export function makeClient({ url, user, password, logger, database, settings }: ClientOptions): ClickHouseClient {
  return createClient({
    url,
    username: user,
    password,
    ...(database === undefined ? {} : { database }),
    application: 'slotbook',
    max_open_connections: MAX_CONNECTIONS,
    request_timeout: REQUEST_TIMEOUT_MS,
    // Timers run late in a busy process: also discards a socket that idled too long before a timer closes it.
    keep_alive: { idle_socket_ttl: IDLE_SOCKET_MS, eagerly_destroy_stale_sockets: true },
    clickhouse_settings: { ...COMMON_SETTINGS, ...settings },
    log: { LoggerClass: loggerClass(logger), level: ClickHouseLogLevel.WARN },
  });
}

interface ClientLogLine {
  readonly module: string;
  readonly message: string;
  readonly err?: Error;
}

/** The client logs every failed request and also throws it. The caller decides about the log level, so here: debug. */
function loggerClass(logger: Logger) {
  const write = ({ module, message, err }: ClientLogLine) => logger.debug({ module, err }, message.trim());
  return class {
    trace = write;
    debug = write;
    info = write;
    warn = write;
    error = write;
  };
}
