import { describe, expect, it } from 'vitest';
import { FakeBrokers } from '../../../test/support/log/fake-brokers.ts';
import { KafkaWriter } from './writer.ts';

const part = (partition: number, ...keys: readonly string[]) => ({
  partition,
  records: keys.map((key) => ({ key, value: Buffer.of(1) })),
  bytes: 10 * keys.length,
});

describe('a writer to several brokers', () => {
  it.each([
    { delayMs: 0, when: 'at once' },
    { delayMs: 200, when: 'later than the refusal of the old leader' },
  ])('stores each record once when a partition moves to a broker that answers $when', async ({ delayMs }) => {
    const brokers = new FakeBrokers(['A', 'B']);
    const writer = new KafkaWriter(brokers.client());
    brokers.leaders[0] = 'B';
    brokers.delaysMs.B = delayMs;
    expect(await writer.append('t', [part(0, 'a', 'b'), part(1, 'c')])).toEqual([
      { partition: 0, first: 0n, last: 1n },
      { partition: 1, first: 0n, last: 0n },
    ]);
    await writer.append('t', [part(1, 'd'), part(0, 'e')]);
    expect(brokers.stored).toEqual([
      ['a', 'b', 'e'],
      ['c', 'd'],
    ]);
    await writer.close();
  });

  it('gives calls that share a partition their own offsets', async () => {
    const brokers = new FakeBrokers(['A', 'B']);
    const writer = new KafkaWriter(brokers.client());
    const appended = await Promise.all([
      writer.append('t', [part(0, 'a', 'b'), part(1, 'c')]),
      writer.append('t', [part(1, 'd'), part(0, 'e')]),
    ]);
    expect(appended[1]).toEqual([
      { partition: 1, first: 1n, last: 1n },
      { partition: 0, first: 2n, last: 2n },
    ]);
    await writer.close();
  });

  it('rejects only when no request is open any more', async () => {
    const brokers = new FakeBrokers(['A', 'B']);
    const writer = new KafkaWriter(brokers.client());
    brokers.delaysMs.B = 100;
    brokers.refuse = (partition) => {
      if (partition === 0) throw Object.assign(new Error('too large'), { retriable: false });
    };
    await expect(writer.append('t', [part(0, 'a'), part(1, 'b')])).rejects.toThrow('too large');
    expect([brokers.isIdle, brokers.stored]).toEqual([true, [[], ['b']]]);
    await writer.close();
  });
});
