// A real Kafka broker for tests: a container when a Docker daemon answers, otherwise Apache Kafka on this machine's Java,
// fetched once with Maven into node_modules/.cache.

import { dockerAnswers } from '../platform/docker.ts';
import { javaVersion } from '../platform/java.ts';
import { freePorts } from '../platform/ports.ts';
import { awaitReady, brokerProperties, HEAP } from './broker-settings.ts';
import { KAFKA, startJavaBroker } from './java-broker.ts';
import type { KafkaBroker } from './kafka-broker.ts';

const IMAGE = 'apache/kafka:4.1.0';
const CONTAINER_PORT = 9092;
const CONTAINER_CONTROLLER_PORT = 9093;

/**
 * Starts a broker on loopback, prints its kind, and returns when it has stored a record. Throws when the machine has neither
 * a Docker daemon nor Java 17 with Maven, so that no Kafka test passes without running.
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
 * Uses a fixed host port, so that the address survives a restart; the ready-made Kafka container maps a new one each time. The
 * image is the same Apache Kafka as the Java broker.
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
    async restart(whileAway) {
      const runtime = (await getContainerRuntimeClient()).container;
      const handle = runtime.getById(container.getId());
      await handle.kill();
      try {
        await whileAway?.();
      } finally {
        await handle.start();
        await awaitReady(brokers);
      }
    },
    async stop() {
      await container.stop();
    },
  };
}

/** Settings as the image's variables: `log.cleaner.backoff.ms` is KAFKA_LOG_CLEANER_BACKOFF_MS. */
function environmentOf(properties: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [`KAFKA_${name.replaceAll('.', '_').toUpperCase()}`, value]),
  );
}
