// A folder for what test files of a worker share, removed when all workers have ended.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';

export default function runFolder(project: TestProject): () => void {
  const folder = mkdtempSync(path.join(tmpdir(), 'slotbook-run-'));
  project.provide('runFolder', folder);
  // An engine in it needs a moment to end.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
}
