// ClickHouse as a child process of ours: start, watch, start again when it dies, stop. One per data directory; another
// process with the same data directory uses the child of the first through `holder.json`.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { type Analyst, usersConfig } from './analyst.ts';
import { serverConfig } from './server-config.ts';

const HOST = '127.0.0.1';
/** A cold page cache reads 500 MB of library; measured 2.6 s, slow disks take longer. */
const START_MS = 30_000;
const PING_EVERY_MS = 25;
const PING_TIMEOUT_MS = 2_000;
/** A holder that was killed leaves a child that goes within about a second. */
const IN_USE_RETRY_MS = 250;
const STOP_MS = 10_000;
const RESTART_MS = 500;
const STDERR_KEPT_CHARS = 4_000;
const PORT_TAKEN = 'Code: 210';
const DIRECTORY_IN_USE = 'Code: 76';

export class ClickHouseStartError extends Error {
  override readonly name = 'ClickHouseStartError';
}

export interface ManagedServer {
  readonly url: string;
  /** Ends the child cleanly; only detaches when another process holds it. */
  stop(): Promise<void>;
}

/** Says at once, and clearly, when the optional packages of the managed child are not installed. */
export function assertEngineInstalled(
  resolve: (name: string) => unknown = createRequire(import.meta.url).resolve,
): void {
  for (const name of ['ffi-rs', 'chdb/libchdb']) {
    try {
      resolve(name);
    } catch (cause) {
      throw new ClickHouseStartError(
        `the managed ClickHouse needs the optional package ${name.split('/')[0]}, which is not installed: run npm install with optional packages, or set SLOTBOOK_CLICKHOUSE_URL to a server`,
        { cause },
      );
    }
  }
}

/**
 * Starts the child on `directory`, or attaches to the one that another live process runs there. `analyst` is who may log
 * in beside the pipeline itself; a child that is attached to has the users its holder gave it.
 */
export async function openManaged(directory: string, logger: Logger, analyst: Analyst | null): Promise<ManagedServer> {
  assertEngineInstalled();
  mkdirSync(path.join(directory, 'store'), { recursive: true });
  const deadlineMs = performance.now() + START_MS;
  let attempts = 0;
  for (;;) {
    const holder = readHolder(directory);
    if (holder && isAlive(holder.pid) && (await answers(holder.url, holder.instance))) {
      logger.info({ url: holder.url, holder: holder.pid }, 'using the managed ClickHouse of another process');
      return { url: holder.url, stop: () => Promise.resolve() };
    }
    try {
      return await Supervisor.start({ directory, port: await choosePort(holder), logger, analyst });
    } catch (error) {
      const inUse = error instanceof Error && error.message.includes(DIRECTORY_IN_USE);
      if (performance.now() > deadlineMs) throw inUse ? inUseError(directory, error) : error;
      // A held directory may be released, or its holder about to answer; anything else is tried once more.
      if (!inUse && ++attempts > 1) throw error;
      await sleep(IN_USE_RETRY_MS);
    }
  }
}

function inUseError(directory: string, cause: unknown): ClickHouseStartError {
  return new ClickHouseStartError(`${directory} is in use by another ClickHouse that does not answer`, { cause });
}

interface ChildOptions {
  readonly directory: string;
  readonly port: number;
  readonly logger: Logger;
  readonly analyst: Analyst | null;
}

/** Keeps one child alive on one port until stopped. */
class Supervisor implements ManagedServer {
  readonly url: string;
  readonly #options: ChildOptions;
  #child: Child;
  #stopping: Promise<void> | undefined;

  private constructor(options: ChildOptions, child: Child) {
    this.url = urlOf(options.port);
    this.#options = options;
    this.#child = child;
    this.#watch(child);
  }

  static async start(options: ChildOptions): Promise<Supervisor> {
    const child = await startChild(options);
    holdChild(options, child);
    return new Supervisor(options, child);
  }

  stop(): Promise<void> {
    this.#stopping ??= stopChild(this.#child);
    return this.#stopping;
  }

