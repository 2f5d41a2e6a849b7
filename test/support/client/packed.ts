// The published package in an empty project: packed by npm, unpacked beside its dependencies.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from '../platform/eventually.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const DEPENDENCIES = ['@msgpack', '@noble', '@solana', 'base-x', 'bs58'];
const run = promisify(execFile);

export interface PackedProject {
  readonly folder: string;
  /** Paths in the package. */
  readonly files: readonly string[];
  remove(): void;
}

/** Packs `client/` into a folder, once: a build begins by removing what another one is packing. Callers at the same time get the same file. */
async function archiveIn(folder: string): Promise<string> {
  const archive = path.join(folder, 'client.tgz');
  const draft = path.join(folder, 'client-draft');
  try {
    mkdirSync(draft);
  } catch {
    await until(() => existsSync(archive));
    return archive;
  }
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  await run(npm, ['pack', '--loglevel=error', '--pack-destination', draft], { cwd: path.join(ROOT, 'client') });
  const packed = readdirSync(draft).find((file) => file.endsWith('.tgz')) ?? '';
  renameSync(path.join(draft, packed), archive);
  return archive;
}

/** Unpacks the package into a new project with its dependencies. It is packed into `runFolder` before, once. */
export async function packedProject(runFolder: string): Promise<PackedProject> {
  const archive = await archiveIn(runFolder);
  const folder = mkdtempSync(path.join(tmpdir(), 'slotbook-client-'));
  await run('tar', ['-xzf', archive], { cwd: folder });
  const modules = path.join(folder, 'node_modules');
  mkdirSync(path.join(modules, '@slotbook'), { recursive: true });
  renameSync(path.join(folder, 'package'), path.join(modules, '@slotbook', 'client'));
  for (const name of DEPENDENCIES) symlinkSync(path.join(ROOT, 'node_modules', name), path.join(modules, name));
  const files = readdirSync(path.join(modules, '@slotbook', 'client'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(path.join(modules, '@slotbook', 'client'), path.join(entry.parentPath, entry.name)));
  return { folder, files, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Bytes of a browser bundle of one entry file, and the same compressed. */
export async function browserBundle(entry: string): Promise<{ readonly code: string; readonly gzipBytes: number }> {
  const { build } = await import('vite');
  const { gzipSync } = await import('node:zlib');
  const output = await build({
    configFile: false,
    root: path.dirname(entry),
    logLevel: 'error',
    build: {
      write: false,
      target: 'es2022',
      lib: { entry, formats: ['iife'], name: 'bundle' },
    },
  });
  const [first] = [output].flat();
  const chunk = first && 'output' in first ? first.output[0] : null;
  if (chunk?.type !== 'chunk') throw new Error('the build has no chunk');
  return { code: chunk.code, gzipBytes: gzipSync(chunk.code, { level: 9 }).length };
}
