import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestRegistry } from '../../test/support/schemas/registry.ts';
import { decodeMessage, encodeMessage } from './codec.ts';
import { decodeEvent, encodeEvent } from './event-codec.ts';
import { RegistryFormat } from './registry.ts';
import { allWriters, type Writer } from './wire.ts';

const writerNamed = (name: string): Writer => allWriters().find((writer) => writer.name === name) as Writer;

/** `schema` without its last field, as an older version would be. */
function older(name: string): { text: string; dropped: string } {
  const schema = JSON.parse(writerNamed(name).text) as { fields: { name: string }[] };
  const dropped = schema.fields.at(-1)?.name ?? '';
  return { text: JSON.stringify({ ...schema, fields: schema.fields.slice(0, -1) }), dropped };
}

describe('with a schema registry', () => {
  const registry = new TestRegistry();
  beforeAll(() => registry.start());
  afterAll(() => registry.stop());

  it('translates the envelope of a record to the id of its schema and back', async () => {
    const record = encodeMessage('BookSlot', { slot: 9 });
    const format = await RegistryFormat.register(registry.url);
    const stored = Buffer.from(format.toRegistry(record));
    const [id] = registry.subjects.get('slotbook.messages.BookSlot') ?? [];
    expect(stored.subarray(0, 5).toString('hex')).toBe(Buffer.from([0, 0, 0, 0, id ?? 0]).toString('hex'));
    expect(stored.subarray(5)).toEqual(record.subarray(10));
    expect(format.fromRegistry(stored)).toEqual(record);
    expect(registry.subjects.size).toBe(allWriters().length);
  });

  it('leaves other bytes as they are', async () => {
    const format = await RegistryFormat.register(registry.url);
    for (const bytes of [Buffer.alloc(0), Buffer.from([0, 1]), Buffer.from('c301', 'hex'), Buffer.alloc(20, 7)]) {
      expect(format.toRegistry(bytes)).toBe(bytes);
      expect(format.fromRegistry(bytes)).toBe(bytes);
    }
    const own = encodeMessage('BookSlot', { slot: 9 });
    expect(format.fromRegistry(own)).toBe(own);
  });

  it('translates events', async () => {
    const format = await RegistryFormat.register(registry.url);
    const data = {
      ts: 1n,
      user_authority: new Uint8Array(32),
      user: new Uint8Array(32),
      sub_account_id: 1,
      keeper: null,
    };
    const event = { name: 'DeleteUserRecord', signature: new Uint8Array(64), eventIndex: 0, slot: 5, txIndex: 2, data };
    const bytes = format.toRegistry(encodeEvent(event));
    expect(bytes[0]).toBe(0);
    expect(decodeEvent(format.fromRegistry(bytes))).toEqual(event);
  });

  it('reads versions that the registry already has', async () => {
    const { text, dropped } = older('OrderActionRecord');
    const id = registry.add('slotbook.events.OrderActionRecord', text);
    const format = await RegistryFormat.register(registry.url);
    const data: Record<string, unknown> = Object.fromEntries(
      (JSON.parse(text) as { fields: { name: string }[] }).fields.slice(4).map(({ name }) => [name, null]),
    );
    Object.assign(data, { ts: 1n, action: 'place', action_explanation: 'none', market_index: 1, market_type: 'perp' });
    Object.assign(data, { oracle_price: 7n, bit_flags: 0 });
    const event = {
      name: 'OrderActionRecord',
      signature: new Uint8Array(64),
      eventIndex: 0,
      slot: 5,
      txIndex: null,
      data,
    };
    // The older body is the current one without its last field, which is one byte: null.
    const record = Buffer.from(format.toRegistry(encodeEvent(event))).subarray(0, -1);
    record.writeUInt32BE(id, 1);
    expect(decodeEvent(format.fromRegistry(record))).toEqual({ ...event, data: { ...data, [dropped]: null } });
  });

  it('learns a schema that another process registers later', async () => {
    const format = await RegistryFormat.register(registry.url);
    const text = writerNamed('BookSlot').text.replace('"A slot was reached"', '"A slot was reached, later"');
    const id = registry.add('slotbook.messages.BookSlot', text);
    const record = Buffer.from(format.toRegistry(encodeMessage('BookSlot', { slot: 11 })));
    record.writeUInt32BE(id, 1);
    expect(format.unknownId(record, 0, record.length)).toBe(id);
    expect(format.fromRegistry(record)).toBe(record);
    expect(() => decodeMessage(record)).toThrow(expect.objectContaining({ code: 'unknown-schema-id' }));
    await format.learn(id);
    expect(format.unknownId(record, 0, record.length)).toBeNull();
    expect(decodeMessage(format.fromRegistry(record)).value).toEqual({ slot: 11 });
  });

  it('leaves records with a missing or foreign schema untranslated', async () => {
    const format = await RegistryFormat.register(registry.url);
    const foreign = registry.add('other', '{"type":"record","name":"other.Thing","fields":[]}');
    const record = Buffer.from(format.toRegistry(encodeMessage('BookSlot', { slot: 11 })));
    for (const id of [99_999, foreign]) {
      await format.learn(id);
      record.writeUInt32BE(id, 1);
      expect(format.fromRegistry(record)).toBe(record);
      expect(() => decodeMessage(record)).toThrow(expect.objectContaining({ code: 'unknown-schema-id' }));
    }
  });

  it('sends user and password of its address as a header and keeps them out of errors', async () => {
    const url = new URL(registry.url);
    url.username = 'me';
    url.password = 'hunter2';
    const format = await RegistryFormat.register(url.toString());
    expect(registry.authorization).toBe(`Basic ${Buffer.from('me:hunter2').toString('base64')}`);
    registry.isAway = true;
    const failed = format.learn(99_998).finally(() => {
      registry.isAway = false;
    });
    await expect(failed).rejects.toThrow(
      /^schema registry http:\/\/127.0.0.1:\d+ answers \/schemas\/ids\/99998 with 503/,
    );
  });

  it('does not change how this process encodes', async () => {
    await RegistryFormat.register(registry.url);
    expect(encodeMessage('BookSlot', { slot: 1 }).subarray(0, 2).toString('hex')).toBe('c301');
  });
});

it('says which registry does not answer', async () => {
  await expect(RegistryFormat.register('http://127.0.0.1:9')).rejects.toThrow(
    'schema registry http://127.0.0.1:9 does not answer',
  );
});
