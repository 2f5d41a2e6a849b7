import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ForwardingLog } from '../../platform/log/forwarding.ts';
import { TOPICS, type Topic } from '../../schemas/index.ts';
import { absentStore } from '../../test/support/api/absent-store.ts';
import { Stage } from '../../test/support/api/stage.ts';
import { startHistory } from './server.ts';

/** More than two looks of whatever still follows the log. */
const LOOKS_MS = 1_200;

/** Refuses the topic of statement exports, and counts what is asked of the log. */
class WithoutExports extends ForwardingLog {
  asked = 0;

  override async ensureTopics(topics: readonly Topic[]): Promise<void> {
    if (topics.includes(TOPICS.exports)) throw new Error('no topic of exports');
    return super.ensureTopics(topics);
  }

  override load(group: string): ReturnType<ForwardingLog['load']> {
    this.asked += 1;
    return super.load(group);
  }
}

it('the history service leaves nothing running when a part of it cannot start', async () => {
  const stage = new Stage();
  await stage.markets();
  const context = stage.context();
  const log = new WithoutExports(context.log);
  await expect(startHistory({ ...context, log }, absentStore())).rejects.toThrow('no topic of exports');
  const { asked } = log;
  await sleep(LOOKS_MS);
  expect(log.asked).toBe(asked);
});
