// The reducer loop over a real log: commits, the order of topics, and failures.

import { beforeEach, describe, expect, it } from 'vitest';
import { type EventLog, offsetKey } from '../../platform/index.ts';
import { decodeMessage, TOPICS } from '../../schemas/index.ts';
import { temporaryLog } from '../../test/support/log/temporary-log.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { deadLetter } from './dead-letter.ts';
import { piecesOf } from './pieces.ts';
import { endOf, type ReducerRole, startReducerRole, stateWrites } from './reducer-role.ts';

const PARTITION = 1;

let log: EventLog;
beforeEach(async () => {
  ({ log } = await temporaryLog(TOPICS.events, TOPICS.samples));
});

const feed = (topic: typeof TOPICS.events | typeof TOPICS.samples, ...texts: string[]) =>
  log.append(
    topic,
    texts.map((text) => ({ key: text, value: Buffer.from(text), partition: PARTITION })),
  );

/** Puts the texts of all records together, saves the text and writes it out. */
function joining(taken: string[]): ReducerRole {
  let joined = '';
  return {
    name: 'joining',
    group: 'joining',
    reads: [TOPICS.events, TOPICS.samples],
    writes: [TOPICS.tradeViews],
    maxRecords: () => 2,
    restore: (state) => {
      joined = piecesOf(state, 'text:')
        .map(({ name, bytes }) => `${name}=${Buffer.from(bytes)}`)
        .join('');
      taken.push(`restored ${joined}`);
    },
    *take(topic, batch) {
      for (const { value } of batch.records) joined += Buffer.from(value).toString();
      taken.push(`${topic.name} ${joined}`);
      const records = [{ key: 'all', value: Buffer.from(joined), partition: 0 }];
      yield { outputs: [{ topic: TOPICS.tradeViews, records }], state: [], next: null };
      const state = stateWrites('text:', [{ name: 'all', bytes: Buffer.from(joined) }]);
      yield { outputs: [{ topic: TOPICS.tradeViews, records }], state, next: endOf(batch) };
    },
  };
}

const offsetOf = async (topic: { readonly name: string }) =>
  (await log.load('joining')).offsets.get(offsetKey(topic.name, PARTITION));

describe('follower', () => {
  it('commits outputs, state and offset, and continues there', async () => {
    const taken: string[] = [];
    await feed(TOPICS.events, 'a', 'b', 'c');
    const first = await startReducerRole({ log }, joining(taken));
    await eventually(async () => expect(await offsetOf(TOPICS.events)).toBe(3n));
    await feed(TOPICS.samples, 'd');
    await eventually(async () => expect(await offsetOf(TOPICS.samples)).toBe(1n));
    await first.stop();
    await first.stop();
    expect(taken).toEqual(['restored ', 'events ab', 'events abc', 'samples abcd']);
    expect((await log.bounds(TOPICS.tradeViews, 0)).next).toBe(6n);
    await feed(TOPICS.events, 'e');
    const second = await startReducerRole({ log }, joining(taken));
    await eventually(async () => expect(await offsetOf(TOPICS.events)).toBe(4n));
    await second.stop();
    expect(taken.slice(4)).toEqual(['restored all=abcd', 'events all=abcde']);
  });

  it('reads several topics from their beginning in the order of the chain', async () => {
    const taken: string[] = [];
    await feed(TOPICS.events, '1', '2', '5', '6');
    await feed(TOPICS.samples, '3', '4', '7', '8');
    const role = await startReducerRole(
      { log },
      { ...joining(taken), slotOf: (_, { records }) => Number(Buffer.from(records[0]?.value ?? []).toString()) },
    );
    await eventually(async () => expect(await offsetOf(TOPICS.samples)).toBe(4n));
    await role.stop();
    expect(taken.at(-1)).toBe('samples 12345678');
  });

  it('stops every topic after a failed commit', async () => {
    const taken: string[] = [];
    const commits: string[] = [];
    const commit: EventLog['commit'] = (_, { offsets = [] }) => {
      commits.push(offsets[0]?.topic ?? '');
      return Promise.reject(new Error('the store is away'));
    };
    const failing = new Proxy(log, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (name === 'commit') return commit;
        return typeof member === 'function' ? member.bind(target) : member;
      },
    });
    await feed(TOPICS.events, 'a');
    const role = await startReducerRole({ log: failing }, joining(taken));
    await expect(role.done).rejects.toThrow('the store is away');
    await feed(TOPICS.samples, 'b');
    await feed(TOPICS.events, 'c');
    await role.stop();
    expect(commits).toEqual(['events']);
    expect(await offsetOf(TOPICS.events)).toBeUndefined();
  });

  it('fails with its reducer', async () => {
    await feed(TOPICS.events, 'a');
    const follower: ReducerRole = {
      ...joining([]),
      take: () => {
        throw new Error('no such state');
      },
    };
    const role = await startReducerRole({ log }, follower);
    await expect(role.done).rejects.toThrow('no such state');
    await role.stop();
  });

  it('parks a record under its reason, with its origin and bytes', () => {
    const record = { partition: 2, offset: 7n, key: 'x', value: Buffer.from('bytes') };
    const letter = deadLetter('some-reason', TOPICS.events, record, new Error('bad field'));
    expect(letter.key).toBe('some-reason');
    expect(decodeMessage(letter.value).value).toMatchObject({
      reason: 'some-reason',
      detail: 'bad field',
      origin: 'events/2/7',
      bytes: new Uint8Array(Buffer.from('bytes')),
    });
  });
});
