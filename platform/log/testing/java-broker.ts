// Apache Kafka on this machine's Java: one KRaft broker in a temporary folder.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fetchJars, type Jars, launchJava } from '../../testing/java.ts';
import { freePorts } from '../../testing/ports.ts';
import type { KafkaBroker } from './broker.ts';
import { awaitReady, brokerProperties, HEAP } from './broker-settings.ts';

const run = promisify(execFile);

const KAFKA_VERSION = '4.1.0';
const SCALA_VERSION = '2.13';
const LOG4J_VERSION = '2.24.3';
const FORMAT_WITHIN_MS = 60_000;
const CLUSTER_ID_BYTES = 16;

export const KAFKA: Jars = {
  title: `Apache Kafka ${KAFKA_VERSION}`,
  name: `kafka-${KAFKA_VERSION}`,
  artifacts: [
    `org.apache.kafka:kafka_${SCALA_VERSION}:${KAFKA_VERSION}`,
    `org.apache.logging.log4j:log4j-slf4j-impl:${LOG4J_VERSION}`,
  ],
};

export async function startJavaBroker(java: number): Promise<KafkaBroker> {
  const libraries = await fetchJars(KAFKA);
  const folder = await mkdtemp(join(tmpdir(), 'slotbook-kafka-'));
  const [port, controllerPort = 0] = await freePorts(2);
  const brokers = `127.0.0.1:${port}`;
  const settings = join(folder, 'server.properties');
  const properties = {
    ...brokerProperties({
      listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
      advertised: `PLAINTEXT://${brokers}`,
      controllerPort,
    }),
    'log.dirs': join(folder, 'data'),
  };
  await writeFile(
    settings,
    Object.entries(properties)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  const clusterId = randomBytes(CLUSTER_ID_BYTES).toString('base64url');
  // In one argument: an id may begin with a dash.
  const format = ['-cp', libraries, 'kafka.tools.StorageTool', 'format', `--cluster-id=${clusterId}`, '-c', settings];
  await run('java', format, { timeout: FORMAT_WITHIN_MS });

  const launch = () =>
    launchJava([...HEAP.split(' '), '-cp', libraries, 'kafka.Kafka', settings], (failed) =>
      awaitReady(brokers, failed),
    );
  let broker = await launch();
  return {
    brokers,
    how: `${KAFKA.title} from Maven Central on Java ${java}`,
    async restart() {
      await broker.end('at once');
      broker = await launch();
    },
    async stop() {
      await broker.end('gracefully');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
