// Steps of any size count as a whole, wherever the process dies.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  APPEND_BYTES_MAX,
  type Commit,
  type NewRecord,
  offsetKey,
  openEventLog,
  readConfig,
  silentLogger,
} from '../../platform/index.ts';
import { TOPICS, type Topic } from '../../schemas/index.ts';
import { MemoryLog } from '../../test/support/ingest/memory-log.ts';
import { createTopic, readAll } from '../../test/support/log/harness.ts';
import { times } from '../../test/support/platform/times.ts';
import { outputsOf, startSteps } from '../../test/support/processors/follow/large-steps.ts';
import { commitStep, loadSteps, wholeState } from './step-commit.ts';

const GROUP = 'test';
const INPUT = TOPICS.margin;
const OUTPUT = TOPICS.notifications;
/** Longer than a step of the killed process takes. */
const KILL_DELAY_MAX_MS = 60;
const ZEROS = Buffer.alloc(APPEND_BYTES_MAX / 2);

class Killed extends Error {}

/** Dies after so many writes, before or after the write that it dies at. */
class MortalLog extends MemoryLog {
  writesLeft = Number.POSITIVE_INFINITY;
  isStored = false;

  override append(topic: Topic, records: readonly NewRecord[]) {
    return this.#write(() => super.append(topic, records));
  }

  override commit(group: string, step: Commit) {
    return this.#write(() => super.commit(group, step));
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    this.writesLeft -= 1;
    if (this.writesLeft >= 0) return write();
    if (this.isStored) await write();
    throw new Killed();
  }
}

interface Life {
  readonly writes: number;
  readonly isStored: boolean;
}

const life = fc.record({ writes: fc.nat(25), isStored: fc.boolean() });
/** A value is known by its length. */
const bytes = fc.oneof(fc.nat(100), fc.nat(ZEROS.length));
const someStep = fc.record({
  outputs: fc.array(bytes, { maxLength: 8 }),
  state: fc.uniqueArray(fc.record({ key: fc.constantFrom(...'abcdefgh'), length: fc.option(bytes) }), {
    selector: ({ key }) => key,
  }),
});

const lengths = (state: ReadonlyMap<string, Uint8Array>) =>
  [...state].map(([key, { length }]) => [key, length] as const).sort();

describe('a step', () => {
  it('counts as a whole, whatever its size and wherever the process dies', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(someStep, { maxLength: 5 }),
        fc.array(life, { maxLength: 12 }),
        async (steps, lives) => {
          const log = new MortalLog();
          const deaths: Life[] = [...lives];
          const expected = new Map<string, Uint8Array>();
          const written: string[] = [];
          const begin = () => {
            const { writes = Number.POSITIVE_INFINITY, isStored = false } = deaths.shift() ?? {};
            Object.assign(log, { writesLeft: writes, isStored });
          };
          /** Loads after each death, and says whether the log has the step with this offset. */
          const isCommitted = async (next: bigint): Promise<boolean> => {
            for (;;) {
              begin();
              try {
                const seen = lengths(wholeState((await log.load(GROUP)).state));
                const { offsets, state } = await loadSteps(log, GROUP);
                expect(lengths(state)).toEqual(seen);
                expect([...(await log.load(GROUP)).state.keys()].sort()).toEqual([...state.keys()].sort());
                const offset = offsets.get(offsetKey(INPUT.name, 0)) ?? 0n;
                expect([next - 1n, next]).toContain(offset);
                const isNew = offset === next;
                if (!isNew) expect(lengths(state)).toEqual(lengths(expected));
                return isNew;
              } catch (error) {
                if (!(error instanceof Killed)) throw error;
              }
            }
          };
          begin();
          for (const [number, { outputs, state }] of steps.entries()) {
            const next = BigInt(number + 1);
            const records = outputs.map((length, n) => ({ key: `${number}:${n}`, value: ZEROS.subarray(0, length) }));
            const writes = state.map(({ key, length }) => ({
              key,
              value: length === null ? null : ZEROS.subarray(0, length),
            }));
            const step = {
              outputs: [{ topic: OUTPUT, records }],
              offsets: [{ topic: INPUT.name, partition: 0, next }],
              state: writes,
            };
            for (let isDone = false; !isDone; ) {
              try {
                await commitStep(log, GROUP, step);
                isDone = true;
              } catch (error) {
                if (!(error instanceof Killed)) throw error;
                isDone = await isCommitted(next);
              }
            }
            for (const { key, value } of writes) {
              if (value === null) expected.delete(key);
              else expected.set(key, value);
            }
            written.push(...records.map(({ key }) => key));
            const { state: saved } = await log.load(GROUP);
            expect(lengths(saved)).toEqual(lengths(expected));
            expect(
              log
                .all(OUTPUT)
                .map(({ key }) => key)
                .sort(),
            ).toEqual([...written].sort());
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it('has its outputs once on the embedded log, whatever their size and wherever its process is killed', async () => {
    const config = readConfig({}, { log: 'embedded', dataDir: mkdtempSync(path.join(tmpdir(), 'steps-')) });
    const log = await openEventLog(config, silentLogger());
    const [input, output] = [await createTopic(log), await createTopic(log)];
    for (let kill = 0; kill < times(2, 20); kill++) {
      const child = startSteps({ config, input, output, group: GROUP });
      await child.printed(1 + Math.floor(Math.random() * 2));
      await sleep(Math.random() * KILL_DELAY_MAX_MS);
      await child.kill();
      const next = (await log.load(GROUP)).offsets.get(offsetKey(input.name, 0)) ?? 0n;
      const steps = Array.from({ length: Number(next) }, (_, at) => outputsOf(BigInt(at + 1)));
      expect((await readAll(log, output)).map(({ key }) => key)).toEqual(steps.flat().map(({ key }) => key));
      const { state } = await loadSteps(log, GROUP);
      expect(state.get('0')?.[0]).toBe(Number(next));
    }
    await log.close();
    rmSync(config.dataDir, { recursive: true });
  });

  it('is one commit when it fits, and only appends when it has no offset and no state', async () => {
    const log = new MortalLog();
    log.writesLeft = 1;
    const value = Buffer.alloc(1_000);
    const records = [{ key: 'a', value }];
    const outputs = [{ topic: OUTPUT, records }];
    const offsets = [{ topic: INPUT.name, partition: 0, next: 1n }];
    await commitStep(log, GROUP, { outputs, offsets, state: [{ key: 'a', value }] });
    expect(log.writesLeft).toBe(0);
    log.writesLeft = 1;
    await commitStep(log, GROUP, { outputs, offsets: [], state: [] });
    expect(log.writesLeft).toBe(0);
    expect(log.all(OUTPUT)).toHaveLength(2);
  });
});
