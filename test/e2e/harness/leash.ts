// Loaded first in every process that the tests start: it ends with the process that holds its standard input, so that a test
// run that is interrupted leaves nothing behind.

import { Socket } from 'node:net';

const input = process.stdin;
input.once('end', () => process.kill(process.pid, 'SIGKILL'));
input.resume();
if (input instanceof Socket) input.unref();
