// `npm run schemas`: writes avro/events/*.avsc from the IDLs and keeps the past version of each schema that has changed.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { generateEventSchemas, schemaText } from './chain/event-schemas.ts';
import { fingerprintHex, readCurrentSchemas, type SchemaFile, versionFolder } from './log/avro.ts';
import { parseSchema } from './log/parse-schema.ts';
import { FINGERPRINTS_FILE, type Fingerprints, withCurrent } from './log/schema-history.ts';

const AVRO = fileURLToPath(new URL('./log/avro/', import.meta.url));
const EVENTS = `${AVRO}events/`;

function writeEvents(): number {
  const schemas = generateEventSchemas();
  const files = new Set(schemas.map(({ name }) => `${name}.avsc`));
  for (const file of readdirSync(EVENTS)) if (!files.has(file)) rmSync(`${EVENTS}${file}`);
  for (const schema of schemas) writeFileSync(`${EVENTS}${schema.name}.avsc`, schemaText(schema));
  return schemas.length;
}

/** The text of a file under avro/ in the last commit; null when it has none. */
function committed(file: string): string | null {
  try {
    return execFileSync('git', ['show', `HEAD:./${file}`], { cwd: AVRO, encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return null;
  }
}

/** Keeps the committed text of each changed schema. Versions are never removed: a log may contain their records. */
function writeVersions(): number {
  const listed = JSON.parse(committed('fingerprints.json') ?? '{}') as Fingerprints;
  const next: Record<string, string[]> = {};
  let kept = 0;
  for (const schema of readCurrentSchemas()) {
    const current = fingerprintHex(schema.type);
    next[schema.name] = withCurrent(listed[schema.name] ?? [], current);
    for (const past of next[schema.name] ?? []) if (past !== current && keep(schema, past)) kept += 1;
    rmSync(`${versionFolder(schema.name)}${current}.avsc`, { force: true });
  }
  writeFileSync(FINGERPRINTS_FILE, `${JSON.stringify(next, null, 2)}\n`);
  return kept;
}

/** True when it writes a file. Throws an Error when the text of the past version is not in the last commit. */
function keep({ name, kind }: SchemaFile, past: string): boolean {
  const file = `${versionFolder(name)}${past}.avsc`;
  if (existsSync(file)) return false;
  const text = committed(`${kind}s/${name}.avsc`) ?? committed(`versions/${name}/${past}.avsc`);
  if (text === null || fingerprintHex(parseSchema(JSON.parse(text))) !== past) {
    throw new Error(`${name}: the last commit does not have version ${past}; restore ${file} from git`);
  }
  mkdirSync(versionFolder(name), { recursive: true });
  writeFileSync(file, text);
  return true;
}

const events = writeEvents();
const kept = writeVersions();
process.stdout.write(`${events} event schemas written, ${kept} past versions kept\n`);
