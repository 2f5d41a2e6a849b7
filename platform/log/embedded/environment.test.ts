import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Environment, openEnvironment, put } from './environment.ts';
import { decodeOffset, encodeOffset } from './layout.ts';

const SEQUENCE_KEY = Buffer.from('sequence');

describe('waiting for a commit', () => {
  let folder: string;
  let environment: Environment;
  let woken: number[];
  const over = new AbortController();
  /** Waits for records of a topic. */
  const wait = (topicId: number) =>
    environment.changed(environment.changes, topicId, over.signal).then(() => woken.push(topicId));
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

  it('ends for every topic when another process has committed in between', async () => {
    void wait(1);
    void wait(2);
    await environment.write(0, () => {
      const sequence = decodeOffset(environment.partitions.getBinary(SEQUENCE_KEY));
      put(environment.partitions, SEQUENCE_KEY, encodeOffset(sequence + 1n));
      environment.wrote(2);
    });
    await turns();
    expect(woken.sort()).toEqual([1, 2]);
  });

  it('ends at once when something was committed since the look before', async () => {
    const seen = environment.changes;
    await environment.write(0, () => environment.wrote(2));
    await environment.changed(seen, 1, over.signal);
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
});
