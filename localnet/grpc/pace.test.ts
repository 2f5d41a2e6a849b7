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

it('calls what is not spaced at once and in order, and leaves turns to what is spaced', () => {
  const called: number[] = [];
  const pace = new Pace(400);
  const isAtOnce = (one: number) => one >= 100;
  pace.add(numbered(0, 100, called), true);
  pace.add(numbered(100, 500, called), false);
  vi.advanceTimersByTime(20);
  expect(called.filter(isAtOnce)).toEqual(Array.from({ length: 500 }, (_, index) => 100 + index));
  expect(called.length).toBeLessThan(510);
  vi.advanceTimersByTime(383);
  expect(called.filter((one) => !isAtOnce(one))).toEqual(Array.from({ length: 100 }, (_, index) => index));
});

it('calls nothing after a stop', () => {
  const called: number[] = [];
  const pace = new Pace(400);
  pace.add(numbered(0, 10, called), true);
  pace.add(numbered(10, 10, called), false);
  pace.stop();
  vi.advanceTimersByTime(1_000);
  expect(called).toEqual([]);
});
