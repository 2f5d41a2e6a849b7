import { afterEach, describe, expect, it } from 'vitest';
import { nextTurn } from '../../platform/index.ts';
import { FaultyNode } from '../../test/support/ingest/faulty-node.ts';
import { RequestBudget } from './budget.ts';
import type { Clock } from './clock.ts';
import { Endpoint, retryAfterMs } from './endpoint.ts';
import { RpcError } from './errors.ts';
import { Nodes } from './nodes.ts';

/** Time passes only by waiting. */
class VirtualClock implements Clock {
  ms = 0;
  waited: number[] = [];
  /** Runs before each wait. */
  before = () => {};
  now() {
    return this.ms;
  }
  async wait(ms: number) {
    this.before();
    this.waited.push(ms);
    this.ms += ms;
  }
  chance() {
    return 0.5;
  }
}

describe('nodes', () => {
  const open: FaultyNode[] = [];
  const clock = new VirtualClock();
  afterEach(async () => {
    for (const node of open.splice(0)) await node.close();
    clock.waited = [];
    clock.before = () => {};
  });
  const stub = async () => {
    const node = await FaultyNode.open(null);
    open.push(node);
    return node;
  };
  const nodesOf = (...stubs: FaultyNode[]) => {
    const endpoints = stubs.map(({ url }) => new Endpoint(url, new RequestBudget(0, clock), clock));
    return new Nodes(endpoints, 'confirmed', new AbortController().signal, clock);
  };
  const slot = { method: 'getSlot', params: [] };

  it('wait as long as Retry-After says, and with doubling pauses without it', async () => {
    const node = await stub();
    node.on('getSlot', () => ({ result: 7 }));
    const answers = [{ status: 429, headers: { 'retry-after': '3' } }, { status: 503 }, { status: 503 }];
    node.http = () => answers.shift() ?? null;
    const startMs = clock.ms;
    expect(await nodesOf(node).call(slot)).toBe(7);
    expect(clock.waited[0]).toBe(3_000);
    expect(clock.ms - startMs).toBeGreaterThan(3_000 + 250);
    expect(node.requests).toBe(4);
  });

  it('that fail for ever end a request after a bound', async () => {
    const node = await stub();
    node.on('getSlot', () => ({ error: { code: -32005, message: 'Node is unhealthy' } }));
    await expect(nodesOf(node).call(slot)).rejects.toThrow('unhealthy');
    expect(node.requests).toBeLessThan(10);
  });

  it('refuse parameters once, without asking others', async () => {
    const [first, second] = [await stub(), await stub()];
    first.on('getSlot', () => ({ error: { code: -32602, message: 'Invalid params' } }));
    await expect(nodesOf(first, second).call(slot)).rejects.toBeInstanceOf(RpcError);
    expect(second.requests).toBe(0);
  });

  it('answer each item of a batch alone, and a refused batch goes one by one', async () => {
    const [first, second] = [await stub(), await stub()];
    first.on('get', ([n]) => (n === 1 ? { error: { code: -32603, message: 'Internal error' } } : { result: n }));
    second.on('get', ([n]) => (n === 2 ? { result: null } : { result: `second ${n}` }));
    const calls = [0, 1, 2].map((n) => ({ method: 'get', params: [n] }));
    const lacks = (value: unknown) => Number(value === null);
    expect(await nodesOf(first, second).batch(calls, lacks)).toEqual([
      { value: 0 },
      { value: 'second 1' },
      { value: 2 },
    ]);
    let isFirst = true;
    first.http = () => {
      const refusal = isFirst ? { status: 413 } : null;
      isFirst = false;
      return refusal;
    };
    const alone = nodesOf(first);
    const outcomes = await alone.batch(calls, lacks);
    expect(outcomes.map((one) => ('value' in one ? one.value : one.error.code))).toEqual([0, -32603, 2]);
  });

  it('without batches and with a rate limit give all answers, and none is asked for twice', async () => {
    const node = await stub();
    node.on('get', ([n]) => ({ result: n }));
    let requests = 0;
    node.http = () => {
      requests += 1;
      if (requests === 1) return { status: 413 };
      return requests % 21 === 0 ? { status: 429 } : null;
    };
    const calls = Array.from({ length: 25 }, (_, n) => ({ method: 'get', params: [n] }));
    const outcomes = await nodesOf(node).batch(calls, () => 0);
    expect(outcomes).toEqual(calls.map((_, value) => ({ value })));
    expect(node.asked.get('get')).toBe(25);
  });

  it('that fail within calls one by one keep the answers before it', async () => {
    const node = await stub();
    node.on('get', ([n]) => ({ result: n }));
    let requests = 0;
    node.http = () => {
      requests += 1;
      if (requests === 1) return { status: 413 };
      return requests > 3 ? { status: 503 } : null;
    };
    const calls = [0, 1, 2, 3].map((n) => ({ method: 'get', params: [n] }));
    const outcomes = await nodesOf(node).batch(calls, () => 0);
    expect(outcomes.map((one) => ('value' in one ? one.value : [one.error.code, one.error.isTransport]))).toEqual([
      0,
      1,
      [503, true],
      [503, true],
    ]);
  });

  it('that limit the rate of items in a batch are asked for the rest after a pause', async () => {
    const node = await stub();
    let left = 2;
    node.on('get', ([n]) => (left-- > 0 ? { result: n } : { error: { code: 429, message: 'Too many requests' } }));
    const calls = [0, 1, 2].map((n) => ({ method: 'get', params: [n] }));
    const nodes = nodesOf(node);
    const asked = nodes.batch(calls, () => 0);
    clock.before = () => {
      left = 2;
    };
    expect(await asked).toEqual([{ value: 0 }, { value: 1 }, { value: 2 }]);
  });

  it('that once refuse a batch and its calls alone get batches again', async () => {
    const node = await stub();
    node.on('get', ([n]) => ({ result: n }));
    const calls = [0, 1, 2].map((n) => ({ method: 'get', params: [n] }));
    const nodes = nodesOf(node);
    node.http = () => ({ status: 401 });
    await expect(nodes.batch(calls, () => 0)).rejects.toThrow('401');
    node.http = null;
    const before = node.requests;
    expect(await nodes.batch(calls, () => 0)).toHaveLength(3);
    expect(node.requests - before).toBe(1);
  });

  it('that are behind the wanted slot are passed over, also when they do not say so', async () => {
    const [first, second] = [await stub(), await stub()];
    first.on('read', () => ({ result: { context: { slot: 90 }, value: 'old' } }));
    second.on('read', () => ({ result: { context: { slot: 101 }, value: 'new' } }));
    const params = [{ commitment: 'confirmed', minContextSlot: 100 }];
    expect(await nodesOf(first, second).call({ method: 'read', params })).toMatchObject({ value: 'new' });
  });

  it('that are behind the others are asked last', async () => {
    const [first, second] = [await stub(), await stub()];
    first.on('getSlot', () => ({ result: 100 }));
    second.on('getSlot', () => ({ result: 200 }));
    const nodes = nodesOf(first, second);
    await nodes.probe();
    expect(nodes.ranked().map(({ url }) => url)).toEqual([second.url, first.url]);
  });
});

