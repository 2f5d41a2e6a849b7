// A real Kafka broker for tests: a container where a Docker daemon answers, otherwise Apache Kafka on this machine's
// Java, fetched once with Maven and kept in node_modules/.cache.

import { dockerAnswers } from '../../testing/docker.ts';
import { javaVersion } from '../../testing/java.ts';
import { freePorts } from '../../testing/ports.ts';
import { awaitReady, brokerProperties, HEAP } from './broker-settings.ts';
import { KAFKA, startJavaBroker } from './java-broker.ts';

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
const CONTAINER_CONTROLLER_PORT = 9093;

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
  const java = await javaVersion(KAFKA);
  if (java === null) {
    throw new Error(
      'Kafka tests need a Docker daemon, or Java 17 or later and Maven on the PATH (Apache Kafka then comes from Maven Central).',
    );
  }
  return startJavaBroker(java);
}

/**
 * The host port is chosen here and fixed, so that the address survives a restart (the ready-made Kafka container maps a
 * new one each time), and the image is the same Apache Kafka that the Java broker runs.
 */
async function startContainer(): Promise<KafkaBroker> {
  const { GenericContainer, getContainerRuntimeClient } = await import('testcontainers');
  const { host } = (await getContainerRuntimeClient()).info.containerRuntime;
  const [port] = await freePorts(1);
  const brokers = `${host}:${port}`;
  const properties = brokerProperties({
    listeners: `PLAINTEXT://0.0.0.0:${CONTAINER_PORT},CONTROLLER://0.0.0.0:${CONTAINER_CONTROLLER_PORT}`,
    advertised: `PLAINTEXT://${brokers}`,
    controllerPort: CONTAINER_CONTROLLER_PORT,
  });
  const container = await new GenericContainer(IMAGE)
    .withExposedPorts({ container: CONTAINER_PORT, host: port })
    .withEnvironment({ ...environmentOf(properties), KAFKA_HEAP_OPTS: HEAP })
    .start();
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

/** The image takes its settings as variables: `log.cleaner.backoff.ms` is KAFKA_LOG_CLEANER_BACKOFF_MS. */
function environmentOf(properties: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [`KAFKA_${name.replaceAll('.', '_').toUpperCase()}`, value]),
  );
}
