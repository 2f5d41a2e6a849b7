// Apache ZooKeeper on this machine's Java: the coordination service of replicated tables, which speaks what ClickHouse Keeper
// speaks.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchJars, type Jars, launchJava } from '../../testing/java.ts';
import { freePorts } from '../../testing/ports.ts';

const VERSION = '3.9.4';
const READY_WITHIN_MS = 60_000;
const RETRY_MS = 100;
const ANSWER_WITHIN_MS = 1_000;

export const ZOOKEEPER: Jars = {
  title: `Apache ZooKeeper ${VERSION}`,
  name: `zookeeper-${VERSION}`,
  // Its own description leaves the last two to whoever runs a server.
  artifacts: [
    `org.apache.zookeeper:zookeeper:${VERSION}`,
    'io.dropwizard.metrics:metrics-core:4.2.30',
    'org.xerial.snappy:snappy-java:1.1.10.7',
  ],
};

export interface ZooKeeper {
  readonly port: number;
  /** For the report of a test run. */
  readonly how: string;
  stop(): Promise<void>;
}

export async function startZooKeeper(): Promise<ZooKeeper> {
  const libraries = await fetchJars(ZOOKEEPER);
  const folder = await mkdtemp(join(tmpdir(), 'slotbook-zookeeper-'));
  const [port] = await freePorts(1);
  const settings = {
    clientPort: port,
    clientPortAddress: '127.0.0.1',
    dataDir: join(folder, 'data'),
    // Sessions last 2 to 20 ticks: a killed server's tables must become writable again within seconds.
    tickTime: 500,
    maxClientCnxns: 0,
    'admin.enableServer': false,
    // Nothing here must survive the machine.
    forceSync: 'no',
    '4lw.commands.whitelist': 'ruok',
  };
  const file = join(folder, 'zoo.cfg');
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(file, lines.join(''));
  const main = 'org.apache.zookeeper.server.ZooKeeperServerMain';
  const server = await launchJava(['-Xmx128m', '-cp', libraries, main, file], (failed) => awaitReady(port, failed));
  return {
    port,
    how: `${ZOOKEEPER.title} from Maven Central`,
    async stop() {
      await server.end('at once');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function awaitReady(port: number, failed: () => string | null): Promise<void> {
  const deadlineMs = performance.now() + READY_WITHIN_MS;
  while (!(await saysOk(port))) {
    const reason = failed();
    if (reason !== null) throw new Error(`ZooKeeper ended while starting: ${reason}`);
    if (performance.now() > deadlineMs) throw new Error('ZooKeeper did not become ready');
    await sleep(RETRY_MS);
  }
}

/** The server's own question: `ruok` is answered with `imok`. */
function saysOk(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write('ruok'));
    socket.on('data', (chunk) => {
      answer += String(chunk);
    });
    // A server that is not ready may take the question and never answer.
    socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy());
    socket.on('error', () => resolve(false));
    socket.on('close', () => resolve(answer === 'imok'));
  });
}
