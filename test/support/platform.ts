// Second entry of platform/, for tests of other rooms and for test/.

export type { HistoryCluster } from './clickhouse/cluster.ts';
export { startContainers } from './clickhouse/cluster-containers.ts';
export { openTestDatabase } from './clickhouse/shared.ts';
export { startKafka } from './log/broker.ts';
export type { KafkaBroker } from './log/kafka-broker.ts';
export { dockerAnswers } from './platform/docker.ts';
