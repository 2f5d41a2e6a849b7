// `slotbook doctor`: checks the machine and the configured services, one line each.

import { createServer } from 'node:net';
import { type Config, describeConfig, listenPlaces } from '../platform/index.ts';
import { loadDefinition, RegistryClient, withVaultProgram } from '../schemas/index.ts';
import { openLog } from './log.ts';
import { callRpc, messageOf } from './rpc.ts';

const TIMEOUT_MS = 3_000;
const EXIT_PROBLEM = 1;

interface Finding {
  readonly ok: boolean;
  readonly what: string;
  readonly detail: string;
}

/** Resolves to 0 when every check passes, else 1. */
export async function doctor(config: Config): Promise<number> {
  process.stdout.write(`${JSON.stringify(describeConfig(config), null, 2)}\n`);
  const findings = await Promise.all([
    finding('node', async () => process.version),
    finding('chain definition', async () => {
      const { name, programs } = withVaultProgram(loadDefinition(config.definition), config.vaultProgram);
      return `${name}: ${programs.map(({ programId }) => programId).join(', ')}`;
    }),
    finding('uWebSockets.js', () => loads('uWebSockets.js')),
    finding('event log', async () => {
      // Without the registry: opening the log with it would register our schemas.
      const log = await openLog({ ...config, schemaRegistryUrl: '' });
      await log?.close();
      return log?.kind ?? 'embedded, created at the first start';
    }),
    finding('ClickHouse', () =>
      config.clickhouseUrl === '' ? loads('chdb/libchdb') : answers(new URL('/ping', config.clickhouseUrl)),
    ),
    ...(config.schemaRegistryUrl === ''
      ? []
      : [
          finding(
            'schema registry',
            async () => `${await new RegistryClient(config.schemaRegistryUrl).subjects()} subjects`,
          ),
        ]),
    finding('RPC', () => rpcHealth(config.rpcUrl)),
    ...(['orderbookPort', 'gatewayPort', 'historyPort', 'metricsPort', 'pagePort'] as const).map((key) =>
      finding(`${key} ${config[key]} is free`, () => canListen(config.host, config[key])),
    ),
  ]);
  for (const { ok, what, detail } of findings) process.stdout.write(`${ok ? 'ok  ' : 'MISS'} ${what}: ${detail}\n`);
  return findings.every(({ ok }) => ok) ? 0 : EXIT_PROBLEM;
}

async function finding(what: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return { ok: true, what, detail: await look() };
  } catch (error) {
    return { ok: false, what, detail: messageOf(error) };
  }
}

async function loads(name: string): Promise<string> {
  await import(name);
  return 'installed';
}

async function answers(url: URL): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`answers ${response.status}`);
  return (await response.text()).trim();
}

/** The version that the node reports. Throws an Error without secrets of the URL when no node answers. */
async function rpcHealth(url: string): Promise<string> {
  return JSON.stringify(await callRpc(url, 'getVersion', TIMEOUT_MS));
}

async function canListen(host: string, port: number): Promise<string> {
  const { first, others } = await listenPlaces(host, port);
  for (const address of [first, ...others]) {
    await new Promise<void>((resolve, reject) => {
      const server = createServer();
      server.once('error', reject);
      server.listen(port, address, () => server.close(() => resolve()));
    });
  }
  return 'yes';
}
