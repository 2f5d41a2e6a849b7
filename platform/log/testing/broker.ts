// A real Kafka broker for tests: a container where a Docker daemon answers, otherwise Apache Kafka on this machine's
// Java, fetched once with Maven and kept in node_modules/.cache.

import { connect } from 'node:net';
import type { StartedTestContainer } from 'testcontainers';
import { awaitReady, freePorts } from './broker-ready.ts';
import { javaVersion, startJavaBroker } from './java-broker.ts';

export interface KafkaBroker {
  /** host:port list for `config.kafkaBrokers`. */
  readonly brokers: string;
  /** What runs it, for the report of a test run. */
  readonly how: string;
  /** Ends the broker without warning and starts it again on the same data and address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const IMAGE = 'apache/kafka:4.1.0';
const CONTAINER_PORT = 9092;
const DOCKER_SOCKET = '/var/run/docker.sock';
const DOCKER_ANSWER_MS = 1000;
const DOCKER_DEFAULT_PORT = 2375;

/**
 * Starts a broker on loopback and returns when a record has been stored on it. Prints which kind it used.
 * Throws when the machine has neither a Docker daemon nor Java 17 with Maven: Kafka tests never pass by not running.
 */
export async function startKafka(): Promise<KafkaBroker> {
  const broker = (await dockerAnswers()) ? await startContainer() : await startOnJava();
  process.stdout.write(`kafka broker for tests: ${broker.how} at ${broker.brokers}\n`);
  return broker;
}

async function startOnJava(): Promise<KafkaBroker> {
  const java = await javaVersion();
  if (java === null) {
    throw new Error(
      'Kafka tests need a Docker daemon, or Java 17 or later and Maven on the PATH (Apache Kafka then comes from Maven Central).',
    );
  }
  return startJavaBroker(java);
}

/** True when the daemon of DOCKER_HOST, or the local socket, accepts a connection. */
async function dockerAnswers(): Promise<boolean> {
  const host = process.env.DOCKER_HOST;
  if (host === undefined || host === '') return accepts({ path: DOCKER_SOCKET });
  const url = new URL(host);
  if (url.protocol === 'unix:') return accepts({ path: url.pathname });
  return accepts({ host: url.hostname, port: Number(url.port || DOCKER_DEFAULT_PORT) });
}

function accepts(target: { path: string } | { host: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(target);
    const answer = (value: boolean) => {
      socket.destroy();
      resolve(value);
    };
    socket.setTimeout(DOCKER_ANSWER_MS, () => answer(false));
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });
}

/** The host port is chosen here and fixed, so that the address survives a restart. */
async function startContainer(): Promise<KafkaBroker> {
  const { KafkaContainer } = await import('@testcontainers/kafka');
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('no free port');
  const container: StartedTestContainer = await new KafkaContainer(IMAGE)
    .withKraft()
    .withExposedPorts({ container: CONTAINER_PORT + 1, host: port })
    .withEnvironment({
      KAFKA_HEAP_OPTS: '-Xmx512m',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
      KAFKA_LOG_CLEANER_BACKOFF_MS: '200',
    })
    .start();
  const brokers = `${container.getHost()}:${container.getMappedPort(CONTAINER_PORT + 1)}`;
  await awaitReady(brokers);
  return {
    brokers,
    how: `container ${IMAGE}`,
    async restart() {
      await container.restart({ timeout: 0 });
      await awaitReady(brokers);
    },
    async stop() {
      await container.stop();
    },
  };
}
