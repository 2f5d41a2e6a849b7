// The pages below docs/reference/ are those that the code makes today, and their examples are allowed by the contracts.

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { SETTINGS, variableName } from '../../platform/index.ts';
import { Contract } from '../../test/support/api/contracts.ts';
import { clientSources } from './client-sources.ts';
import { type Published, readPublished, referencePages } from './pages.ts';
import { exampleOf, memberRows, type Schema, typeText } from './schema-text.ts';

const FOLDER = fileURLToPath(new URL('../../docs/reference/', import.meta.url));
const FILES = [
  'configuration.md',
  'errors.md',
  'history-rest.md',
  'history-websocket.md',
  'hosted-rest.md',
  'metrics.md',
  'order-book-rest.md',
  'order-book-websocket.md',
  'tables.md',
];

/** Starting every role takes long on a busy machine. */
const START_TIMEOUT_MS = 180_000;

let published: Published;
let pages: ReadonlyMap<string, string>;

beforeAll(async () => {
  published = await readPublished();
  pages = referencePages(published);
}, START_TIMEOUT_MS);

describe('docs/reference', () => {
  it('has the pages that the generator writes, and no others', () => {
    expect([...pages.keys()].sort()).toEqual(FILES);
    expect(readdirSync(FOLDER).sort()).toEqual(FILES);
  });

  it.each(FILES)('%s is fresh (else: npm run docs)', (file) => {
    const isFresh = readFileSync(FOLDER + file, 'utf8') === pages.get(file);
    expect(isFresh ? 'fresh' : `${file} is stale: run npm run docs`).toBe('fresh');
  });

  it('names every setting with its variable and flag', () => {
    const text = pages.get('configuration.md') ?? '';
    for (const { key } of SETTINGS) expect(text).toContain(`| \`${key}\`<br>\`${variableName(key)}\`<br>\`--`);
    expect(text).toContain('`--fee-polling-ms` | `5000` | whole number from 100 to 3600000 | ms |');
  });

  it('says of every metric what it counts', () => {
    const rows = (pages.get('metrics.md') ?? '').split('\n').filter((line) => line.startsWith('| `'));
    expect(rows.length).toBeGreaterThan(80);
    for (const row of rows)
      expect(row).toMatch(/^\| `\w+` \| (?:counter|gauge|histogram|summary) \| [^|]* \| \w[^|]+ \|$/);
  });
});

describe('the types of the client', () => {
  it('are those of the contracts (else: npm run docs)', () => {
    for (const [file, text] of clientSources(published)) {
      const isFresh = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8') === text;
      expect(isFresh ? 'fresh' : `${file} is stale: run npm run docs`).toBe('fresh');
    }
  });
});

describe('examples', () => {
  it.each(['orderBook', 'history', 'hosted'] as const)('of answers are what /openapi.json allows: %s', (service) => {
    const { paths, components } = published[service];
    const contract = new Contract(published[service]);
    for (const [path, { get }] of Object.entries(paths)) {
      const schema = get?.responses['200']?.content?.['application/json']?.schema;
      if (!schema) continue;
      const place = ['paths', path, 'get', 'responses', '200', 'content', 'application/json', 'schema'];
      const validate = contract.validator(...place);
      const example = exampleOf(schema, components?.schemas ?? {});
      expect([path, validate(example), validate.errors]).toEqual([path, true, null]);
    }
  });

  it.each(['orderBookSockets', 'historySocket'] as const)(
    'of messages are what /asyncapi.json allows: %s',
    (socket) => {
      const document = published[socket];
      const contract = new Contract(document);
      for (const [channel, { messages }] of Object.entries(document.channels)) {
        for (const [name, { payload }] of Object.entries(messages)) {
          const validate = contract.validator('channels', channel, 'messages', name, 'payload');
          const example = exampleOf(payload, document.components.schemas);
          expect([name, validate(example), validate.errors]).toEqual([name, true, null]);
        }
      }
    },
  );
});

describe('schemas in words', () => {
  const record: Schema = {
    type: 'object',
    required: ['ts'],
    properties: { ts: { type: 'integer' }, side: { enum: ['bid', 'ask'] } },
  };

  it('names types with their bounds', () => {
    expect(typeText({ type: 'integer', minimum: 1, maximum: 50 })).toBe('whole number from 1 to 50');
    expect(typeText({ anyOf: [{ type: 'string', pattern: '^\\d+$' }, { type: 'null' }] })).toBe(
      'integer as text or null',
    );
    expect(typeText({ $ref: '#/components/schemas/L2Book' })).toBe('[L2Book](#l2book)');
  });

  it('lists members of members by their path, and which may be absent', () => {
    const rows = memberRows({
      type: 'object',
      required: ['records'],
      properties: { records: { type: 'array', items: record } },
    });
    expect(rows).toEqual([
      ['`records`', 'list of object', ''],
      ['`records[].ts`', 'whole number', ''],
      ['`records[].side`', '`bid`, `ask`', 'May be absent.'],
    ]);
  });
});
