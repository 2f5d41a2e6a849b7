// Two nodes, of which one lost blocks at a jump to a newer snapshot: its lists count only where they leave nothing out.

import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../platform/index.ts';
import { FaultyNode } from '../../test/support/ingest/faulty-node.ts';
import { chainOf, serveBlocks } from '../../test/support/ingest/partial-ledger.ts';
import { UpdateQueue } from '../queue.ts';
import type { SourceUpdate } from '../source.ts';
import type { AccountStream } from './account-stream.ts';
import { RequestBudget } from './budget.ts';
import { type Clock, REAL_CLOCK } from './clock.ts';
import { Endpoint } from './endpoint.ts';
import { BEHIND } from './errors.ts';
import { History } from './history.ts';
import { JsonRpc } from './json-rpc.ts';
import { Nodes } from './nodes.ts';
import { TransactionAudit } from './transaction-audit.ts';
import { NETWORK } from './transport.ts';

const PROGRAM = 'program';
const RESUME_SLOT = 500;
const CHAIN = chainOf(90, 1_000);
const RATE_LIMIT = { error: { code: 429, message: 'Too many requests' } };
const lost = (slot: number) => slot < 510 || slot > 700;
/** More audits than failed comparisons. */
const AUDITS = 14;
/** Pauses between the rounds of a request take no time. */
const CLOCK: Clock = { ...REAL_CLOCK, wait: async () => {} };

const open: FaultyNode[] = [];
afterEach(async () => {
  for (const node of open.splice(0)) await node.close();
});

/** A node with one transaction in each of its blocks, whose signature is the slot. Its first `refusals` lists are refused. */
async function nodeOf(has: (slot: number) => boolean, refusals = 0): Promise<Endpoint> {
  const node = await FaultyNode.open(null);
  open.push(node);
  serveBlocks(node, CHAIN, has);
  const held = CHAIN.filter(has).reverse();
  let left = refusals;
  node.on('getSignaturesForAddress', ([, options]) => {
    const asked = options as { readonly before?: string; readonly minContextSlot?: number };
    const { before = Number.POSITIVE_INFINITY, minContextSlot = 0 } = asked;
    if (left-- > 0) return RATE_LIMIT;
    if ((held[0] ?? 0) < minContextSlot)
      return { error: { code: BEHIND, message: 'Minimum context slot not reached' } };
    const slots = held.filter((slot) => slot < Number(before));
    return { result: slots.map((slot) => ({ signature: String(slot), slot, err: null })) };
  });
  node.on('getTransaction', ([signature]) => {
    const slot = Number(signature);
    return { result: has(slot) ? { slot, meta: { err: null, logMessages: [] } } : null };
  });
  return new Endpoint(node.url, new RequestBudget(0, CLOCK), CLOCK);
}

/** The result of one first sweep after an outage. */
const updatesOf = (...endpoints: readonly Endpoint[]) => updatesOfAudits(endpoints, 0);

/** The result of the first sweep and some audits. */
async function updatesOfAudits(
  endpoints: readonly Endpoint[],
  audits: number,
  before: (audit: number) => void = () => {},
): Promise<readonly SourceUpdate[]> {
  const { signal } = new AbortController();
  const queue = new UpdateQueue(10_000);
  const rpc = new JsonRpc(new Nodes(endpoints, 'confirmed', signal, CLOCK), {} as AccountStream);
  const history = new History(
    rpc,
    { programs: [PROGRAM], commitment: 'confirmed', firstSignaturesMax: 1_000, chain: 'chain' },
    { slot: RESUME_SLOT, signatures: { [PROGRAM]: String(RESUME_SLOT) }, chain: 'chain' },
  );
  const audit = new TransactionAudit({ rpc, history, reader: { counts: {} }, queue, logger: silentLogger(), signal });
  await audit.begin(() => {});
  for (let number = 0; number < audits; number++) {
    before(number);
    await audit.turn();
    await rpc.nodes.probe();
  }
  queue.end();
  const updates: SourceUpdate[] = [];
  for await (const batch of queue.batches()) updates.push(...batch);
  return updates;
}

