import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Pace } from './pace.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const numbered = (from: number, count: number, into: number[]) =>
  Array.from({ length: count }, (_, index) => () => into.push(from + index));

it('calls in order, evenly over a slot', () => {
  const called: number[] = [];
  const pace = new Pace(400);
  pace.add(numbered(0, 800, called), true);
  expect(called).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(called.length).toBeGreaterThan(190);
  expect(called.length).toBeLessThan(210);
  vi.advanceTimersByTime(301);
  expect(called).toEqual(Array.from({ length: 800 }, (_, index) => index));
});

it('lets what is left of a slot share the time of the next', () => {
  const called: number[] = [];
  const pace = new Pace(400);
  pace.add(numbered(0, 400, called), true);
  vi.advanceTimersByTime(200);
  pace.add(numbered(400, 200, called), true);
  vi.advanceTimersByTime(200);
  expect(called.length).toBeGreaterThan(390);
  expect(called.length).toBeLessThan(410);
  vi.advanceTimersByTime(201);
  expect(called).toHaveLength(600);
});

it('calls what is not spaced at once, after what was added before', () => {
  const called: number[] = [];
  const pace = new Pace(400);
  pace.add(numbered(0, 100, called), true);
  pace.add(numbered(100, 500, called), false);
  vi.advanceTimersByTime(200);
  expect(called.length).toBeLessThan(60);
  vi.advanceTimersByTime(203);
  expect(called).toEqual(Array.from({ length: 600 }, (_, index) => index));
});

it('calls nothing after a stop', () => {
  const called: number[] = [];
  const pace = new Pace(400);
  pace.add(numbered(0, 10, called), true);
  pace.stop();
  vi.advanceTimersByTime(1_000);
  expect(called).toEqual([]);
});
