// Checks the cluster files of deploy/: the engine parses them, and their addresses and names agree with each other.

import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Fastify from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DOWNLOAD_TIMEOUT_S } from '../../api/history/downloads.ts';
import { MAX_HEADER_BYTES } from '../../api/http/edge-errors.ts';
import { nodeEnvironment, nodeFlags } from '../../bin/node-flags.mjs';
import { needsClickHouse, ROLE_NAMES } from '../../bin/roles.ts';
import { type Config, readConfig } from '../config.ts';
import { usersConfig } from './users-config.ts';

const run = promisify(execFile);
const DEPLOY = new URL('../../deploy/', import.meta.url);
const START_WITHIN_MS = 60_000;

interface Service {
  readonly image?: string;
  readonly hostname?: string;
  readonly command?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks?: { readonly default: { readonly aliases: readonly string[] } };
  readonly depends_on?: unknown;
  readonly extends?: { readonly service: string };
}

/** Services with several instances. */
const SCALED = ['orderbook', 'history'];
const SCALE_MAX = 10;

/** Host ports of `8000-8009:80` or `80:80`. */
function hostPorts(pair: string): number[] {
  const [first = 0, last = first] = (pair.split(':')[0] ?? '').split('-').map(Number);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const read = (file: string) => readFileSync(new URL(file, DEPLOY), 'utf8');
const services = (file: string) =>
  (parse(read(file), { merge: true }) as { services: Readonly<Record<string, Service>> }).services;

/** Compose resolves the shell part of a value. */
function configOf(environment: Service['environment'] = {}): Config {
  const plain = Object.entries(environment).map(([name, value]) => [
    name,
    String(value).replace(/^\$\{\w+:-(.*)\}$/, '$1'),
  ]);
  return readConfig(Object.fromEntries(plain));
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'slotbook-deployment-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Loads a configuration file into the engine and returns each query's rows. */
async function understood(file: string, replica: string, queries: readonly string[]): Promise<readonly unknown[][]> {
  const out = (number: number) => path.join(folder, `${replica}-${number}.json`);
  const statements = queries.map((query, number) => `${query} INTO OUTFILE '${out(number)}' FORMAT JSONEachRow`);
  const flags = { path: path.join(folder, replica), 'config-file': fileURLToPath(new URL(file, DEPLOY)) };
  const argv = Object.entries({ ...flags, query: statements.join('; ') }).flatMap(([key, value]) => [
    `--${key}`,
    value,
  ]);
  const child = fileURLToPath(new URL('./child.ts', import.meta.url));
  const options = { env: { ...process.env, REPLICA: replica, CLUSTER_SECRET: 'secret' }, timeout: START_WITHIN_MS };
  // Its exit code says whether the last statement printed rows; these queries write to files instead.
  await run(process.execPath, ['--no-warnings', child, JSON.stringify(['clickhouse', ...argv])], options).catch(
    () => {},
  );
  return queries.map((_, number) => {
    const lines = readFileSync(out(number), 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as unknown);
  });
}

describe('deployment', () => {
  it('checks the start of every role, and publishes its metrics at a separate port', () => {
    const roles = Object.entries(services('compose.yaml')).filter(([, { command }]) => command?.includes('cli.ts run'));
    expect(roles.map(([name]) => name).sort()).toEqual([
      'exports',
      'history',
      'ingest',
      'orderbook',
      'page',
      'processors',
      'sink',
    ]);
    const { metricsPort, orderbookPort } = readConfig({});
    const published = roles.map(([name, { healthcheck, ports }]) => {
      const port = name === 'orderbook' ? orderbookPort : metricsPort;
      expect(healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${port}/startup`);
      return ports?.find((pair) => pair.endsWith(`:${metricsPort}`));
    });
    expect(published).not.toContain(undefined);
  });

  it('gives each host port to one service, and none fixed to a service with several instances', () => {
    const all = services('compose.yaml');
    const taken = Object.values(all).flatMap(({ ports = [] }) => ports.flatMap(hostPorts));
    expect(new Set(taken).size).toBe(taken.length);
    for (const name of SCALED) {
      const ports = all[name]?.ports ?? [];
      expect(ports.length).toBeGreaterThan(0);
      for (const pair of ports) expect(hostPorts(pair).length, `${name} ${pair}`).toBeGreaterThanOrEqual(SCALE_MAX);
      expect(read('README.md')).toContain(`--scale ${name}=2`);
    }
  });

  it('has a proxy that forwards each reader port to the role that listens there', () => {
    const { proxy } = services('compose.yaml');
    const { orderbookPort, gatewayPort, historyPort, pagePort } = readConfig({});
    const ports = [orderbookPort, gatewayPort, historyPort, pagePort];
    expect(proxy?.ports).toEqual(ports.map((port) => `${port}:${port}`));
    expect(proxy?.volumes).toEqual(['./proxy/nginx.conf:/etc/nginx/nginx.conf:ro']);
    const conf = read('proxy/nginx.conf');
    const role = (port: number) => new RegExp(`^\\s*${port} (\\w+);$`, 'm').exec(conf)?.[1];
    expect(ports.map(role)).toEqual(['orderbook', 'orderbook', 'history', 'page']);
    for (const port of ports) {
      expect(conf).toMatch(new RegExp(`listen ${port};\\s*(location / \\{\\s*)?proxy_pass (http://)?\\$role:${port};`));
    }
  });

  it('gives history the address of each client, which a client cannot choose', async () => {
    const [, http = ''] = read('proxy/nginx.conf').split(/^http \{$/m);
    const { historyPort } = readConfig({});
    expect(http).toContain(`proxy_pass http://$role:${historyPort};`);
    expect(http).toContain('proxy_set_header X-Forwarded-For $remote_addr;');
    for (const header of ['Upgrade $http_upgrade', 'Connection $connection_header'])
      expect(http).toContain(`proxy_set_header ${header};`);
    expect(http).toContain(`large_client_header_buffers 4 ${MAX_HEADER_BYTES / 1024}k;`);
    const { trustedProxies } = configOf(services('compose.yaml').history?.environment);
    const app = Fastify({ trustProxy: trustedProxies });
    app.get('/', ({ ip }) => ip);
    const headers = { 'x-forwarded-for': '203.0.113.1' };
    for (const remoteAddress of ['172.18.0.7', '192.168.32.3', '::ffff:172.20.0.2'])
      expect((await app.inject({ url: '/', remoteAddress, headers })).body).toBe('203.0.113.1');
  });

  it("gives every role's engine the settings of the command line", () => {
    const roles = Object.values(services('compose.yaml')).flatMap(({ command, environment }) =>
      command?.includes('bin/cli.ts') ? [{ words: command.split(' '), environment }] : [],
    );
    const [flags, variables]: [string[], string[]] = [[], []];
    for (const { words, environment } of roles) {
      const script = words.indexOf('bin/cli.ts');
      const args = words.slice(script + 1);
      expect(words.slice(1, script)).toEqual(nodeFlags(args));
      expect(environment).toMatchObject(nodeEnvironment(args, {}));
      flags.push(...nodeFlags(args));
      variables.push(...Object.keys(nodeEnvironment(args, {})));
    }
    expect([flags.length, variables.length].every((count) => count > 0)).toBe(true);
  });

  it("installs packages outside the checkout's own node_modules", () => {
    const mounts = Object.values(services('compose.yaml')).filter(({ volumes }) => volumes?.includes('..:/slotbook'));
    expect(mounts.length).toBe(9);
    for (const { volumes } of mounts) expect(volumes).toContain('node_modules:/slotbook/node_modules');
  });
});

describe('a ClickHouse server of the deployment', () => {
  it('waits for slow clients of downloads as long as the managed one', () => {
    const waits = (xml: string) => /<default>[\s\S]*?<http_send_timeout>(\d+)</.exec(xml)?.[1];
    expect(waits(read('clickhouse/users.xml'))).toBe(String(DOWNLOAD_TIMEOUT_S));
    expect(waits(usersConfig('secret', null))).toBe(String(DOWNLOAD_TIMEOUT_S));
    const { volumes } = services('compose.yaml').clickhouse ?? {};
    expect(volumes).toContain('./clickhouse/users.xml:/etc/clickhouse-server/users.d/slotbook.xml:ro');
  });
});

describe('deployment of a cluster', () => {
  it(
    'has servers that know each other, Keeper and their own names',
    async () => {
      const composed = services('compose.cluster.yaml');
      const replicas = ['clickhouse', 'clickhouse-2'].map((name) => composed[name]);
      const hosts = replicas.map((replica) => replica?.hostname ?? '');
      const keeper = /<tcp_port>(\d+)</.exec(read('clickhouse/keeper.xml'))?.[1];
      expect(/<host>keeper<\/host>\s*<port>(\d+)</.exec(read('clickhouse/cluster.xml'))?.[1]).toBe(keeper);
      expect(composed.keeper?.hostname).toBe('keeper');
      for (const host of hosts) {
        const [cluster, macros, settings] = await understood('clickhouse/cluster.xml', host, [
          'SELECT cluster, host_name, toUInt32(port) AS port, shard_num AS shard FROM system.clusters',
          'SELECT macro, substitution FROM system.macros ORDER BY macro',
          `SELECT name, value FROM system.server_settings
           WHERE name IN ('interserver_http_host', 'interserver_http_port', 'distributed_ddl.path') ORDER BY name`,
        ]);
        expect(cluster).toEqual(hosts.map((name) => ({ cluster: 'slotbook', host_name: name, port: 9000, shard: 1 })));
        expect(macros).toEqual([
          { macro: 'replica', substitution: host },
          { macro: 'shard', substitution: '1' },
        ]);
        expect(settings).toEqual([
          { name: 'distributed_ddl.path', value: '/clickhouse/slotbook/ddl' },
          { name: 'interserver_http_host', value: host },
          { name: 'interserver_http_port', value: '9009' },
        ]);
      }
    },
    2 * START_WITHIN_MS,
  );

  it('gives each server its name, the shared file and its own store', () => {
    const composed = services('compose.cluster.yaml');
    const single = services('compose.yaml');
    const { clickhouse: one, 'clickhouse-2': two } = composed;
    expect(two?.extends?.service).toBe('clickhouse');
    for (const service of [one, two]) {
      expect(service?.environment?.REPLICA).toBe(service?.hostname);
      expect(service?.volumes).toContain('./clickhouse/cluster.xml:/etc/clickhouse-server/config.d/cluster.xml:ro');
    }
    // Both servers answer to the name that roles use, and each to the name that the other one uses.
    expect(one?.networks?.default.aliases).toEqual(['clickhouse-1']);
    expect(two?.networks?.default.aliases).toEqual(['clickhouse']);
    expect(single.sink?.environment?.SLOTBOOK_CLICKHOUSE_URL).toBe('http://clickhouse:8123');
    expect(single.clickhouse?.volumes).toContain('clickhouse:/var/lib/clickhouse');
    expect(two?.volumes).toContain('clickhouse-2:/var/lib/clickhouse');
    expect(composed.keeper?.image?.split(':')[1]).toBe(single.clickhouse?.image?.split(':')[1]);
  });

  it('uses existing settings, and the cluster of the servers', () => {
    const composed = services('compose.cluster.yaml');
    const roles = Object.entries(services('compose.yaml')).filter(([, { command = '' }]) => {
      const words = command.split(' ');
      return needsClickHouse(ROLE_NAMES.filter((name) => words.includes(name)));
    });
    expect(roles.map(([name]) => name).sort()).toEqual(['exports', 'history', 'sink']);
    for (const [name, { environment }] of roles) {
      // The first one of them creates the tables, on both servers.
      expect(composed[name]?.depends_on, name).toEqual({ 'clickhouse-2': { condition: 'service_healthy' } });
      const settings = { ...environment, ...composed[name]?.environment };
      expect(configOf(settings)).toMatchObject({ clickhouseCluster: 'slotbook', clickhouseQuorum: 0 });
    }
    expect(read('README.md')).toContain('-f deploy/compose.yaml -f deploy/compose.cluster.yaml');
  });
});
