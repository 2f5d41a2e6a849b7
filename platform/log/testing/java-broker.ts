// Apache Kafka on this machine's Java: jars from Maven Central once, then one KRaft broker in a temporary folder.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { KafkaBroker } from './broker.ts';
import { awaitReady, brokerProperties, freePorts, HEAP } from './broker-settings.ts';

const run = promisify(execFile);

const KAFKA_VERSION = '4.1.0';
const SCALA_VERSION = '2.13';
const LOG4J_VERSION = '2.24.3';
const JAVA_MIN = 17;
const CACHE = fileURLToPath(new URL(`../../../node_modules/.cache/slotbook/kafka-${KAFKA_VERSION}`, import.meta.url));
const MAVEN_WITHIN_MS = 180_000;
const FORMAT_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 8_000;
const CLUSTER_ID_BYTES = 16;
const COMPLAINTS_MAX = 2000;

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>slotbook</groupId>
  <artifactId>kafka-for-tests</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka_${SCALA_VERSION}</artifactId>
      <version>${KAFKA_VERSION}</version>
    </dependency>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId>
      <artifactId>log4j-slf4j-impl</artifactId>
      <version>${LOG4J_VERSION}</version>
    </dependency>
  </dependencies>
</project>
`;

/** Major version of `java` on the PATH, or null when it is missing, too old, or there is nothing to fetch Kafka with. */
export async function javaVersion(): Promise<number | null> {
  try {
    const { stderr } = await run('java', ['-version']);
    const version = Number(/version "(\d+)/.exec(stderr)?.[1]);
    if (!(version >= JAVA_MIN)) return null;
    if (!existsSync(CACHE)) await run('mvn', ['-version']);
    return version;
  } catch {
    return null;
  }
}

export async function startJavaBroker(java: number): Promise<KafkaBroker> {
  const libraries = join(await fetchKafka(), '*');
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
  const format = ['-cp', libraries, 'kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', settings];
  await run('java', format, { timeout: FORMAT_WITHIN_MS });

  let broker = await launch(libraries, settings, brokers);
  return {
    brokers,
    how: `Apache Kafka ${KAFKA_VERSION} from Maven Central on Java ${java}`,
    async restart() {
      await end(broker, 'at once');
      broker = await launch(libraries, settings, brokers);
    },
    async stop() {
      await end(broker, 'gracefully');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Runs Java and passes SIGTERM on. The pipe at its standard input is the leash: when it closes, because we close it or
 * because we were killed, the broker is killed at once. In a session of its own, so that a signal to the terminal's
 * group does not reach the broker before its users are done.
 */
const LEASH = `
exec 3<&0
java "$@" </dev/null &
broker=$!
trap 'kill -TERM $broker' TERM
( cat <&3; kill -KILL $broker ) >/dev/null 2>&1 &
wait $broker
wait $broker
`;

async function launch(libraries: string, settings: string, brokers: string): Promise<ChildProcess> {
  const options = [...HEAP.split(' '), '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  const java = [...options, '-cp', libraries, 'kafka.Kafka', settings];
  const child = spawn('sh', ['-c', LEASH, 'kafka', ...java], { detached: true, stdio: ['pipe', 'ignore', 'pipe'] });
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaints = (complaints + chunk.toString()).slice(-COMPLAINTS_MAX);
  });
  child.once('error', (error) => {
    complaints += error.message;
  });
  const ended = () => (isGone(child) ? complaints || 'no message' : null);
  try {
    await awaitReady(brokers, ended);
  } catch (error) {
    child.stdin.end();
    throw error;
  }
  return child;
}

async function end(child: ChildProcess, how: 'gracefully' | 'at once'): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    if (isGone(child)) resolve();
    child.once('exit', () => resolve());
  });
  if (how === 'gracefully') {
    child.kill('SIGTERM');
    await Promise.race([gone, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
  }
  child.stdin?.end();
  await gone;
}

function isGone({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Folder of the jars; fetched beside it first, so that a run cut short or a second one leaves no half of it. */
async function fetchKafka(): Promise<string> {
  if (existsSync(CACHE)) return CACHE;
  await mkdir(dirname(CACHE), { recursive: true });
  const draft = await mkdtemp(`${CACHE}-`);
  await writeFile(join(draft, 'pom.xml'), POM);
  process.stdout.write(`fetching Apache Kafka ${KAFKA_VERSION} from Maven Central, once\n`);
  const copy = ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${join(draft, 'jars')}`];
  await run('mvn', copy, { cwd: draft, timeout: MAVEN_WITHIN_MS }).catch(async (error: unknown) => {
    await rm(draft, { recursive: true, force: true });
    throw new Error('Maven could not fetch Apache Kafka from Maven Central', { cause: error });
  });
  try {
    await rename(join(draft, 'jars'), CACHE);
  } catch (error) {
    if (!existsSync(CACHE)) throw error;
  }
  await rm(draft, { recursive: true, force: true });
  return CACHE;
}
