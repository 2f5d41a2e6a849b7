// A transaction at which nodes fail, whatever request contains it, becomes a hole. A node that is away makes none.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FaultyNode, type HttpFault } from '../../test/support/ingest/faulty-node.ts';
import type { AccountStream } from './account-stream.ts';
import { RequestBudget } from './budget.ts';
import type { Clock } from './clock.ts';
import { Endpoint } from './endpoint.ts';
import { History, MISSING_SWEEPS_MAX, type TransactionHole } from './history.ts';
import { JsonRpc, TRANSACTION_BATCH } from './json-rpc.ts';
import { Nodes } from './nodes.ts';

const [FLOOR, TOP] = [100, 400];
const PAGE = 1_000;
const AUDIT_MS = 5_000;
const FAILED: HttpFault = { status: 500 };
const CUT: HttpFault = { status: 200, text: '[{"jsonrpc"' };
const signatureOf = (slot: number): string => `signature-${slot}-`;
const slotOf = (signature: unknown): number => Number(String(signature).split('-')[1]);

describe('a transaction at which nodes fail', () => {
  let node: FaultyNode;
  beforeEach(async () => {
    node = await FaultyNode.open(null);
    node.on('getSignaturesForAddress', ([, config]) => {
      const { before } = config as { readonly before?: string };
      const newest = before === undefined ? TOP : slotOf(before) - 1;
      const slots = Array.from({ length: Math.min(PAGE, newest) }, (_, index) => newest - index);
      return { result: slots.map((slot) => ({ signature: signatureOf(slot), slot, err: null })) };
    });
    node.on('getTransaction', ([signature]) => {
      return { result: { slot: slotOf(signature), meta: { err: null, logMessages: [] } } };
    });
  });
  afterEach(() => node.close());

  const watch = () => {
    let nowMs = 0;
    const clock: Clock = {
      now: () => nowMs,
      wait: async (ms) => {
        nowMs += ms;
      },
      chance: () => 0.5,
    };
    const { signal } = new AbortController();
    const endpoint = new Endpoint(node.url, new RequestBudget(0, clock), clock);
    const rpc = new JsonRpc(new Nodes([endpoint], 'confirmed', signal, clock), {} as AccountStream);
    const options = { programs: ['P'], commitment: 'confirmed', firstSignaturesMax: PAGE, chain: 'chain' } as const;
    const history = new History(rpc, options, { slot: FLOOR, signatures: { P: signatureOf(FLOOR) }, chain: 'chain' });
    const found = new Set<number>();
    const holes: TransactionHole[] = [];
    const sweeps = async (count: number) => {
      for (let turn = 0; turn < count; turn++) {
        nowMs += AUDIT_MS;
        const swept = history.sweep({ lagSlots: 0, emptySlot: 0 }, async ({ slot }) => void found.add(slot), signal);
        holes.push(...(await swept.catch(() => ({ holes: [] }))).holes);
      }
    };
    return { history, found, holes, sweeps };
  };
  const failAt = (fault: HttpFault, ...slots: readonly number[]) => {
    node.http = (body) => {
      const isAsked = slots.some((slot) => body.includes(signatureOf(slot)));
      return isAsked && body.includes('getTransaction') ? fault : null;
    };
  };
  /** The slots that the first sweep asks for. */
  const wanted = (...without: readonly number[]) => {
    const first = FLOOR - 64;
    return Array.from({ length: TOP - first + 1 }, (_, index) => first + index).filter((s) => !without.includes(s));
  };

  it.each([
    ['by a status', FAILED],
    ['by a body that is cut', CUT],
  ])('%s holds no other one, and becomes a lasting hole', async (_, fault) => {
    failAt(fault, 205);
    const { history, found, holes, sweeps } = watch();
    await sweeps(1);
    expect([...found].sort((a, b) => a - b)).toEqual(wanted(205));
    await sweeps(MISSING_SWEEPS_MAX - 1);
    expect(holes).toMatchObject([{ fromSlot: 205, toSlot: 205 }]);
    expect(history.resume?.slot).toBe(TOP);
  });

  it('holds no other one when each of the first batches has one, the first call among them', async () => {
    const poisoned = [0, 1, 2, 3].map((batch) => FLOOR - 64 + batch * TRANSACTION_BATCH);
    failAt(FAILED, ...poisoned);
    const { history, found, holes, sweeps } = watch();
    await sweeps(MISSING_SWEEPS_MAX + 8);
    expect([...found].sort((a, b) => a - b)).toEqual(wanted(...poisoned));
    expect(holes.map(({ fromSlot }) => fromSlot)).toEqual(poisoned);
    expect(history.resume?.slot).toBe(TOP);
  });

  it('becomes a hole also where it alone is asked for', async () => {
    failAt(FAILED, 205);
    const { history, holes, sweeps } = watch();
    for (const slot of wanted(205)) history.take(signatureOf(slot), slot);
    await sweeps(MISSING_SWEEPS_MAX);
    expect(holes).toMatchObject([{ fromSlot: 205, toSlot: 205 }]);
  });

  it('is no hole while the node fails at all transactions, however long', async () => {
    node.http = (body) => (body.includes('getTransaction') ? FAILED : null);
    const { history, found, holes, sweeps } = watch();
    history.take(signatureOf(TOP), TOP);
    await sweeps(1);
    const before = node.requests;
    await sweeps(4 * MISSING_SWEEPS_MAX);
    expect([found.size, holes, history.resume?.slot]).toEqual([0, [], FLOOR]);
    // A list, four rounds of one batch and four of one other transaction: never a request for each call.
    expect((node.requests - before) / (4 * MISSING_SWEEPS_MAX)).toBeLessThan(10);
    node.http = null;
    await sweeps(10);
    expect([...found].sort((a, b) => a - b)).toEqual(wanted(TOP));
    expect([holes, history.resume?.slot]).toEqual([[], TOP]);
  });

  it('is no hole while the node is away from the start', async () => {
    node.http = (body) => (body.includes('getTransaction') ? FAILED : null);
    const { found, holes, sweeps } = watch();
    await sweeps(4 * MISSING_SWEEPS_MAX);
    node.http = null;
    await sweeps(10);
    expect([found.size, holes]).toEqual([wanted().length, []]);
  });
});