describe('the budget of a node', () => {
  it('lets no more requests through than its rate, and background reads a quarter of them', async () => {
    const clock = new VirtualClock();
    const { signal } = new AbortController();
    const budget = new RequestBudget(10, clock);
    for (let count = 0; count < 40; count++) await budget.take(1, signal);
    expect(clock.ms).toBeGreaterThanOrEqual(3_000);
    const startMs = clock.ms;
    const other = new RequestBudget(100, clock);
    for (let count = 0; count < 100; count++) await other.take(1, signal, true);
    expect(clock.ms - startMs).toBeGreaterThanOrEqual(3_000);
  });

  it('ends the wait of a request with its signal, also behind others, and gives its place to the next', async () => {
    let [nowMs, wake] = [0, () => {}];
    const wait = () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      });
    const budget = new RequestBudget(10, { now: () => nowMs, chance: () => 0, wait });
    const { signal } = new AbortController();
    await budget.take(10, signal);
    const ahead = budget.take(10, signal);
    const limited = new AbortController();
    const refetch = budget.take(1, limited.signal).then(
      () => 'sent',
      (error: Error) => error.message,
    );
    const behind = budget.take(0, signal);
    limited.abort(new Error('too late'));
    expect(await Promise.race([refetch, nextTurn()])).toBe('too late');
    nowMs = 1_000;
    wake();
    await Promise.all([ahead, behind]);
  });
});

it('Retry-After is seconds or a date', () => {
  expect([retryAfterMs('2'), retryAfterMs(null), retryAfterMs('soon')]).toEqual([2_000, null, null]);
  expect(retryAfterMs('Thu, 01 Jan 1970 00:00:05 GMT', 1_000)).toBe(4_000);
});
