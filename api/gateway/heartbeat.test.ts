import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Connection } from './connection.ts';
import { Heartbeat } from './heartbeat.ts';

let heartbeat: Heartbeat;

beforeEach(() => {
  vi.useFakeTimers();
  heartbeat = new Heartbeat();
});

afterEach(() => {
  heartbeat.stop();
  vi.useRealTimers();
});

/** Times of heartbeats to a connection that opens now, milliseconds from now. */
function beats(): number[] {
  const beganMs = performance.now();
  const received: number[] = [];
  const send = ([frame]: readonly Buffer[]) => {
    expect(String(frame)).toBe('{"channel":"heartbeat"}');
    received.push(performance.now() - beganMs);
  };
  heartbeat.add({ send, heartbeatDueMs: 0 } as unknown as Connection);
  return received;
}

it('beats every 5 seconds, first 5 seconds after the connect', () => {
  const received = beats();
  vi.advanceTimersByTime(4_999);
  expect(received).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(received).toEqual([5_000]);
  vi.advanceTimersByTime(4_999);
  expect(received).toHaveLength(1);
  vi.advanceTimersByTime(10_001);
  expect(received).toEqual([5_000, 10_000, 15_000, 20_000]);
});

it('counts from the connect of each connection', () => {
  const early = beats();
  vi.advanceTimersByTime(1_234);
  const late = beats();
  vi.advanceTimersByTime(10_000);
  expect([early, late]).toEqual([
    [5_000, 10_000],
    [5_000, 10_000],
  ]);
});
