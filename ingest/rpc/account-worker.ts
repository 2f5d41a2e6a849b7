// Worker thread of large account reads.

import { parentPort } from 'node:worker_threads';
import { AccountReads } from './account-read.ts';
import type { WorkerRequest } from './account-stream.ts';
import { NETWORK } from './transport.ts';

const reads = new AccountReads(NETWORK, (answer, buffers = []) => parentPort?.postMessage(answer, [...buffers]));
parentPort?.on('message', (request: WorkerRequest) => reads.take(request));
