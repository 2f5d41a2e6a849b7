// `npm run docs`: writes the pages below docs/reference/, and the files of the client that follow from the contracts.

import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { clientSources } from './client-sources.ts';
import { readPublished, referencePages } from './pages.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDER = `${ROOT}docs/reference/`;

mkdirSync(FOLDER, { recursive: true });
const published = await readPublished();
const pages = referencePages(published);
const sources = clientSources(published);
for (const [file, text] of pages) writeFileSync(FOLDER + file, text);
for (const [file, text] of sources) writeFileSync(ROOT + file, text);
process.stdout.write(`${pages.size} reference pages and ${sources.size} client files written\n`);
