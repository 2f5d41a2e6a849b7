// Runs ClickHouse as a child process: starts, watches, restarts and stops it. There is one per data directory; other processes
// find it through `holder.json`, and run their own when its owner is gone.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Analyst } from './analyst.ts';
import { choosePort, HOST, type Holder, isAlive, isFree, readHolder, urlOf, writeHolder } from './holder.ts';
import { type Confinement, landlockVersion } from './landlock.ts';
import { PIPELINE_USER, pipelinePassword } from './password.ts';
import { serverConfig } from './server-config.ts';
import { usersConfig } from './users-config.ts';

/** With a cold page cache it reads a library of 500 MB: 2.6 s measured, slow disks take longer. */
const START_MS = 30_000;
const PING_EVERY_MS = 25;
const PING_TIMEOUT_MS = 2_000;
/** The child of a killed owner exits within about a second. */
const IN_USE_RETRY_MS = 250;
/** A killed child frees its port within about a second; a busy machine takes longer. */
const PORT_WAIT_MS = 10_000;
const PORT_POLL_MS = 100;
const STOP_MS = 10_000;
const RETRY_MS = 500;
/** How often a process checks the child of another one. */
const LOOK_MS = 1_000;
/** A living owner restarts its child by itself; other processes wait this long for it. */
const SILENT_MS = 10_000;
const REPORT_EVERY_MS = 30_000;
const STDERR_KEPT_CHARS = 4_000;
const CHILD_VARIABLES = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH'];
const PORT_TAKEN = 'Code: 210';
const DIRECTORY_IN_USE = 'Code: 76';

class ClickHouseStartError extends Error {
  override readonly name = 'ClickHouseStartError';
}

export interface ManagedServer {
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** Rejects when the child can only start at another address; users of this one must then restart. */
  readonly failed: Promise<never>;
  /** Ends the child cleanly; only detaches when another process owns it. */
  stop(): Promise<void>;
}

/** Fails early, with the package names, when the optional packages of the managed child are not installed. */
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
 * Starts the child on `directory`, or attaches to the child that another live process runs there. `analyst` may log in besides
 * the pipeline; an attached child has the users of its owner.
 */
export async function openManaged(directory: string, logger: Logger, analyst: Analyst | null): Promise<ManagedServer> {
  assertEngineInstalled();
  mkdirSync(path.join(directory, 'store'), { recursive: true });
  const place: Place = { directory, logger, analyst, password: pipelinePassword(directory) };
  const deadlineMs = performance.now() + START_MS;
  let attempts = 0;
  for (;;) {
    try {
      return new Supervisor(place, await findOrStart(place));
    } catch (error) {
      const inUse = isInUse(error);
      if (performance.now() > deadlineMs) throw inUse ? inUseError(directory, error) : error;
      // The owner may release its directory or answer soon; any other failure gets one more attempt.
      if (!inUse && ++attempts > 1) throw error;
      await sleep(IN_USE_RETRY_MS);
    }
  }
}

function isInUse(error: unknown): boolean {
  return error instanceof Error && error.message.includes(DIRECTORY_IN_USE);
}

function inUseError(directory: string, cause: unknown): ClickHouseStartError {
  return new ClickHouseStartError(`${directory} is in use by another ClickHouse that does not answer`, { cause });
}

interface Place {
  readonly directory: string;
  readonly logger: Logger;
  readonly analyst: Analyst | null;
  readonly password: string;
}

/** The child in use: this process's own, or another process's. */
type Used = { readonly url: string } & ({ readonly child: Child } | { readonly child: null; readonly holder: Holder });

async function findOrStart(place: Place): Promise<Used> {
  const { directory, logger } = place;
  const deadlineMs = performance.now() + PORT_WAIT_MS;
  let port: number | null = null;
  while (port === null) {
    const holder = readHolder(directory);
    if (holder && isAlive(holder) && (await answers(holder, place.password))) {
      logger.info({ url: holder.url, holder: holder.pid }, 'using the managed ClickHouse of another process');
      return { url: holder.url, child: null, holder };
    }
    // Reuses the last child's port, so that other processes find the next one at the address they know.
    if (holder && (await isFree(holder.port))) port = holder.port;
    else if (holder && performance.now() < deadlineMs) await sleep(PORT_POLL_MS);
    else port = await choosePort();
    if (port === null && performance.now() > deadlineMs) throw new ClickHouseStartError(`no free port on ${HOST}`);
  }
  const child = await startChild(place, port);
  writeHolder(directory, { port, instance: child.instance });
  return { url: urlOf(port), child };
}

/** Keeps a child alive at one address until stopped: restarts its own, and replaces an owner that is gone. */
class Supervisor implements ManagedServer {
  readonly url: string;
  readonly user = PIPELINE_USER;
  readonly password: string;
  readonly failed: Promise<never>;
  readonly #place: Place;
  readonly #stopping = new AbortController();
  readonly #watching: Promise<void>;
  #used: Used;
  #fail: (error: Error) => void = () => {};

