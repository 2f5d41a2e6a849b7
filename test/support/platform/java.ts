// Test servers on this machine's Java: jars from Maven Central, fetched once into node_modules/.cache, and a process that
// ends with ours.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const JAVA_MIN = 17;
const MAVEN_WITHIN_MS = 180_000;
const STOP_WITHIN_MS = 8_000;
const COMPLAINTS_MAX = 2000;
/** A test server lives for seconds: better compiled code and threads that collect garbage cost more than they give. */
export const SHORT_LIVED = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

export interface Jars {
  /** Display name: "Apache Kafka 4.1.0". */
  readonly title: string;
  /** Folder name in the cache. It contains the version, so that a new version is fetched. */
  readonly name: string;
  /** `group:artifact:version`; their dependencies come along. */
  readonly artifacts: readonly string[];
}

const cacheOf = ({ name }: Jars) =>
  fileURLToPath(new URL(`../../../node_modules/.cache/slotbook/${name}`, import.meta.url));

/** Major version of `java` on the PATH; null when it is missing or too old, or when Maven is missing. */
export async function javaVersion(jars: Jars): Promise<number | null> {
  try {
    const { stderr } = await run('java', ['-version']);
    const version = Number(/version "(\d+)/.exec(stderr)?.[1]);
    if (!(version >= JAVA_MIN)) return null;
    if (!existsSync(cacheOf(jars))) await run('mvn', ['-version']);
    return version;
  } catch {
    return null;
  }
}

/** Class path of the jars. Fetches into a temporary folder first, so that an interrupted run leaves no partial cache. */
export async function fetchJars(jars: Jars): Promise<string> {
  const cache = cacheOf(jars);
  const classPath = join(cache, '*');
  if (existsSync(cache)) return classPath;
  await mkdir(dirname(cache), { recursive: true });
  const draft = await mkdtemp(`${cache}-`);
  await writeFile(join(draft, 'pom.xml'), pomOf(jars));
  process.stdout.write(`fetching ${jars.title} from Maven Central, once\n`);
  const copy = ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${join(draft, 'jars')}`];
  await run('mvn', copy, { cwd: draft, timeout: MAVEN_WITHIN_MS }).catch(async (error: unknown) => {
    await rm(draft, { recursive: true, force: true });
    throw new Error(`Maven could not fetch ${jars.title} from Maven Central`, { cause: error });
  });
  try {
    await rename(join(draft, 'jars'), cache);
  } catch (error) {
    if (!existsSync(cache)) throw error;
  }
  await rm(draft, { recursive: true, force: true });
  return classPath;
}

function pomOf({ name, artifacts }: Jars): string {
  const dependencies = artifacts.map((artifact) => {
    const [group, id, version] = artifact.split(':');
    return `<dependency><groupId>${group}</groupId><artifactId>${id}</artifactId><version>${version}</version></dependency>`;
  });
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>slotbook</groupId>
  <artifactId>${name}-for-tests</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    ${dependencies.join('\n    ')}
  </dependencies>
</project>
`;
}

/**
 * Runs Java and forwards SIGTERM. When its standard input closes, because we close it or are killed, it kills the server at
 * once. It has its own session, so that a signal to the terminal's group does not stop the server before its users.
 */
const SUPERVISOR = `
exec 3<&0
java "$@" </dev/null &
server=$!
trap 'kill -TERM $server' TERM
( cat <&3; kill -KILL $server ) >/dev/null 2>&1 &
wait $server
wait $server
`;

export interface JavaServer {
  end(how: 'gracefully' | 'at once'): Promise<void>;
}

/**
 * Starts a main class and returns when `awaitReady` does. `awaitReady` gets a function that returns the process's output once
 * it has ended, or null while it runs.
 */
export async function launchJava(
  options: readonly string[],
  awaitReady: (failed: () => string | null) => Promise<void>,
): Promise<JavaServer> {
  const child = spawn('sh', ['-c', SUPERVISOR, 'server', ...SHORT_LIVED, ...options], {
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaints = (complaints + chunk.toString()).slice(-COMPLAINTS_MAX);
  });
  child.once('error', (error) => {
    complaints += error.message;
  });
  try {
    await awaitReady(() => (isGone(child) ? complaints || 'no message' : null));
  } catch (error) {
    child.stdin.end();
    throw error;
  }
  return { end: (how) => end(child, how) };
}

async function end(child: ChildProcess, how: 'gracefully' | 'at once'): Promise<void> {
  const gone = new Promise<void>((resolve) => {
    if (isGone(child)) resolve();
    child.once('exit', () => resolve());
  });
  if (how === 'gracefully') {
    child.kill('SIGTERM');
    await Promise.race([gone, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
  }
  child.stdin?.end();
  await gone;
}

function isGone({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
