// A real S3-compatible server for tests: S3Proxy on this machine's Java, from Maven Central, over a temporary folder. It checks
// signatures of requests and of presigned URLs.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Settings } from '../../../api/history/exports/stores/s3.ts';
import { fetchJars, type Jars, javaVersion, launchJava } from '../platform/java.ts';
import { freePorts } from '../platform/ports.ts';

const VERSION = '2.6.0';
const S3PROXY: Jars = {
  title: `S3Proxy ${VERSION}`,
  name: `s3proxy-${VERSION}`,
  artifacts: [`org.gaul:s3proxy:${VERSION}`],
};
const HEAP = ['-Xms64m', '-Xmx256m'];
const READY_WITHIN_MS = 60_000;
const POLL_MS = 100;
const BUCKET = 'statements';
/** By default the server logs every step of its HTTP engine. */
const QUIET = '<configuration><root level="OFF"/></configuration>';

export interface S3Server {
  readonly settings: S3Settings;
  /** Folder of the bucket. */
  readonly bucketFolder: string;
  stop(): Promise<void>;
}

/** Starts the server, prints what runs, and returns when it answers. Throws without Java 17 and Maven. */
export async function startS3Server(): Promise<S3Server> {
  const java = await javaVersion(S3PROXY);
  if (java === null) {
    throw new Error('S3 tests need Java 17 or later and Maven on the PATH (S3Proxy then comes from Maven Central).');
  }
  const libraries = await fetchJars(S3PROXY);
  const folder = await mkdtemp(join(tmpdir(), 'slotbook-s3-'));
  const bucketFolder = join(folder, 'data', BUCKET);
  await mkdir(bucketFolder, { recursive: true });
  const [port] = await freePorts(1);
  const endpoint = `http://127.0.0.1:${port}`;
  const [accessKeyId, secretAccessKey] = ['test-key', 'test-secret'];
  const properties = {
    's3proxy.endpoint': endpoint,
    's3proxy.authorization': 'aws-v2-or-v4',
    's3proxy.identity': accessKeyId,
    's3proxy.credential': secretAccessKey,
    'jclouds.provider': 'filesystem-nio2',
    'jclouds.filesystem.basedir': join(folder, 'data'),
    'jclouds.identity': 'local',
    'jclouds.credential': 'local',
  };
  const [settings, logging] = [join(folder, 's3proxy.conf'), join(folder, 'logback.xml')];
  await writeFile(settings, textOf(properties));
  await writeFile(logging, QUIET);
  const options = [...HEAP, `-Dlogback.configurationFile=${logging}`, '-cp', libraries, 'org.gaul.s3proxy.Main'];
  const server = await launchJava([...options, '--properties', settings], (failed) => answers(endpoint, failed));
  process.stdout.write(`s3 server for tests: ${S3PROXY.title} from Maven Central on Java ${java} at ${endpoint}\n`);
  return {
    settings: {
      bucket: BUCKET,
      endpoint,
      publicEndpoint: '',
      region: 'us-east-1',
      prefix: 'exports/',
      isPathStyle: true,
      accessKeyId,
      secretAccessKey,
    },
    bucketFolder,
    async stop() {
      await server.end('gracefully');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const textOf = (properties: Readonly<Record<string, string>>): string =>
  Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

async function answers(endpoint: string, failed: () => string | null): Promise<void> {
  const deadlineMs = performance.now() + READY_WITHIN_MS;
  while (true) {
    const message = failed();
    if (message !== null) throw new Error(`S3Proxy did not start: ${message}`);
    try {
      await (await fetch(endpoint)).arrayBuffer();
      return;
    } catch (error) {
      if (performance.now() > deadlineMs) throw error;
      await sleep(POLL_MS);
    }
  }
}
