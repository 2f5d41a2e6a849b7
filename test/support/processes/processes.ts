// Real processes for end-to-end tests: roles of ours and the simulated cluster, each on free loopback ports.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { nodeEnvironment, nodeFlags } from '../../../bin/node-flags.mjs';
import { readConfig, serverLogin } from '../../../platform/index.ts';
import { bundled, bundleEnvironment } from '../platform/bundled.ts';
import { NODE_FLAGS } from '../platform/children.ts';
import { giveTables } from './migrated.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const START_TIMEOUT_MS = 240_000;
const STOP_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
/** A probe that takes long is repeated less often: asking takes a tenth of the time at most. */
const PAUSES_PER_PROBE = 9;
const PAUSE_MAX_MS = 1_000;
/** How long a check waits for an event that must come. A machine with two cores and many processes takes its time. */
export const PATIENCE_MS = 240_000;
const STDERR_KEPT_LINES = 200;
/** The first lines say why a process did not start. */
const STDERR_FIRST_LINES = 20;

export interface Running {
  readonly pid: number;
  readonly endpoints: Readonly<Record<string, string>>;
  readonly exited: Promise<number | null>;
  /** First and newest lines of standard error. */
  errors(): string;
  kill9(): Promise<void>;
  stop(): Promise<number | null>;
}

/** Settings as variables without the prefix, in upper snake case: `{ LOG: 'kafka' }`. */
export type Settings = Readonly<Record<string, string | number>>;

/** A fifth of the default: the first resume point and the end of a gap wait for audits. */
const AUDIT_MS = 1_000;
const FREE_PORTS: Settings = {
  HOST: '127.0.0.1',
  ORDERBOOK_PORT: 0,
  GATEWAY_PORT: 0,
  HISTORY_PORT: 0,
  METRICS_PORT: 0,
  // A busy machine cannot keep up with a chain at several times the speed. These tests do not look at how far it falls behind.
  BOOK_SLOTS_BEHIND_MAX: 10_000,
  LOG_LEVEL: 'warn',
  // Fewer, larger blocks: small ones cost ClickHouse most of the time of a test.
  SINK_MAX_DELAY_MS: 2_000,
};
/**
 * A release of the past does not know these. A query of 5 ms took more than 20 s on a machine that did other work beside the
 * tests.
 */
const NEWER_SETTINGS: Settings = { QUERY_TIMEOUT_MS: 55_000 };

/** Starts `slotbook run ROLE...` of the checkout at `root` and waits until it says that it is ready. */
export async function startRoles(roles: readonly string[], settings: Settings, root = ROOT): Promise<Running> {
  // A release of the past has its own migrations.
  if (roles.includes('clickhouse') && root === ROOT) {
    await giveTables(String(settings.DATA_DIR), (dataDir) => run(['clickhouse'], { DATA_DIR: dataDir }, root));
  }
  return run(roles, settings, root);
}

function run(roles: readonly string[], settings: Settings, root: string): Promise<Running> {
  const environment = Object.fromEntries(
    Object.entries({
      ...FREE_PORTS,
      AUDIT_MS,
      ...(root === ROOT ? NEWER_SETTINGS : {}),
      ...(roles.includes('page') ? { PAGE_PORT: 0 } : {}),
      ...settings,
    }).map(([name, value]) => [`SLOTBOOK_${name}`, String(value)]),
  );
  const endpointsOf = (line: Record<string, unknown>) => {
    const endpoints = (line.endpoints as Running['endpoints']) ?? {};
    if (endpoints.clickhouse === undefined || settings.CLICKHOUSE_URL !== undefined) return endpoints;
    return { ...endpoints, clickhouse: withLogin(endpoints.clickhouse, String(settings.DATA_DIR)) };
  };
  return start(['bin/cli.ts', 'run', ...roles], environment, endpointsOf, root);
}

/** The address of a managed child with the login of the pipeline, which clients of ClickHouse take from there. */
function withLogin(address: string, dataDir: string): string {
  const login = serverLogin(readConfig({}, { dataDir }));
  if (login === null) throw new Error(`no managed ClickHouse runs on ${dataDir}`);
  const url = new URL(address);
  url.username = login.user;
  url.password = login.password;
  return url.href.replace(/\/$/, '');
}

/** Address and headers for a plain request to an address with a login, which fetch does not take. */
export function plainRequest(address: string): { readonly url: string; readonly headers: Record<string, string> } {
  const { origin, username, password } = new URL(address);
  return { url: origin, headers: { 'x-clickhouse-user': username, 'x-clickhouse-key': password } };
}

export interface Cluster extends Running {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** JSON-RPC that the faults of the profile do not touch: where tests read the truth. */
  readonly faultlessUrl: string;
  /** Empty without the flag `grpc-port`. */
  readonly grpcUrl: string;
  readonly grpcUrls: readonly string[];
  /** Id of its vault program. */
  readonly vaultProgram: string;
  /** Key of the exchange's address lookup table. */
  readonly lookupTable: string;
  /** Asks at `faultlessUrl`. */
  rpc<T>(method: string, params?: unknown): Promise<T>;
}

