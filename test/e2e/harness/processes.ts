// Real processes for end-to-end tests: roles of ours and the simulated cluster, each on free loopback ports.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { nodeFlags } from '../../../bin/node-flags.mjs';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Of every process that is started here, before its program: it ends when the test's process does. */
export const NODE_FLAGS = [
  '--disable-warning=ExperimentalWarning',
  '--import',
  new URL('./leash.ts', import.meta.url).href,
];
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 50;
const STDERR_KEPT_LINES = 200;

export interface Running {
  readonly pid: number;
  readonly endpoints: Readonly<Record<string, string>>;
  readonly exited: Promise<number | null>;
  /** Newest lines of standard error. */
  errors(): string;
  kill9(): Promise<void>;
  stop(): Promise<number | null>;
}

/** Settings as variables without the prefix, in upper snake case: `{ LOG: 'kafka' }`. */
export type Settings = Readonly<Record<string, string | number>>;

const FREE_PORTS: Settings = {
  HOST: '127.0.0.1',
  ORDERBOOK_PORT: 0,
  GATEWAY_PORT: 0,
  HISTORY_PORT: 0,
  METRICS_PORT: 0,
  LOG_LEVEL: 'warn',
};

/** Starts `slotbook run ROLE...` and waits until it says that it is ready. */
export async function startRoles(roles: readonly string[], settings: Settings): Promise<Running> {
  const environment = Object.fromEntries(
    Object.entries({ ...FREE_PORTS, ...settings }).map(([name, value]) => [`SLOTBOOK_${name}`, String(value)]),
  );
  return start(['bin/cli.ts', 'run', ...roles], environment, (line) => (line.endpoints as Running['endpoints']) ?? {});
}

export interface Cluster extends Running {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  /** Id of its vault program. */
  readonly vaultProgram: string;
  rpc<T>(method: string, params?: unknown): Promise<T>;
}

/** Starts the simulated cluster; `flags` are those of localnet/main.ts. */
export async function startCluster(flags: Readonly<Record<string, string | number | boolean>> = {}): Promise<Cluster> {
  const args = Object.entries({ 'rpc-port': 0, 'ws-port': 0, 'keep-events': true, ...flags }).flatMap(
    ([flag, value]) => (value === true ? [`--${flag}`] : value === false ? [] : [`--${flag}`, String(value)]),
  );
  const running = await start(['localnet/main.ts', ...args], {}, (line) => ({
    rpc: String(line.rpcUrl),
    pubsub: String(line.wsUrl),
    vaultProgram: String(line.vaultProgram),
  }));
  const rpcUrl = running.endpoints.rpc ?? '';
  return {
    ...running,
    rpcUrl,
    wsUrl: running.endpoints.pubsub ?? '',
    vaultProgram: running.endpoints.vaultProgram ?? '',
    rpc: (method, params = []) => rpcCall(rpcUrl, method, params),
  };
}

export async function rpcCall<T>(url: string, method: string, params: unknown): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    // A kept connection can end, unheard of by a busy test, just when the next call takes it.
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
): Promise<Running> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SLOTBOOK_'));
  const child = spawn(process.execPath, [...NODE_FLAGS, ...nodeFlags(args.slice(1)), ...args], {
    cwd: ROOT,
    env: { ...Object.fromEntries(inherited), ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(line);
    if (lines.length > STDERR_KEPT_LINES) lines.shift();
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
  timeoutMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    if (Date.now() > deadline) throw new Error(`${what} did not happen within ${timeoutMs} ms`, { cause: lastError });
    await sleep(POLL_MS);
  }
}
