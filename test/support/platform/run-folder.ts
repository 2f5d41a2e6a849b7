// Set-up of the main process: a folder for what test files of a worker share, and the end of an interrupted run.

import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { exitWithLauncher } from '../../../bin/launcher-watch.mjs';

export default function runFolder(project: TestProject): () => void {
  const folder = mkdtempSync(path.join(tmpdir(), 'slotbook-run-'));
  project.provide('runFolder', folder);
  // The workers end with this process (worker-lifeline.ts); waiting for their tests to end could take minutes.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(128 + constants.signals[signal]));
  }
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  exitWithLauncher();
  // An engine in it needs a moment to end.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
}
