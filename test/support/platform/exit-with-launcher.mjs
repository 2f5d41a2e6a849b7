// Imported first by benches, soaks and examples: they end when the launcher that started them is gone.

import { isMainThread } from 'node:worker_threads';
import { exitWithLauncher } from '../../../bin/launcher-watch.mjs';

// Worker threads import this file too.
if (isMainThread) exitWithLauncher();
