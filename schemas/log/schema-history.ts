// Keeps the promise that every schema version a log may contain can still be read. `avro/fingerprints.json` lists all versions
// of each record, the current one last; `avro/versions/` keeps the past ones.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Fingerprints by record name, the current one last. */
export type Fingerprints = Readonly<Record<string, readonly string[]>>;

export const FINGERPRINTS_FILE = fileURLToPath(new URL('./avro/fingerprints.json', import.meta.url));

export function readFingerprints(): Fingerprints {
  return existsSync(FINGERPRINTS_FILE) ? (JSON.parse(readFileSync(FINGERPRINTS_FILE, 'utf8')) as Fingerprints) : {};
}

/** The list with `current` as the newest version. `committed` leaves out versions that never left this checkout. */
export function withCurrent(committed: readonly string[], current: string): string[] {
  return [...committed.filter((print) => print !== current), current];
}
