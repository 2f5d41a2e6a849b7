// `npm run schemas`: writes avro/events/*.avsc from the IDLs, files every current schema among the past versions, and
// writes TABLES.md from the migrations.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fingerprintHex, readCurrentSchemas, versionFolder } from './avro.ts';
import { generateEventSchemas, schemaText } from './event-schemas.ts';
import { tablesPage } from './tables-page.ts';

const TABLES = fileURLToPath(new URL('./TABLES.md', import.meta.url));
const EVENTS = fileURLToPath(new URL('./avro/events/', import.meta.url));

function writeEvents(): number {
  const schemas = generateEventSchemas();
  const wanted = new Set(schemas.map(({ name }) => `${name}.avsc`));
  for (const file of readdirSync(EVENTS)) if (!wanted.has(file)) rmSync(`${EVENTS}${file}`);
  for (const schema of schemas) writeFileSync(`${EVENTS}${schema.name}.avsc`, schemaText(schema));
  return schemas.length;
}

/** A version is never removed: records written with it may still be in a log. */
function writeVersions(): number {
  const current = readCurrentSchemas();
  for (const { name, text, type } of current) {
    const folder = versionFolder(name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}${fingerprintHex(type)}.avsc`, text);
  }
  return current.length;
}

const events = writeEvents();
const current = writeVersions();
writeFileSync(TABLES, tablesPage());
process.stdout.write(`${events} event schemas written, ${current} current schemas filed as versions\n`);
