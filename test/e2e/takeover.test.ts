// Two processes of the same roles at once: one writes and the other stands by. When a process ends or is updated, nothing is
// lost or twice.

import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { times } from '../support/platform/times.ts';
import { eventually, temporaryDirectory } from '../support/processes/processes.ts';
import { expectBooksEqualNaiveRebuild, expectHistoryEqualsTruth } from './harness/checks/checks.ts';
import { type Pipeline, PROCESSES, startPipeline, untilBooks } from './harness/processes/pipeline.ts';
import { rebuildFromLog } from './harness/processes/rebuild.ts';
import { copyRelease, Supervised } from './harness/processes/release.ts';

const ROLES = ['ingest', ...PROCESSES.processors, 'sink'];
/** In which processes that end each other would have done so several times. */
const WATCHED_MS = times(2_500, 15_000);
/** Slots in 400 ms. */
const SPEED = times(1, 2);
const NEXT_VERSION = '999.0.0';

describe('two processes of the same roles under a supervisor', () => {
  const { dir, remove } = temporaryDirectory();
  let pipeline: Pipeline;
  const started: Supervised[] = [];
  const start = async (root?: string) => {
    const supervised = await Supervised.start(ROLES, { ...pipeline.settings, METRICS_PORT: 0 }, root);
    started.push(supervised);
    return supervised;
  };
  const all = (state: string) => ROLES.map((role) => `${role} ${state}`).sort();
  const expectStates = async (writer: Supervised, standby: Supervised) => {
    expect([...(await writer.states())].sort(), await writer.errors()).toEqual(all('writes'));
    expect([...(await standby.states())].sort(), await standby.errors()).toEqual(all('stands by'));
  };
  /** Roles of one process, when each role is written by one of the two; the supervisor's haste decides by which. */
  const writtenBy = async (one: Supervised, other: Supervised) => {
    const [states, others] = await Promise.all([one.states(), other.states()]);
    const opposite = others.map((state) =>
      state.endsWith('writes') ? state.replace('writes', 'stands by') : state.replace('stands by', 'writes'),
    );
    expect(opposite).toEqual(states);
    return states;
  };
  const eventuallyStates = (writer: Supervised, standby: Supervised) =>
    eventually('the writer is the expected one', async () => {
      await expectStates(writer, standby);
      return true;
    });
  const expectFlow = async () => {
    const slot = async () =>
      ((await (await fetch(`${pipeline.url('orderbook')}/l2?marketName=SOL-PERP`)).json()) as { slot: number }).slot;
    const before = await slot();
    await eventually('books go on', async () => (await slot()) > before);
  };

  beforeAll(async () => {
    pipeline = await startPipeline({
      cluster: { seed: 9, speed: SPEED, accounts: 60, 'orders-per-market': 20 },
      without: ['ingest', 'processors', 'sink'],
      together: ['orderbook', 'history'],
    });
  });
  afterAll(async () => {
    for (const one of started.reverse()) await one.stop();
    await pipeline?.stop();
    remove();
  });

  it('leaves a second one of the same version standing by, which takes over when the first is gone', async () => {
    const [first, second] = [await start(), await start()];
    await expectStates(first, second);
    await untilBooks(pipeline.url('orderbook'));
    await expectFlow();
    await first.kill9();
    const writing = await eventually('each role has one writer', async () => {
      if (first.restarts === 0) return undefined;
      return writtenBy(first, second);
    });
    await expectFlow();
    await sleep(WATCHED_MS);
    expect(await writtenBy(first, second)).toEqual(writing);
    expect([first.restarts, second.restarts]).toEqual([1, 0]);
  });

  it('is updated: the new version writes and the old one stands by, however often the new one is killed', async () => {
    copyRelease(path.join(dir, 'next'), NEXT_VERSION);
    const [first, second] = started;
    if (!first || !second) throw new Error('nothing to update');
    await first.stop();
    const next = await start(path.join(dir, 'next'));
    await eventuallyStates(next, second);
    await sleep(WATCHED_MS);
    await expectStates(next, second);
    expect([next.restarts, second.restarts]).toEqual([0, 0]);
    await next.kill9();
    await eventuallyStates(next, second);
    await expectFlow();
    await sleep(WATCHED_MS);
    await expectStates(next, second);
    expect([next.restarts, second.restarts]).toEqual([1, 0]);
  });

  it('has lost and repeated nothing', async () => {
    expect(await expectHistoryEqualsTruth(pipeline)).toBeGreaterThan(200);
    await expectBooksEqualNaiveRebuild(pipeline);
    const { before, after } = await rebuildFromLog(pipeline);
    expect(before.views.records).toBeGreaterThan(100);
    expect(after).toEqual(before);
  });
});
