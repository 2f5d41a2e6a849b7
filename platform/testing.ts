// Second entry of platform/, for tests of other rooms and for test/.

export { CLUSTER_ADAPTERS, type ClusterAdapter, type HistoryCluster } from './clickhouse/testing/cluster.ts';
export { openTestDatabase } from './clickhouse/testing/shared.ts';
export { type KafkaBroker, startKafka } from './log/testing/broker.ts';
