import { expect, it } from 'vitest';
import { TopicFollower } from '../log/topic-follower.ts';
import { followingRole } from './following-role.ts';

it('runs its last work after a stop, and not after a failure', async () => {
  let finished = 0;
  const finish = async () => void finished++;
  await followingRole('one', new TopicFollower(), finish).done;
  expect(finished).toBe(1);
  const follower = new TopicFollower();
  follower.run((signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())));
  const role = followingRole('two', follower, finish);
  follower.fail(new Error('saver failed'));
  await expect(role.done).rejects.toThrow('saver failed');
  await role.stop();
  expect(finished).toBe(1);
});
