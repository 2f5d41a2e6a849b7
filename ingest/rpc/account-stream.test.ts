import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AccountStream } from './account-stream.ts';
import type { Endpoint } from './endpoint.ts';
import type { AccountWorker } from './transport.ts';
import type { WorkerAnswer, WorkerRequest } from './worker-messages.ts';

const endpoint = { url: 'http://node', admit: async () => {}, settle: () => {} } as unknown as Endpoint;

const ANSWER_MS = 10;
let opened = 0;
let ended = 0;
/** Ends of threads that are still to be reported. */
let exits: (() => void)[] = [];

/** Answers each read after a moment. */
function openWorker(): AccountWorker {
  opened += 1;
  let answered: (answer: WorkerAnswer) => void = () => {};
  return {
    on: (event: string, listener: (value: never) => void) => {
      if (event === 'message') answered = listener as typeof answered;
      if (event === 'exit') exits.push(listener as () => void);
    },
    postMessage: ({ id }: WorkerRequest) =>
      void setTimeout(() => answered({ kind: 'end', id, envelope: id }), ANSWER_MS),
    terminate: async () => {
      ended += 1;
    },
  };
}

beforeEach(() => {
  [opened, ended, exits] = [0, 0, []];
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

function newStream() {
  const stream = new AccountStream({ openWorker });
  return async (meanwhile = () => {}) => {
    const answer = stream.read(endpoint, {}, () => {}, { signal: new AbortController().signal });
    answer.catch(() => {});
    await vi.advanceTimersByTimeAsync(ANSWER_MS / 2);
    meanwhile();
    await vi.advanceTimersByTimeAsync(ANSWER_MS);
    return answer;
  };
}

it('keeps its thread between reads that follow each other, ends it when none comes, and starts another', async () => {
  const read = newStream();
  await read();
  await vi.advanceTimersByTimeAsync(11_000);
  expect(await read()).toBe(2);
  await vi.advanceTimersByTimeAsync(11_000);
  expect([opened, ended]).toEqual([1, 0]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect([opened, ended]).toEqual([1, 1]);
  expect(await read()).toBe(3);
  expect([opened, ended]).toEqual([2, 1]);
});

it('reads on when the thread before reports its end late, and fails when its own thread ends', async () => {
  const read = newStream();
  await read();
  await vi.advanceTimersByTimeAsync(16_000);
  expect(await read(() => exits[0]?.())).toBe(2);
  await expect(read(() => exits[1]?.())).rejects.toThrow('account read ended early');
});
