import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { decodeMessage, encodeMessage, TOPICS } from '../../schemas/index.ts';
import { TestRegistry } from '../../test/support/schemas/registry.ts';
import { readConfig } from '../config.ts';
import { silentLogger } from '../runtime/logger.ts';
import { openEventLog } from './open.ts';
import type { EventLog } from './port.ts';

const SUBJECT = 'slotbook.messages.BookSlot';
const ID_BYTES = 4;
const OWN_ENVELOPE_BYTES = 10;
const registry = new TestRegistry();
let dataDir: string;
let log: EventLog | undefined;

beforeAll(() => registry.start());
afterAll(() => registry.stop());

beforeEach(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-registry-'));
  log = await openWith(registry.url);
});

afterEach(async () => {
  registry.isAway = false;
  await log?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

async function openWith(schemaRegistryUrl: string): Promise<EventLog> {
  const opened = await openEventLog(readConfig({}, { dataDir, schemaRegistryUrl }), silentLogger());
  await opened.ensureTopics([TOPICS.book]);
  return opened;
}

function there(): EventLog {
  if (!log) throw new Error('no log is open');
  return log;
}

const slotRecord = (slot: number) => encodeMessage('BookSlot', { slot });
const append = (value: Uint8Array) => there().append(TOPICS.book, [{ key: 'slot', value, partition: 0 }]);

/** A slot's record in the registry's format. */
function registryRecord(slot: number, id: number): Buffer {
  const envelope = Buffer.alloc(1 + ID_BYTES);
  envelope.writeUInt32BE(id, 1);
  return Buffer.concat([envelope, slotRecord(slot).subarray(OWN_ENVELOPE_BYTES)]);
}

/** A slot's record from a process of a later version, which has just registered its schema. */
async function newerRecord(slot: number): Promise<Buffer> {
  const ids = registry.subjects.get(SUBJECT) ?? [];
  const schema = JSON.parse(registry.schemas.get(ids[0] ?? 0) ?? '{}') as object;
  const id = registry.add(SUBJECT, JSON.stringify({ ...schema, doc: `version ${ids.length + 1}` }));
  return registryRecord(slot, id);
}

async function slotsRead(): Promise<unknown[]> {
  const records = await there().read(TOPICS.book, 0, 0n, 10);
  return records.map(({ value }) => decodeMessage(value).value);
}

it('stores records with ids of the registry, and a later process reads them', async () => {
  await append(slotRecord(1));
  const plain = await openWith('');
  const [record] = await plain.read(TOPICS.book, 0, 0n, 1);
  await plain.close();
  const [id] = registry.subjects.get(SUBJECT) ?? [];
  expect(record?.value[0]).toBe(0);
  expect(Buffer.from(record?.value ?? []).readUIntBE(1, ID_BYTES)).toBe(id);
  await log?.close();
  log = await openWith(registry.url);
  expect(await slotsRead()).toEqual([{ slot: 1 }]);
});

it('reads records from before the registry beside records with ids', async () => {
  await log?.close();
  log = await openWith('');
  const plain = slotRecord(1);
  expect(plain[0]).toBe(0xc3);
  await append(plain);
  await log.close();
  log = await openWith(registry.url);
  await append(slotRecord(2));
  expect(await slotsRead()).toEqual([{ slot: 1 }, { slot: 2 }]);
});

it('reads records of a version registered later', async () => {
  await append(await newerRecord(3));
  expect(await slotsRead()).toEqual([{ slot: 3 }]);
});

it.each(['follow', 'followPages'] as const)('%s waits for a registry that is away', async (how) => {
  const record = await newerRecord(4);
  await append(slotRecord(3));
  await append(record);
  registry.isAway = true;
  await expect(slotsRead()).rejects.toThrow(/^schema registry .* answers .* with 503/);
  const stopping = new AbortController();
  const options = { topic: TOPICS.book, from: new Map([[0, 0n]]), signal: stopping.signal };
  const back = setTimeout(() => {
    registry.isAway = false;
  }, 200);
  const seen: unknown[] = [];
  const values = async function* () {
    if (how === 'follow')
      for await (const { records } of there().follow(options)) yield* records.map((one) => one.value);
    else {
      for await (const { bytes, ends } of there().followPages(options)) {
        let start = 0;
        for (const end of ends) {
          yield bytes.subarray(start, end);
          start = end;
        }
      }
    }
  };
  for await (const value of values()) {
    seen.push(decodeMessage(value).value);
    if (seen.length === 2) break;
  }
  stopping.abort();
  clearTimeout(back);
  expect(seen).toEqual([{ slot: 3 }, { slot: 4 }]);
});

it('leaves a record with an unknown id to its reader, which parks it', async () => {
  await append(registryRecord(5, 99_999));
  const [read] = await there().read(TOPICS.book, 0, 0n, 1);
  expect(() => decodeMessage(read?.value ?? new Uint8Array())).toThrow(/^unknown-schema-id/);
});

it('does not open without an answer of the registry', async () => {
  await log?.close();
  log = undefined;
  await expect(openWith('http://127.0.0.1:9')).rejects.toThrow('schema registry http://127.0.0.1:9 does not answer');
});
