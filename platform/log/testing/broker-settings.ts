// What the test broker is told whoever runs it, and how to know that it is ready.

import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';

export const HEAP = '-Xms128m -Xmx512m';
const READY_TOPIC = 'broker.ready';
const READY_WITHIN_MS = 60_000;
const RETRY_MS = 150;

export interface Listening {
  readonly listeners: string;
  readonly advertised: string;
  readonly controllerPort: number;
}

/** One KRaft node, nothing replicated, compaction soon enough to be seen by a test. */
export function brokerProperties({ listeners, advertised, controllerPort }: Listening): Record<string, string> {
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    listeners,
    'advertised.listeners': advertised,
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'group.initial.rebalance.delay.ms': '0',
    'auto.create.topics.enable': 'false',
    // After kill -9 the broker may register again only when its old session has ended.
    'broker.session.timeout.ms': '1000',
    'broker.heartbeat.interval.ms': '200',
    'num.network.threads': '2',
    'num.io.threads': '4',
    'log.cleaner.backoff.ms': '200',
    'log.cleaner.dedupe.buffer.size': '16777216',
  };
}

/** Listening is not ready: returns once a record was stored. `failed` tells that waiting has become pointless. */
export async function awaitReady(brokers: string, failed: () => string | null = () => null): Promise<void> {
  const deadlineMs = performance.now() + READY_WITHIN_MS;
  while (true) {
    try {
      await storeOneRecord(brokers);
      return;
    } catch (error) {
      const reason = failed();
      if (reason !== null) throw new Error(`Kafka ended while starting: ${reason}`);
      if (performance.now() > deadlineMs) throw new Error('Kafka did not become ready', { cause: error });
      await sleep(RETRY_MS);
    }
  }
}

async function storeOneRecord(brokers: string): Promise<void> {
  const kafka = new Kafka({
    clientId: 'broker-ready',
    brokers: brokers.split(','),
    logLevel: logLevel.NOTHING,
    connectionTimeout: 1000,
    retry: { retries: 0 },
  });
  const admin = kafka.admin();
  const producer = kafka.producer({ createPartitioner: () => () => 0 });
  try {
    await admin.connect();
    await admin.createTopics({ topics: [{ topic: READY_TOPIC, numPartitions: 1, replicationFactor: 1 }] });
    await producer.connect();
    await producer.send({ topic: READY_TOPIC, messages: [{ value: 'ready' }] });
  } finally {
    await Promise.allSettled([admin.disconnect(), producer.disconnect()]);
  }
}
