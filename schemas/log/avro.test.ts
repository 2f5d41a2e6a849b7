import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import avro from 'avsc';
import { describe, expect, it } from 'vitest';
import { schemaFaults } from '../../test/support/schemas/schema-faults.ts';
import { generateEventSchemas, schemaText } from '../chain/event-schemas.ts';
import { crc64, fingerprint, fingerprintHex, readCurrentSchemas, readPastVersions, versionFolder } from './avro.ts';
import { parseSchema } from './parse-schema.ts';
import { readFingerprints, withCurrent } from './schema-history.ts';

const current = readCurrentSchemas();

describe('fingerprints', () => {
  // Vectors of the Avro specification's own test suite (schema-tests.txt).
  it.each([
    ['"null"', 7195948357588979594n],
    ['"boolean"', -6970731678124411036n],
    ['"int"', 8247732601305521295n],
    ['"long"', -3434872931120570953n],
    ['"string"', -8142146995180207161n],
  ])('of %s match the Avro specification', (text, wanted) => {
    expect(BigInt.asIntN(64, crc64(text))).toBe(wanted);
    expect(BigInt.asIntN(64, fingerprint(avro.Type.forSchema(JSON.parse(text))))).toBe(wanted);
  });

  it('cover the canonical form: full names, without documentation and logical types', () => {
    const schema = {
      doc: 'x',
      type: 'record',
      name: 'R',
      namespace: 'n',
      fields: [{ default: 1, name: 'a', doc: 'y', type: { type: 'long', logicalType: 'u64' } }],
    };
    const canonical = '{"name":"n.R","type":"record","fields":[{"name":"a","type":"long"}]}';
    expect(fingerprint(avro.Type.forSchema(schema as avro.Schema))).toBe(crc64(canonical));
  });
});

describe('committed schemas', () => {
  it('are readable by Avro without our logical types', () => {
    for (const { text, name } of current) {
      const plain = avro.Type.forSchema(JSON.parse(text));
      expect(fingerprintHex(plain)).toBe(
        fingerprintHex(current.find((schema) => schema.name === name)?.type as avro.Type),
      );
    }
  });

  it('are listed by fingerprint, and every past version has its file', () => {
    expect(schemaFaults()).toEqual([]);
    expect(Object.keys(readFingerprints()).sort()).toEqual(current.map(({ name }) => name).sort());
  });

  it.each(current)('$name reads every past version', ({ name, kind, type }) => {
    const files = existsSync(versionFolder(name)) ? readdirSync(versionFolder(name)) : [];
    for (const [index, version] of readPastVersions({ name, kind }).entries()) {
      expect(files[index]).toBe(`${fingerprintHex(version.type)}.avsc`);
      expect(() => type.createResolver(version.type)).not.toThrow();
    }
  });

  it('of events match the IDLs: `npm run schemas` would change nothing', () => {
    const folder = fileURLToPath(new URL('./avro/events/', import.meta.url));
    const generated = generateEventSchemas();
    expect(readdirSync(folder).sort()).toEqual(generated.map(({ name }) => `${name}.avsc`).sort());
    for (const schema of generated) {
      expect(readFileSync(`${folder}${schema.name}.avsc`, 'utf8')).toBe(schemaText(schema));
    }
  });
});

describe('a changed schema', () => {
  const listed = readFingerprints();
  const [record] = current.filter(({ name }) => name === 'BookSlot');
  const before = fingerprintHex(record?.type as avro.Type);
  const schema = JSON.parse(record?.text ?? '') as { fields: object[] };
  const fields = [...schema.fields, { name: 'added', type: ['null', 'boolean'], default: null }];
  const text = JSON.stringify({ ...schema, fields });
  const changed = { ...(record as (typeof current)[number]), text, type: parseSchema(JSON.parse(text)) };
  const after = fingerprintHex(changed.type);

  it('is a fault until the list names it', () => {
    expect(schemaFaults([changed], listed, () => [])).toContain('BookSlot has changed: run `npm run schemas`');
  });

  it('is a fault until its past version has a file', () => {
    const updated = { BookSlot: withCurrent(listed.BookSlot ?? [], after) };
    expect(updated.BookSlot).toEqual([before, after]);
    expect(schemaFaults([changed], updated, () => [])).toEqual([`BookSlot: the past version ${before} has no file`]);
    expect(schemaFaults([changed], updated, () => current.filter(({ name }) => name === 'BookSlot'))).toEqual([]);
  });
});
