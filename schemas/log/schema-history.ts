// Keeps the promise that every schema version a log may contain can still be read. `avro/fingerprints.json` lists all versions
// of each record, the current one last; `avro/versions/` keeps the past ones.

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fingerprintHex, readCurrentSchemas, readPastVersions, type SchemaFile } from './avro.ts';

/** Fingerprints by record name, the current one last. */
export type Fingerprints = Readonly<Record<string, readonly string[]>>;

export const FINGERPRINTS_FILE = fileURLToPath(new URL('./avro/fingerprints.json', import.meta.url));

export function readFingerprints(): Fingerprints {
  return existsSync(FINGERPRINTS_FILE) ? (JSON.parse(readFileSync(FINGERPRINTS_FILE, 'utf8')) as Fingerprints) : {};
}

/** What is wrong with the committed schema files: a changed schema that is not listed, or a past version without its file. */
export function schemaFaults(
  current: readonly SchemaFile[] = readCurrentSchemas(),
  listed: Fingerprints = readFingerprints(),
  pastOf: (schema: SchemaFile) => readonly SchemaFile[] = readPastVersions,
): string[] {
  const faults: string[] = [];
  for (const schema of current) {
    const fingerprints = listed[schema.name] ?? [];
    const print = fingerprintHex(schema.type);
    if (fingerprints.at(-1) !== print) faults.push(`${schema.name} has changed: run \`npm run schemas\``);
    const kept = new Set(pastOf(schema).map(({ type }) => fingerprintHex(type)));
    for (const past of fingerprints) {
      if (past !== print && !kept.has(past)) faults.push(`${schema.name}: the past version ${past} has no file`);
    }
  }
  return faults;
}

/** The list with `current` as the newest version. `committed` leaves out versions that never left this checkout. */
export function withCurrent(committed: readonly string[], current: string): string[] {
  return [...committed.filter((print) => print !== current), current];
}
