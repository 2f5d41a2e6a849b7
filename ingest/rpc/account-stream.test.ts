import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AccountStream, type WorkerAnswer, type WorkerRequest } from './account-stream.ts';
import type { Endpoint } from './endpoint.ts';
import type { AccountWorker } from './transport.ts';

const endpoint = { url: 'http://node', admit: async () => {}, settle: () => {} } as unknown as Endpoint;

let opened = 0;
let ended = 0;

/** Answers each read at once. */
function openWorker(): AccountWorker {
  opened += 1;
  let answered: (answer: WorkerAnswer) => void = () => {};
  return {
    on: (event: string, listener: (value: never) => void) => {
      if (event === 'message') answered = listener as typeof answered;
    },
    postMessage: (request: WorkerRequest) => answered({ kind: 'end', id: request.id, envelope: request.id }),
    terminate: async () => {
      ended += 1;
    },
  };
}

beforeEach(() => {
  [opened, ended] = [0, 0];
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

it('keeps its thread between reads that follow each other, ends it when none comes, and starts another', async () => {
  const stream = new AccountStream({ openWorker });
  const read = () => stream.read(endpoint, {}, () => {}, { signal: new AbortController().signal });
  await read();
  await vi.advanceTimersByTimeAsync(4_000);
  expect(await read()).toBe(2);
  await vi.advanceTimersByTimeAsync(4_000);
  expect([opened, ended]).toEqual([1, 0]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect([opened, ended]).toEqual([1, 1]);
  expect(await read()).toBe(3);
  expect([opened, ended]).toEqual([2, 1]);
});