  constructor(place: Place, used: Used) {
    this.url = used.url;
    this.password = place.password;
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // Waiters get the failure; without one it must not end the process as an unhandled rejection.
    this.failed.catch(() => {});
    this.#place = place;
    this.#used = used;
    this.#watching = this.#watch();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#used.child) await stopChild(this.#used.child);
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      if (this.#used.child) await this.#untilEnded(this.#used.child);
      else await this.#untilSilent(this.#used.holder);
      if (signal.aborted) return;
      const used = await this.#again();
      if (used === null) return;
      this.#used = used;
      if (used.url === this.url) continue;
      this.#fail(new ClickHouseStartError(`the managed ClickHouse has moved from ${this.url} to ${used.url}`));
      return;
    }
  }

  async #untilEnded(child: Child): Promise<void> {
    const code = await child.ended;
    if (this.#stopping.signal.aborted) return;
    this.#place.logger.error(
      { code, output: child.output() },
      'the managed ClickHouse ended by itself; starting it again',
    );
  }

  /** Its timer also keeps a process alive whose only work is to host the child. */
  async #untilSilent(holder: Holder): Promise<void> {
    const { signal } = this.#stopping;
    let answeredMs = performance.now();
    while (!signal.aborted) {
      await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
      const newest = readHolder(this.#place.directory) ?? holder;
      if (await answers(newest, this.#place.password)) answeredMs = performance.now();
      else if (!isAlive(newest) || performance.now() - answeredMs > SILENT_MS) break;
      if (newest.url !== this.url) break;
    }
    if (!signal.aborted)
      this.#place.logger.warn({ holder: holder.pid }, 'the owner of the managed ClickHouse has ended');
  }

  /** Null when stopped. Retries without a limit, because there is no alternative. */
  async #again(): Promise<Used | null> {
    const { signal } = this.#stopping;
    let reportMs = performance.now();
    while (!signal.aborted) {
      try {
        const used = await findOrStart(this.#place);
        if (!signal.aborted) return used;
        if (used.child) await stopChild(used.child);
      } catch (error) {
        if (performance.now() >= reportMs && !isInUse(error)) {
          this.#place.logger.error({ err: error }, 'the managed ClickHouse does not restart');
          reportMs = performance.now() + REPORT_EVERY_MS;
        }
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
    return null;
  }
}

interface Child {
  readonly instance: string;
  readonly process: ChildProcess;
  readonly ended: Promise<number | null>;
  /** The last part of its standard error. */
  output(): string;
}

async function startChild({ directory, logger, analyst, password }: Place, port: number): Promise<Child> {
  const instance = randomUUID();
  const configFile = path.resolve(directory, `config.${instance}.xml`);
  const usersFile = path.resolve(directory, `users.${instance}.xml`);
  writeFileSync(usersFile, usersConfig(password, analyst), { mode: 0o600 });
  writeFileSync(configFile, serverConfig(instance, usersFile));
  const beganMs = performance.now();
  const store = path.join(directory, 'store');
  const confinement: Confinement | null =
    landlockVersion() > 0 ? { folder: store, files: [configFile, usersFile], port } : null;
  const child = spawnChild(instance, engineArguments(store, configFile, port), confinement);
  try {
    for (;;) {
      const code = await Promise.race([child.ended, sleep(PING_EVERY_MS, 'running' as const)]);
      if (code !== 'running') throw startError(directory, port, child.output());
      if (await answers({ url: urlOf(port), instance }, password)) break;
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

function spawnChild(instance: string, argv: readonly string[], confinement: Confinement | null): Child {
  const script = fileURLToPath(new URL('./child.ts', import.meta.url));
  // In its own process group: ctrl-C in a terminal reaches only us, and we stop the child after its users.
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--max-semi-space-size=1',
      script,
      JSON.stringify(argv),
      ...(confinement === null ? [] : [JSON.stringify(confinement)]),
    ],
    { stdio: ['pipe', 'ignore', 'pipe'], detached: true, env: childEnvironment() },
  );
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-STDERR_KEPT_CHARS);
  });
  // `ended` reports its end; a broken pipe adds nothing.
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

/** Without our settings: they contain secrets, and the engine's users might find a way to read them. */
function childEnvironment(): Record<string, string> {
  const kept = CHILD_VARIABLES.flatMap((name): [string, string][] => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(kept);
}

function engineArguments(store: string, configFile: string, port: number): readonly string[] {
  const query = [
    'SYSTEM START LISTEN HTTP',
    // Reads standard input to its end: this keeps the process alive, and ends it with its parent.
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
  return new ClickHouseStartError(`the managed ClickHouse ended at once: ${output || 'without output'}`);
}

async function stopChild(child: Child): Promise<void> {
  child.process.stdin?.end();
  const killer = setTimeout(() => child.process.kill('SIGKILL'), STOP_MS);
  await child.ended;
  clearTimeout(killer);
}

async function answers({ url, instance }: Pick<Holder, 'url' | 'instance'>, password: string): Promise<boolean> {
  try {
    // Closes the connection, because an open one delays the engine's stop.
    const response = await fetch(`${url}/?query=SELECT+displayName()`, {
      headers: { connection: 'close', 'x-clickhouse-user': PIPELINE_USER, 'x-clickhouse-key': password },
      signal: AbortSignal.timeout(PING_TIMEOUT_MS),
    });
    return (await response.text()).trim() === instance;
  } catch {
    return false;
  }
}
