import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { decodeMessage, encodeMessage } from './codec.ts';
import { decodeEvent, encodeEvent } from './events.ts';
import { learnSchema, leaveRegistry, useRegistry } from './registry.ts';
import { TestRegistry } from './testing/registry.ts';
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
  afterEach(() => leaveRegistry());

  it('records carry the id of their schema and both formats can be read', async () => {
    const before = encodeMessage('BookSlot', { slot: 9 });
    await useRegistry(registry.url);
    const bytes = encodeMessage('BookSlot', { slot: 9 });
    const [id] = registry.subjects.get('slotbook.messages.BookSlot') ?? [];
    expect(bytes.subarray(0, 5).toString('hex')).toBe(Buffer.from([0, 0, 0, 0, id ?? 0]).toString('hex'));
    expect(bytes.subarray(5)).toEqual(before.subarray(10));
    expect(decodeMessage(bytes)).toEqual({ name: 'BookSlot', value: { slot: 9 } });
    expect(decodeMessage(before)).toEqual({ name: 'BookSlot', value: { slot: 9 } });
    expect(registry.subjects.size).toBe(allWriters().length);
  });

  it('events come back as they were', async () => {
    await useRegistry(registry.url);
    const data = {
      ts: 1n,
      user_authority: new Uint8Array(32),
      user: new Uint8Array(32),
      sub_account_id: 1,
      keeper: null,
    };
    const event = { name: 'DeleteUserRecord', signature: new Uint8Array(64), eventIndex: 0, slot: 5, txIndex: 2, data };
    const bytes = encodeEvent(event);
    expect(bytes[0]).toBe(0);
    expect(decodeEvent(bytes)).toEqual(event);
  });

  it('versions that the registry held before can be read', async () => {
    const { text, dropped } = older('OrderActionRecord');
    const id = registry.add('slotbook.events.OrderActionRecord', text);
    await useRegistry(registry.url);
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
    const record = encodeEvent(event).subarray(0, -1);
    record.writeUInt32BE(id, 1);
    expect(decodeEvent(record)).toEqual({ ...event, data: { ...data, [dropped]: null } });
  });

  it('a schema registered later can be learned when it is met', async () => {
    await useRegistry(registry.url);
    const text = writerNamed('BookSlot').text.replace('"A slot was reached"', '"A slot was reached, later"');
    const id = registry.add('slotbook.messages.BookSlot', text);
    const record = encodeMessage('BookSlot', { slot: 11 });
    record.writeUInt32BE(id, 1);
    expect(() => decodeMessage(record)).toThrow(expect.objectContaining({ code: 'unknown-schema-id' }));
    await learnSchema(id);
    expect(decodeMessage(record).value).toEqual({ slot: 11 });
  });

  it('an id that it does not have, or that is none of our records, stays unknown', async () => {
    await useRegistry(registry.url);
    const foreign = registry.add('other', '{"type":"record","name":"other.Thing","fields":[]}');
    const record = encodeMessage('BookSlot', { slot: 11 });
    for (const id of [99_999, foreign]) {
      await learnSchema(id);
      record.writeUInt32BE(id, 1);
      expect(() => decodeMessage(record)).toThrow(expect.objectContaining({ code: 'unknown-schema-id' }));
    }
  });

  it('user and password of its address are a header, and in no error', async () => {
    const url = new URL(registry.url);
    url.username = 'me';
    url.password = 'hunter2';
    await useRegistry(url.toString());
    expect(registry.authorization).toBe(`Basic ${Buffer.from('me:hunter2').toString('base64')}`);
    registry.isAway = true;
    const failed = learnSchema(99_998).finally(() => {
      registry.isAway = false;
    });
    await expect(failed).rejects.toThrow(
      /^schema registry http:\/\/127.0.0.1:\d+ answers \/schemas\/ids\/99998 with 503/,
    );
  });

  it('leaving it goes back to fingerprints', async () => {
    await useRegistry(registry.url);
    leaveRegistry();
    expect(encodeMessage('BookSlot', { slot: 1 }).subarray(0, 2).toString('hex')).toBe('c301');
    await expect(learnSchema(100)).rejects.toThrow(/no schema registry/);
  });
});

describe('without an answer', () => {
  it('says which registry call failed and keeps writing fingerprints', async () => {
    await expect(useRegistry('http://127.0.0.1:9')).rejects.toThrow(
      'schema registry http://127.0.0.1:9 does not answer',
    );
    expect(encodeMessage('BookSlot', { slot: 1 })[0]).toBe(0xc3);
  });
});
