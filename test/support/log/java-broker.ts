// Apache Kafka on this machine's Java: one KRaft broker in a temporary folder.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fetchJars, type Jars, launchJava, SHORT_LIVED } from '../platform/java.ts';
import { freePorts } from '../platform/ports.ts';
import { awaitReady, brokerProperties, HEAP, type SecuredListener } from './broker-settings.ts';
import type { KafkaBroker } from './kafka-broker.ts';

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

/** `secured` gets its own port, and users besides the plain listener. */
export async function startJavaBroker(java: number, secured?: Omit<SecuredListener, 'port'>): Promise<KafkaBroker> {
  const libraries = await fetchJars(KAFKA);
  const folder = await mkdtemp(join(tmpdir(), 'slotbook-kafka-'));
  const [port, controllerPort = 0, securedPort = 0] = await freePorts(3);
  const brokers = `127.0.0.1:${port}`;
  const settings = join(folder, 'server.properties');
  const properties = {
    ...brokerProperties({
      listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
      advertised: `PLAINTEXT://${brokers}`,
      controllerPort,
      ...(secured === undefined ? {} : { secured: { ...secured, port: securedPort } }),
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
  // As one argument, because an id may begin with a dash.
  const format = ['-cp', libraries, 'kafka.tools.StorageTool', 'format', `--cluster-id=${clusterId}`, '-c', settings];
  if (secured !== undefined) format.push(...scramUsers(secured));
  await run('java', [...SHORT_LIVED, ...format], { timeout: FORMAT_WITHIN_MS });

  const launch = () =>
    launchJava([...HEAP.split(' '), '-cp', libraries, 'kafka.Kafka', settings], (failed) =>
      awaitReady(brokers, failed),
    );
  let broker = await launch();
  return {
    brokers,
    ...(secured === undefined ? {} : { securedBrokers: `127.0.0.1:${securedPort}` }),
    how: `${KAFKA.title} from Maven Central on Java ${java}`,
    async restart(whileAway) {
      await broker.end('at once');
      try {
        await whileAway?.();
      } finally {
        broker = await launch();
      }
    },
    async stop() {
      await broker.end('gracefully');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function scramUsers({ user, password }: Omit<SecuredListener, 'port'>): readonly string[] {
  return ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
    '--add-scram',
    `${mechanism}=[name=${user},password=${password}]`,
  ]);
}
