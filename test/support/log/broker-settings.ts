// Settings of the test broker for both ways to run it, and the check that it is ready.

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
  /** Additional listener. */
  readonly secured?: SecuredListener;
}

/** A listener with TLS that requires a client certificate and a login. */
export interface SecuredListener {
  readonly port: number;
  /** PEM file with private key and certificate of the broker. */
  readonly keyStore: string;
  /** PEM file with the authority of clients' certificates. */
  readonly trustStore: string;
  readonly user: string;
  readonly password: string;
}

function securedProperties({ keyStore, trustStore, user, password }: SecuredListener): Record<string, string> {
  const module = (name: string) => `org.apache.kafka.common.security.${name}`;
  const scram = `${module('scram.ScramLoginModule')} required;`;
  return {
    'listener.name.secured.plain.sasl.jaas.config': `${module('plain.PlainLoginModule')} required user_${user}="${password}";`,
    'listener.name.secured.scram-sha-256.sasl.jaas.config': scram,
    'listener.name.secured.scram-sha-512.sasl.jaas.config': scram,
    'listener.name.secured.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    'listener.name.secured.ssl.client.auth': 'required',
    'listener.name.secured.ssl.keystore.type': 'PEM',
    'listener.name.secured.ssl.keystore.location': keyStore,
    'listener.name.secured.ssl.truststore.type': 'PEM',
    'listener.name.secured.ssl.truststore.location': trustStore,
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SECURED:SASL_SSL',
  };
}

/** One KRaft node without replication, with early compaction. */
export function brokerProperties({
  listeners,
  advertised,
  controllerPort,
  secured,
}: Listening): Record<string, string> {
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    ...(secured === undefined ? {} : securedProperties(secured)),
    listeners: listeners + (secured === undefined ? '' : `,SECURED://127.0.0.1:${secured.port}`),
    'advertised.listeners': advertised + (secured === undefined ? '' : `,SECURED://127.0.0.1:${secured.port}`),
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'group.initial.rebalance.delay.ms': '0',
    'auto.create.topics.enable': 'false',
    // After kill -9 the broker can register only when its old session has ended.
    'broker.session.timeout.ms': '1000',
    'broker.heartbeat.interval.ms': '200',
    'num.network.threads': '2',
    'num.io.threads': '4',
    'log.cleaner.backoff.ms': '200',
    'log.cleaner.dedupe.buffer.size': '16777216',
  };
}

/** Returns once the broker has stored a record; an open port is not enough. `failed` returns a reason to give up. */
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
