// One replica of the managed child's engine with ZooKeeper. The engine's local mode has no worker for ON CLUSTER statements, so
// ddl-worker.ts does that worker's work in front of it.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../../testing/ports.ts';
import { usersConfig } from '../analyst.ts';
import { serverConfig } from '../server-config.ts';
import type { HistoryCluster } from './cluster.ts';
import { startDdlWorker } from './ddl-worker.ts';
import { startZooKeeper } from './zookeeper.ts';

const NAME = 'slotbook';
const START_WITHIN_MS = 60_000;
const POLL_MS = 50;
const ANSWER_WITHIN_MS = 2_000;
const COMPLAINTS_MAX = 2000;
/** Until ZooKeeper notices that a killed server is gone, its tables stay read-only after the next start. */
const SESSION_MS = 2_000;

export async function startReplica(): Promise<HistoryCluster> {
  const zookeeper = await startZooKeeper();
  const directory = mkdtempSync(path.join(tmpdir(), 'slotbook-replica-'));
  const [http, tcp = 0, interserver = 0] = await freePorts(3);
  const files = { config: path.join(directory, 'config.xml'), users: path.join(directory, 'users.xml') };
  mkdirSync(path.join(directory, 'store'));
  writeFileSync(files.users, usersConfig(null));
  const replication = replicaConfig({ zookeeper: zookeeper.port, tcp, interserver });
  const config = serverConfig('replica', files.users);
  writeFileSync(files.config, config.replace('</clickhouse>', `${replication}</clickhouse>`));

  const url = `http://127.0.0.1:${http}`;
  const argv = engineArguments({ store: path.join(directory, 'store'), config: files.config, http, tcp });
  const launch = () => startEngine(String(interserver), argv, url);
  let engine = await launch();
  const worker = await startDdlWorker(url, NAME);
  return {
    how: `engine of the managed child, ${zookeeper.how}`,
    name: NAME,
    urls: [worker.url],
    user: 'default',
    password: '',
    kill: () => kill(engine),
    async start() {
      engine = await launch();
      await takesInserts(url);
    },
    async stop() {
      await worker.stop();
      await kill(engine);
      await zookeeper.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** What a server of a cluster has in its configuration beside what every server has. */
function replicaConfig(ports: {
  readonly zookeeper: number;
  readonly tcp: number;
  readonly interserver: number;
}): string {
  return `
<zookeeper>
  <node><host>127.0.0.1</host><port>${ports.zookeeper}</port></node>
  <session_timeout_ms>${SESSION_MS}</session_timeout_ms>
</zookeeper>
<macros><shard>1</shard><replica>one</replica></macros>
<remote_servers>
  <${NAME}><shard><internal_replication>true</internal_replication>
    <replica><host>127.0.0.1</host><port>${ports.tcp}</port></replica>
  </shard></${NAME}>
</remote_servers>
<interserver_http_host>127.0.0.1</interserver_http_host>
<interserver_http_port>${ports.interserver}</interserver_http_port>
`;
}

interface Engine {
  readonly store: string;
  readonly config: string;
  readonly http: number;
  readonly tcp: number;
}

function engineArguments({ store, config, http, tcp }: Engine): readonly string[] {
  const query = [
    'SYSTEM START LISTEN HTTP',
    'SYSTEM START LISTEN TCP',
    "SELECT count() FROM file('-', 'LineAsString', 'line String') SETTINGS max_execution_time = 0 FORMAT TSV",
  ].join('; ');
  const flags = {
    path: store,
    http_port: http,
    tcp_port: tcp,
    listen_host: '127.0.0.1',
    'config-file': config,
    'log-level': 'warning',
    query,
  };
  return ['clickhouse', ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])];
}

async function startEngine(interserver: string, argv: readonly string[], url: string): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('./replica-child.ts', import.meta.url));
  // Its standard input ends with us, and with it the engine.
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, interserver, JSON.stringify(argv)],
    {
      stdio: ['pipe', 'ignore', 'pipe'],
      env: { ...process.env, NODE_OPTIONS: '' },
    },
  );
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaints = (complaints + String(chunk)).slice(-COMPLAINTS_MAX);
  });
  child.stdin.on('error', () => {});
  const deadlineMs = performance.now() + START_WITHIN_MS;
  while (!(await answers(url, 'SELECT 1'))) {
    if (child.exitCode !== null) throw new Error(`the engine ended while starting: ${complaints}`);
    if (performance.now() > deadlineMs) throw new Error('the engine did not answer');
    await sleep(POLL_MS);
  }
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await gone;
}

/** The tables of a server that was killed are read-only until its old session in ZooKeeper has ended. */
async function takesInserts(url: string): Promise<void> {
  const deadlineMs = performance.now() + START_WITHIN_MS;
  while (!(await answers(url, 'SELECT throwIf(count() > 0) FROM system.replicas WHERE is_readonly'))) {
    if (performance.now() > deadlineMs) throw new Error('the tables stay read-only');
    await sleep(POLL_MS);
  }
}

async function answers(url: string, query: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    return (await fetch(url, { method: 'POST', body: query, signal })).ok;
  } catch {
    return false;
  }
}
