// A cluster of ClickHouse for tests, started by cluster-containers.ts: two servers with Keeper in containers.

export interface HistoryCluster {
  /** Name of the runner, for the report of a test run. */
  readonly how: string;
  /** Value of `clickhouseCluster`. */
  readonly name: string;
  /** HTTP address of each replica. */
  readonly urls: readonly [string, ...string[]];
  readonly user: string;
  readonly password: string;
  /** Ends a replica's server without warning. */
  kill(replica: number): Promise<void>;
  /** Starts it again on the same data and address, and returns when it takes inserts. */
  start(replica: number): Promise<void>;
  stop(): Promise<void>;
}
