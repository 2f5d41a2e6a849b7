// Clusters of ClickHouse for tests: two servers with Keeper in containers where a Docker daemon answers, and one replica of the
// managed child's engine with Apache ZooKeeper on this machine's Java. What cannot run here is said, never passed over.

import { dockerAnswers } from '../../testing/docker.ts';
import { javaVersion } from '../../testing/java.ts';
import { startContainers } from './cluster-containers.ts';
import { startReplica } from './replica.ts';
import { ZOOKEEPER } from './zookeeper.ts';

export interface HistoryCluster {
  /** What runs it, for the report of a test run. */
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

export interface ClusterAdapter {
  readonly title: string;
  readonly replicas: number;
  /** Statements can make users: the engine's local mode has them in its configuration only. */
  readonly makesUsers: boolean;
  /** Null when it can run here, otherwise what is missing. */
  missing(): Promise<string | null>;
  start(): Promise<HistoryCluster>;
}

export const CLUSTER_ADAPTERS: readonly ClusterAdapter[] = [
  {
    title: 'two servers with Keeper',
    replicas: 2,
    makesUsers: true,
    missing: async () => ((await dockerAnswers()) ? null : 'no Docker daemon answers'),
    start: startContainers,
  },
  {
    title: 'engine of the managed child with ZooKeeper',
    replicas: 1,
    makesUsers: false,
    missing: async () => {
      if (process.platform !== 'linux' || process.arch !== 'x64') return 'known for Linux on x86-64 only';
      return (await javaVersion(ZOOKEEPER)) === null ? 'no Java 17 or later, or no Maven' : null;
    },
    start: startReplica,
  },
];
