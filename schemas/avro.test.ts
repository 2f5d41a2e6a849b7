import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import avro from 'avsc';
import { describe, expect, it } from 'vitest';
import { crc64, fingerprint, fingerprintHex, readCurrentSchemas, readVersions, versionFolder } from './avro.ts';
import { generateEventSchemas, schemaText } from './event-schemas.ts';

const current = readCurrentSchemas();

describe('fingerprints', () => {
  // Vectors of the Avro specification's own test suite (schema-tests.txt).
  it.each([
    ['"null"', 7195948357588979594n],
    ['"boolean"', -6970731678124411036n],
    ['"int"', 8247732601305521295n],
    ['"long"', -3434872931120570953n],
    ['"string"', -8142146995180207161n],
  ])('of %s are those of the Avro specification', (text, wanted) => {
    expect(BigInt.asIntN(64, crc64(text))).toBe(wanted);
    expect(BigInt.asIntN(64, fingerprint(avro.Type.forSchema(JSON.parse(text))))).toBe(wanted);
  });

  it('are taken of the canonical form: names in full, documentation and logical types left out', () => {
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
  it('are readable by Avro without the logical types of this house', () => {
    for (const { text, name } of current) {
      const plain = avro.Type.forSchema(JSON.parse(text));
      expect(fingerprintHex(plain)).toBe(
        fingerprintHex(current.find((schema) => schema.name === name)?.type as avro.Type),
      );
    }
  });

  it.each(current)('$name is filed among its versions', ({ name, kind, type }) => {
    const versions = readVersions({ name, kind });
    expect(versions.map((version) => fingerprintHex(version.type))).toContain(fingerprintHex(type));
  });

  it.each(current)('$name reads every past version', ({ name, kind, type }) => {
    const files = readdirSync(versionFolder(name));
    for (const [index, version] of readVersions({ name, kind }).entries()) {
      expect(files[index]).toBe(`${fingerprintHex(version.type)}.avsc`);
      expect(() => type.createResolver(version.type)).not.toThrow();
    }
  });

  it('of events are what the IDLs give: `npm run schemas` would change nothing', () => {
    const folder = fileURLToPath(new URL('./avro/events/', import.meta.url));
    const generated = generateEventSchemas();
    expect(readdirSync(folder).sort()).toEqual(generated.map(({ name }) => `${name}.avsc`).sort());
    for (const schema of generated) {
      expect(readFileSync(`${folder}${schema.name}.avsc`, 'utf8')).toBe(schemaText(schema));
    }
  });
});
