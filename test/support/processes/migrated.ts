// The folder of a managed ClickHouse with all tables, made once a run. Pipelines begin with a copy: applying the migrations costs
// as much as the rest of the start.

import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { BUNDLE_FOLDER_VARIABLE } from '../platform/bundled.ts';

const FOLDER = 'clickhouse';
/** Names the port of the server that ran there; a copy chooses its own. */
const HOLDER = 'holder.json';

/**
 * Copies the tables into a data directory without a ClickHouse. `start` starts `slotbook run clickhouse` on an empty directory.
 * Copies nothing in a run without bundles.
 */
export async function giveTables(
  dataDir: string,
  start: (dataDir: string) => Promise<{ stop(): Promise<unknown> }>,
): Promise<void> {
  const run = process.env[BUNDLE_FOLDER_VARIABLE];
  const own = path.join(dataDir, FOLDER);
  if (run === undefined || existsSync(own)) return;
  const migrated = path.join(run, FOLDER);
  if (!existsSync(migrated)) {
    const draft = mkdtempSync(path.join(run, 'draft-'));
    await (await start(draft)).stop();
    rmSync(path.join(draft, FOLDER, HOLDER));
    // Another worker may have been faster.
    moveUnlessThere(path.join(draft, FOLDER), migrated);
    rmSync(draft, { recursive: true, force: true });
  }
  const copy = `${own}.copy`;
  cpSync(migrated, copy, { recursive: true });
  // Another role of the same directory may have started its own ClickHouse.
  moveUnlessThere(copy, own);
  rmSync(copy, { recursive: true, force: true });
}

function moveUnlessThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}