  #watch(child: Child): void {
    child.ended.then((code) => {
      if (this.#stopping) return;
      this.#options.logger.error(
        { code, output: child.output() },
        'the managed ClickHouse ended by itself; starting it again',
      );
      void this.#restart();
    });
  }

  async #restart(): Promise<void> {
    while (!this.#stopping) {
      await sleep(RESTART_MS);
      try {
        const child = await startChild(this.#options);
        holdChild(this.#options, child);
        this.#child = child;
        if (this.#stopping) await stopChild(child);
        else this.#watch(child);
        return;
      } catch (error) {
        this.#options.logger.error({ err: error }, 'the managed ClickHouse does not start again');
      }
    }
  }
}

interface Child {
  /** Random name that tells this child from any other listener on its port. */
  readonly instance: string;
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  /** The end of what it wrote to standard error. */
  output(): string;
}

async function startChild({ directory, port, logger, analyst }: ChildOptions): Promise<Child> {
  const instance = randomUUID();
  const configFile = path.join(directory, `config.${instance}.xml`);
  const usersFile = path.resolve(directory, `users.${instance}.xml`);
  writeFileSync(usersFile, usersConfig(analyst), { mode: 0o600 });
  writeFileSync(configFile, serverConfig(instance, usersFile));
  const beganMs = performance.now();
  const child = spawnChild(instance, engineArguments(path.join(directory, 'store'), configFile, port));
  try {
    for (;;) {
      const code = await Promise.race([child.ended, sleep(PING_EVERY_MS, 'running' as const)]);
      if (code !== 'running') throw startError(directory, port, child.output());
      if (await answers(urlOf(port), instance)) break;
      if (performance.now() - beganMs > START_MS) {
        await stopChild(child);
        throw new ClickHouseStartError(`the managed ClickHouse did not answer within ${START_MS / 1000} s`);
      }
    }
  } finally {
    for (const file of [configFile, usersFile]) rmSync(file, { force: true });
  }
  logger.info({ url: urlOf(port), startedMs: Math.round(performance.now() - beganMs) }, 'managed ClickHouse runs');
  return child;
}

function spawnChild(instance: string, argv: readonly string[]): Child {
  const script = fileURLToPath(new URL('./child.ts', import.meta.url));
  // A group of its own: ctrl-C in a terminal reaches only us, and we stop the child after its users.
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=1', script, JSON.stringify(argv)],
    { stdio: ['pipe', 'ignore', 'pipe'], detached: true, env: { ...process.env, NODE_OPTIONS: '' } },
  );
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-STDERR_KEPT_CHARS);
  });
  // Its end is reported through `ended`; a broken pipe says nothing more.
  child.stdin?.on('error', () => {});
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', resolve);
    child.once('error', (error) => {
      output += error.message;
      resolve(null);
    });
  });
  return { instance, process: child, ended, output: () => output.trim() };
}

function engineArguments(store: string, configFile: string, port: number): readonly string[] {
  const query = [
    'SYSTEM START LISTEN HTTP',
    // Reads standard input to its end: this is what keeps the process alive, and what ends it with its parent.
    "SELECT count() FROM file('-', 'LineAsString', 'line String') SETTINGS max_execution_time = 0 FORMAT TSV",
  ].join('; ');
  const flags = {
    path: store,
    http_port: port,
    listen_host: HOST,
    'config-file': configFile,
    'log-level': 'warning',
    query,
  };
  return ['clickhouse', ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])];
}

function startError(directory: string, port: number, output: string): ClickHouseStartError {
  if (output.includes(PORT_TAKEN)) return new ClickHouseStartError(`port ${port} for ClickHouse is taken: ${output}`);
  if (output.includes(DIRECTORY_IN_USE)) return new ClickHouseStartError(`${directory} is in use: ${output}`);
  return new ClickHouseStartError(`the managed ClickHouse ended at once: ${output || 'without a word'}`);
}

async function stopChild(child: Child): Promise<void> {
  child.process.stdin?.end();
  const killer = setTimeout(() => child.process.kill('SIGKILL'), STOP_MS);
  await child.ended;
  clearTimeout(killer);
}

async function answers(url: string, instance: string): Promise<boolean> {
  try {
    // No connection is kept, because an open one delays the engine's stop.
    const response = await fetch(`${url}/?query=SELECT+displayName()`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(PING_TIMEOUT_MS),
    });
    return (await response.text()).trim() === instance;
  } catch {
    return false;
  }
}

/** The port of the last run when it is free, so that other processes find the child again after a restart. */
async function choosePort(holder: Holder | null): Promise<number> {
  if (holder && (await probePort(holder.port)) !== null) return holder.port;
  const port = await probePort(0);
  if (port === null) throw new ClickHouseStartError(`no free port on ${HOST}`);
  return port;
}

function probePort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, HOST, () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : null));
    });
  });
}

interface Holder {
  readonly pid: number;
  readonly url: string;
  readonly port: number;
  readonly instance: string;
}

const holderFile = (directory: string) => path.join(directory, 'holder.json');

function readHolder(directory: string): Holder | null {
  try {
    return JSON.parse(readFileSync(holderFile(directory), 'utf8')) as Holder;
  } catch {
    return null;
  }
}

function holdChild({ directory, port }: ChildOptions, { instance }: Child): void {
  writeHolder(directory, { pid: process.pid, url: urlOf(port), port, instance });
}

function writeHolder(directory: string, holder: Holder): void {
  const draft = `${holderFile(directory)}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(holder)}\n`);
  renameSync(draft, holderFile(directory));
}

function urlOf(port: number): string {
  return `http://${HOST}:${port}`;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