/**
 * Starts the simulated cluster; `flags` are those of localnet/main.ts. CLUSTER_PROFILE sets the profile of tests that name
 * none.
 */
export async function startCluster(flags: Readonly<Record<string, string | number | boolean>> = {}): Promise<Cluster> {
  const profile = process.env.CLUSTER_PROFILE ?? 'mainnet';
  const args = Object.entries({ 'rpc-port': 0, 'ws-port': 0, 'keep-events': true, profile, ...flags }).flatMap(
    ([flag, value]) => (value === true ? [`--${flag}`] : value === false ? [] : [`--${flag}`, String(value)]),
  );
  const running = await start(['localnet/main.ts', ...args], {}, (line) => ({
    rpc: String(line.rpcUrl),
    pubsub: String(line.wsUrl),
    faultless: String(line.faultlessUrl),
    grpc: String(line.grpcUrl),
    grpcAll: String(line.grpcUrls),
    vaultProgram: String(line.vaultProgram),
    lookupTable: String(line.lookupTable),
  }));
  const faultlessUrl = running.endpoints.faultless ?? '';
  return {
    ...running,
    rpcUrl: running.endpoints.rpc ?? '',
    wsUrl: running.endpoints.pubsub ?? '',
    faultlessUrl,
    grpcUrl: running.endpoints.grpc ?? '',
    grpcUrls: (running.endpoints.grpcAll ?? '').split(',').filter((url) => url !== ''),
    vaultProgram: running.endpoints.vaultProgram ?? '',
    lookupTable: running.endpoints.lookupTable ?? '',
    rpc: (method, params = []) => rpcCall(faultlessUrl, method, params),
  };
}

export async function rpcCall<T>(url: string, method: string, params: unknown): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    // A kept connection can end, unnoticed by a busy test, just when the next call takes it.
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result: T; error?: unknown };
  if (error) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

async function start(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  endpointsOf: (line: Record<string, unknown>) => Running['endpoints'],
  root = ROOT,
): Promise<Running> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SLOTBOOK_'));
  const [script = '', ...rest] = args;
  const program = root === ROOT ? bundled(script) : script;
  const child = spawn(process.execPath, [...NODE_FLAGS, ...nodeFlags(rest), program, ...rest], {
    cwd: root,
    env: {
      ...Object.fromEntries(inherited),
      ...nodeEnvironment(rest),
      ...(program === script ? {} : bundleEnvironment()),
      ...environment,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    if (lines.length > STDERR_KEPT_LINES) lines.splice(STDERR_FIRST_LINES, 1);
  });
  const errors = () => lines.join('\n');
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  const endpoints = endpointsOf(await firstJsonLine(child, exited, args, errors));
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    const code = await Promise.race([exited, sleep(STOP_TIMEOUT_MS, 'late' as const)]);
    if (code !== 'late') return code;
    child.kill('SIGKILL');
    throw new Error(`${args.join(' ')} did not end within ${STOP_TIMEOUT_MS} ms\n${errors()}`);
  };
  return {
    pid: child.pid ?? 0,
    endpoints,
    exited,
    errors,
    kill9: async () => {
      await end('SIGKILL');
    },
    stop: () => end('SIGTERM'),
  };
}

async function firstJsonLine(
  child: ChildProcess,
  exited: Promise<number | null>,
  args: readonly string[],
  errors: () => string,
): Promise<Record<string, unknown>> {
  const { stdout } = child;
  if (!stdout) throw new Error('no standard output');
  const ready = new Promise<Record<string, unknown>>((resolve) => {
    createInterface({ input: stdout }).on('line', (line) => {
      if (line.startsWith('{')) resolve(JSON.parse(line) as Record<string, unknown>);
    });
  });
  const failed = exited.then((code) => {
    throw new Error(`${args.join(' ')} ended with ${code} before it was ready\n${errors()}`);
  });
  failed.catch(() => {});
  const inTime = new AbortController();
  const late = sleep(START_TIMEOUT_MS, undefined, { signal: inTime.signal }).then(() => {
    child.kill('SIGKILL');
    throw new Error(`${args.join(' ')} was not ready within ${START_TIMEOUT_MS} ms\n${errors()}`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([ready, failed, late]);
  } finally {
    inTime.abort();
  }
}

/** A temporary directory; removed by the returned function. */
export function temporaryDirectory(): { readonly dir: string; remove(): void } {
  const dir = mkdtempSync(path.join(tmpdir(), 'slotbook-e2e-'));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** Polls until `probe` returns something other than undefined or false. Throws with `what` after `timeoutMs`. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = PATIENCE_MS,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    const asked = performance.now();
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > deadline) throw new Error(`${what} did not happen within ${timeoutMs} ms`, { cause: lastError });
    await sleep(Math.max(POLL_MS, Math.min(PAUSES_PER_PROBE * (performance.now() - asked), PAUSE_MAX_MS)));
  }
}
