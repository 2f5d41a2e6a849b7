// `slotbook doctor`: what this machine has and whether the configured services answer, one line each.

import { createServer } from 'node:net';
import { type Config, describeConfig } from '../platform/index.ts';
import { loadDefinition, RegistryClient, withVaultProgram } from '../schemas/index.ts';
import { openLog } from './log.ts';
import { askRpc, messageOf } from './rpc.ts';

const TIMEOUT_MS = 3_000;
const EXIT_PROBLEM = 1;

interface Finding {
  readonly ok: boolean;
  readonly what: string;
  readonly detail: string;
}

/** Resolves to 0 when everything needed is there, else 1. */
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
      // Without the registry, in which a look would leave our schemas.
      const log = await openLog({ ...config, schemaRegistryUrl: '' });
      await log?.close();
      return log?.kind ?? 'embedded, made at the first start';
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
    ...(['orderbookPort', 'gatewayPort', 'historyPort', 'metricsPort'] as const).map((key) =>
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

/** What the node says of its version. Throws an Error without secrets of the URL when no node answers. */
async function rpcHealth(url: string): Promise<string> {
  return JSON.stringify(await askRpc(url, 'getVersion', TIMEOUT_MS));
}

function canListen(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, host, () => server.close(() => resolve('yes')));
  });
}
