// A role whose work is following topics.

import type { TopicFollower } from '../log/topic-follower.ts';
import type { RunningRole } from './context.ts';

/** Makes a role of a follower. `finish` runs when following has ended without a failure. */
export function followingRole(
  name: string,
  follower: TopicFollower,
  finish: () => Promise<void> = () => Promise.resolve(),
): RunningRole {
  const done = follower.done.then(finish);
  done.catch(() => {}); // The waiter of `done` gets the failure; alone it must not end the process.
  return {
    name,
    endpoints: {},
    done,
    stop: async () => {
      await follower.stop();
      await done.catch(() => {});
    },
  };
}