const slotsOf = (updates: readonly SourceUpdate[]): readonly number[] =>
  updates.flatMap((one) => (one.kind === 'transaction' && one.slot > RESUME_SLOT ? [one.slot] : []));
const gapsOf = (updates: readonly SourceUpdate[]) => updates.filter((one) => one.kind === 'gap');

describe('a sweep beside a node that lost blocks', () => {
  it('waits for the whole node that is busy', async () => {
    const updates = await updatesOf(await nodeOf(() => true, 2), await nodeOf(lost));
    expect(slotsOf(updates)).toEqual(chainOf(RESUME_SLOT + 1, 1_000));
    expect(gapsOf(updates).at(-1)).toMatchObject({ fromSlot: RESUME_SLOT, toSlot: 1_000, filled: true });
  });

  it('takes the lists of the whole node also where the other one comes first', async () => {
    const updates = await updatesOf(await nodeOf(lost), await nodeOf(() => true));
    expect(slotsOf(updates)).toEqual(chainOf(RESUME_SLOT + 1, 1_000));
    expect(gapsOf(updates).filter((one) => one.isLasting)).toEqual([]);
  });

  it('takes those of both where each lost some, and names all of these as a gap', async () => {
    const updates = await updatesOf(await nodeOf(lost), await nodeOf((slot) => slot < 800 || slot > 900));
    expect(gapsOf(updates).filter((one) => one.isLasting)).toMatchObject([
      { fromSlot: 510, toSlot: 700 },
      { fromSlot: 800, toSlot: 900 },
    ]);
  });
});

describe('a sweep beside a node that lost blocks and a whole one that stands far behind', () => {
  /** Fails when the resume point passes a slot that neither came nor lies in a lasting gap. */
  const expectNothingHidden = (updates: readonly SourceUpdate[]) => {
    const open = new Set(chainOf(RESUME_SLOT + 1, 1_000));
    for (const update of updates) {
      if (update.kind === 'transaction') open.delete(update.slot);
      else if (update.kind === 'gap' && update.isLasting)
        for (const slot of chainOf(update.fromSlot, update.toSlot)) open.delete(slot);
      else if (update.kind === 'progress') expect([...open].find((slot) => slot <= update.resume.slot)).toBeUndefined();
    }
    expect([...open][0]).toBeUndefined();
  };

  for (const standing of [450, 505, 600]) {
    const behind = (slot: number) => slot <= standing;

    it(`at ${standing} names the jump as a gap`, async () => {
      expectNothingHidden(await updatesOfAudits([await nodeOf(lost), await nodeOf(behind)], AUDITS));
      expectNothingHidden(await updatesOfAudits([await nodeOf(behind), await nodeOf(lost)], AUDITS));
    });

    it(`at ${standing} waits while it catches up`, async () => {
      const whole = await nodeOf(() => true);
      const late = await nodeOf(behind);
      let isLate = true;
      const catching = new Endpoint(late.url, new RequestBudget(0, CLOCK), CLOCK, {
        ...NETWORK,
        post: (_, body, signal) => NETWORK.post(isLate ? late.url : whole.url, body, signal),
      });
      const updates = await updatesOfAudits([await nodeOf(lost), catching], AUDITS, (audit) => {
        isLate = audit < 3;
      });
      expectNothingHidden(updates);
      expect(gapsOf(updates).filter((one) => one.isLasting)).toEqual([]);
    });
  }

  it('takes no list of a node that refused the comparison', async () => {
    const jumped = await nodeOf(lost);
    const [node] = open;
    if (node) node.http = () => ({ status: 403 });
    const updates = await updatesOfAudits([jumped, await nodeOf((slot) => slot <= 505)], 2, () => {
      if (node) node.http = null;
    });
    expect(updates.filter((one) => one.kind === 'progress' && one.resume.slot > 505)).toEqual([]);
  });
});
