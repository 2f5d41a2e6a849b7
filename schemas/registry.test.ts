import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { decodeMessage, encodeMessage } from './codec.ts';
import { decodeEvent, encodeEvent } from './events.ts';
import { learnSchema, leaveRegistry, useRegistry } from './registry.ts';
import { allWriters, type Writer } from './wire.ts';

/** The three documented calls of a Confluent schema registry, in memory. */
class TestRegistry {
  readonly schemas = new Map<number, string>();
  readonly subjects = new Map<string, number[]>();
  private readonly server: Server = createServer((request, response) => void this.answer(request, response));
  url = '';

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`;
  }

  stop(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  add(subject: string, schema: string): number {
    const known = [...this.schemas].find(([, text]) => text === schema)?.[0];
    const id = known ?? this.schemas.size + 100;
    this.schemas.set(id, schema);
    const versions = this.subjects.get(subject) ?? [];
    if (!versions.includes(id)) this.subjects.set(subject, [...versions, id]);
    return id;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const reply = this.route(request.method ?? '', decodeURIComponent(request.url ?? ''), body);
    response.writeHead(reply === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(reply ?? { error_code: 40401, message: 'not found' }));
  }

  private route(method: string, path: string, body: string): unknown {
    const [, kind, name = '', , version] = path.split('/');
    if (kind === 'schemas') {
      const schema = this.schemas.get(Number(path.split('/')[3]));
      return schema === undefined ? undefined : { schema };
    }
    if (method === 'POST') return { id: this.add(name, (JSON.parse(body) as { schema: string }).schema) };
    const ids = this.subjects.get(name) ?? [];
    if (version === undefined) return ids.map((_, index) => index + 1);
    const id = ids[Number(version) - 1];
    return id === undefined ? undefined : { subject: name, version: Number(version), id, schema: this.schemas.get(id) };
  }
}

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
    await expect(learnSchema(99_999)).rejects.toThrow(/404/);
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
    await expect(useRegistry('http://127.0.0.1:9')).rejects.toThrow();
    expect(encodeMessage('BookSlot', { slot: 1 })[0]).toBe(0xc3);
  });
});
