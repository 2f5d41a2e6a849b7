// Two nodes, of which one lost blocks at a jump to a newer snapshot: its lists count only where they leave nothing out.

import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../platform/index.ts';
import { FaultyNode } from '../../test/support/ingest/faulty-node.ts';
import { chainOf, serveBlocks } from '../../test/support/ingest/partial-ledger.ts';
import { UpdateQueue } from '../queue.ts';
import type { SourceUpdate } from '../source.ts';
import type { AccountStream } from './account-stream.ts';
import { RequestBudget } from './budget.ts';
import { REAL_CLOCK } from './clock.ts';
import { Endpoint } from './endpoint.ts';
import { History } from './history.ts';
import { JsonRpc } from './json-rpc.ts';
import { Nodes } from './nodes.ts';
import { TransactionAudit } from './transaction-audit.ts';

const PROGRAM = 'program';
const RESUME_SLOT = 500;
const CHAIN = chainOf(90, 1_000);
const RATE_LIMIT = { error: { code: 429, message: 'Too many requests' } };
const lost = (slot: number) => slot < 510 || slot > 700;

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
    const { before = Number.POSITIVE_INFINITY } = options as { readonly before?: string };
    if (left-- > 0) return RATE_LIMIT;
    const slots = held.filter((slot) => slot < Number(before));
    return { result: slots.map((slot) => ({ signature: String(slot), slot, err: null })) };
  });
  node.on('getTransaction', ([signature]) => {
    const slot = Number(signature);
    return { result: has(slot) ? { slot, meta: { err: null, logMessages: [] } } : null };
  });
  return new Endpoint(node.url, new RequestBudget(0, REAL_CLOCK), REAL_CLOCK);
}

/** What one first sweep after an outage brings. */
async function updatesOf(...endpoints: readonly Endpoint[]): Promise<readonly SourceUpdate[]> {
  const { signal } = new AbortController();
  const queue = new UpdateQueue(10_000);
  const rpc = new JsonRpc(new Nodes(endpoints, 'confirmed', signal, REAL_CLOCK), {} as AccountStream);
  const history = new History(
    rpc,
    { programs: [PROGRAM], commitment: 'confirmed', firstSignaturesMax: 1_000, chain: 'chain' },
    { slot: RESUME_SLOT, signatures: { [PROGRAM]: String(RESUME_SLOT) }, chain: 'chain' },
  );
  await new TransactionAudit({ rpc, history, reader: { counts: {} }, queue, logger: silentLogger(), signal }).begin(
    () => {},
  );
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
