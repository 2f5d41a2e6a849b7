// Compares the committed schema files with the list of their fingerprints.

import { fingerprintHex, readCurrentSchemas, readPastVersions, type SchemaFile } from '../../../schemas/log/avro.ts';
import { type Fingerprints, readFingerprints } from '../../../schemas/log/schema-history.ts';

/** Describes each changed schema that is not listed, and each past version without its file. */
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
