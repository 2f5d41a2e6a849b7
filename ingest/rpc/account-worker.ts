// Worker thread of large account reads.

import { getPriority, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { openDecoder } from './account-data.ts';
import { AccountReads } from './account-read.ts';
import { postJson } from './http-post.ts';
import type { WorkerRequest } from './worker-messages.ts';

/** Nice value: the main loop goes first where cores are few. */
const PRIORITY = 10;

// On Linux this concerns the thread alone, elsewhere the process.
if (process.platform === 'linux' && getPriority(0) < PRIORITY) setPriority(0, PRIORITY);
// Without it Node's decoder works.
await openDecoder().catch(() => {});
const reads = new AccountReads({ post: postJson }, (answer, buffers = []) =>
  parentPort?.postMessage(answer, [...buffers]),
);
parentPort?.on('message', (request: WorkerRequest) => reads.take(request));
