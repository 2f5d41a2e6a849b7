import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nextSequence } from './commits.ts';
import { type Environment, openEnvironment, put } from './environment.ts';

const SEQUENCE_KEY = Buffer.from('sequence');

describe('waiting for a commit', () => {
  let folder: string;
  let environment: Environment;
  let woken: number[];
  /** Waits for records of a topic. */
  const wait = (topicId: number) =>
    environment.changed(environment.changesOf(topicId), topicId).then(() => woken.push(topicId));
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'environment-'));
    environment = openEnvironment(folder);
    woken = [];
  });
  afterEach(async () => {
    await environment.release();
    rmSync(folder, { recursive: true, force: true });
  });

  it('ends with records of the topic, and not with those of another', async () => {
    void wait(1);
    void wait(2);
    await environment.write(0, () => environment.wrote(2));
    await turns();
    expect(woken).toEqual([2]);
    await environment.write(0, () => {});
    await turns();
    expect(woken).toEqual([2]);
    await environment.write(0, () => environment.wrote(1));
    await turns();
    expect(woken).toEqual([2, 1]);
  });

  it('ends with records that another process has written in between', async () => {
    void wait(1);
    void wait(2);
    void wait(3);
    await environment.write(0, () => {
      put(
        environment.partitions,
        SEQUENCE_KEY,
        nextSequence(environment.partitions.getBinary(SEQUENCE_KEY), new Set([1])),
      );
      environment.wrote(2);
    });
    await turns();
    expect(woken.sort()).toEqual([1, 2]);
  });

  it('ends for every topic when another process has not said which ones it wrote', async () => {
    void wait(1);
    void wait(2);
    await environment.write(0, () => {
      environment.partitions.removeSync(SEQUENCE_KEY);
      const withoutTopics = Buffer.alloc(8);
      withoutTopics.writeBigUInt64BE(9n);
      put(environment.partitions, SEQUENCE_KEY, withoutTopics);
      environment.wrote(2);
    });
    await turns();
    expect(woken.sort()).toEqual([1, 2]);
  });

  it('ends at once when records of the topic came since the look before', async () => {
    const seen = environment.changesOf(1);
    await environment.write(0, () => environment.wrote(1));
    await environment.changed(seen, 1);
  });

  it('ends when somebody wakes the followers of the topic', async () => {
    void wait(1);
    void wait(2);
    environment.wake(1);
    await turns();
    expect(woken).toEqual([1]);
  });

  it('ends with the environment', async () => {
    const other = openEnvironment(folder);
    void wait(1);
    await other.release();
    await turns();
    expect(woken).toEqual([]);
    await environment.release();
    await turns();
    expect(woken).toEqual([1]);
    environment = openEnvironment(folder);
  });

  it('writes before the event loop turns, and lets it turn beside a writer that never rests', async () => {
    let hasTurned = false;
    setImmediate(() => {
      hasTurned = true;
    });
    await environment.write(0, () => environment.wrote(1));
    expect(hasTurned).toBe(false);
    while (!hasTurned) await environment.write(0, () => {});
  });
});
