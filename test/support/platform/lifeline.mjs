// Every Node process that tests start imports this file first. The process ends with its starter, which holds its standard
// input: an interrupted run leaves nothing behind.

import { Socket } from 'node:net';
import { isMainThread } from 'node:worker_threads';

// A worker thread imports this file too, and has an empty standard input.
if (isMainThread) {
  const input = process.stdin;
  input.once('end', () => process.kill(process.pid, 'SIGKILL'));
  input.resume();
  if (input instanceof Socket) input.unref();
}
