// Two ClickHouse servers with Keeper in containers, with the configuration files of deploy/clickhouse.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePorts } from '../platform/ports.ts';
import type { HistoryCluster } from './cluster.ts';

const KEEPER_IMAGE = 'clickhouse/clickhouse-keeper:26.7';
const SERVER_IMAGE = 'clickhouse/clickhouse-server:26.7';
const HTTP_PORT = 8123;
const START_WITHIN_MS = 120_000;
const POLL_MS = 100;
const ANSWER_WITHIN_MS = 2_000;
const deployed = (file: string) => fileURLToPath(new URL(`../../../deploy/clickhouse/${file}`, import.meta.url));

export async function startContainers(): Promise<HistoryCluster> {
  const { GenericContainer, getContainerRuntimeClient, Network } = await import('testcontainers');
  const runtime = await getContainerRuntimeClient();
  const { host } = runtime.info.containerRuntime;
  const network = await new Network().start();
  const keeper = await new GenericContainer(KEEPER_IMAGE)
    .withNetwork(network)
    .withNetworkAliases('keeper')
    .withCopyFilesToContainer([{ source: deployed('keeper.xml'), target: '/etc/clickhouse-keeper/keeper_config.xml' }])
    .start();
  const secret = randomBytes(16).toString('hex');
  // Fixed ports, so that the addresses survive a restart.
  const ports = await freePorts(2);
  const servers = await Promise.all(
    ports.map((port, index) =>
      new GenericContainer(SERVER_IMAGE)
        .withNetwork(network)
        .withHostname(`clickhouse-${index + 1}`)
        .withNetworkAliases(`clickhouse-${index + 1}`)
        .withExposedPorts({ container: HTTP_PORT, host: port })
        .withEnvironment({
          REPLICA: `clickhouse-${index + 1}`,
          CLUSTER_SECRET: secret,
          CLICKHOUSE_PASSWORD: secret,
          CLICKHOUSE_DEFAULT_ACCESS_MANAGEMENT: '1',
        })
        .withCopyFilesToContainer([
          { source: deployed('cluster.xml'), target: '/etc/clickhouse-server/config.d/cluster.xml' },
        ])
        .start(),
    ),
  );
  const url = (port: number) => `http://${host}:${port}`;
  const [first, ...rest] = ports;
  const docker = (replica: number) => runtime.container.getById(servers[replica]?.getId() ?? '');
  const ready = async (replica: number) => {
    const deadlineMs = performance.now() + START_WITHIN_MS;
    while (!(await takesInserts(url(ports[replica] ?? 0), secret))) {
      if (performance.now() > deadlineMs) throw new Error(`replica ${replica + 1} does not take inserts`);
      await sleep(POLL_MS);
    }
  };
  await Promise.all(ports.map((_, replica) => ready(replica)));
  return {
    how: `containers ${SERVER_IMAGE} (two) and ${KEEPER_IMAGE}`,
    name: 'slotbook',
    urls: [url(first), ...rest.map(url)],
    user: 'default',
    password: secret,
    async kill(replica) {
      await docker(replica).kill();
    },
    async start(replica) {
      await docker(replica).start();
      await ready(replica);
    },
    async stop() {
      for (const server of servers) await server.stop();
      await keeper.stop();
      await network.stop();
    },
  };
}

/** True when no replicated table is read-only. All are until Keeper has ended the previous session. */
async function takesInserts(url: string, password: string): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      headers: { 'x-clickhouse-user': 'default', 'x-clickhouse-key': password },
      body: "SELECT throwIf(count() > 0) FROM system.replicas WHERE is_readonly UNION ALL SELECT count() FROM system.zookeeper WHERE path = '/'",
    });
    return response.ok;
  } catch {
    return false;
  }
}
