// A slot without a block counts as skipped only when a block proves it.

import { afterEach, describe, expect, it } from 'vitest';
import { FaultyNode } from '../../test/support/ingest/faulty-node.ts';
import { chainOf, listRemembered, serveBlocks } from '../../test/support/ingest/partial-ledger.ts';
import { BlockLists } from './block-lists.ts';
import { RequestBudget } from './budget.ts';
import { REAL_CLOCK } from './clock.ts';
import { Endpoint } from './endpoint.ts';
import { BEHIND } from './errors.ts';
import { FinalizedChain } from './finalized.ts';
import { Nodes } from './nodes.ts';

const OPTIONS = { commitment: 'confirmed' };
const { signal } = new AbortController();

const open: FaultyNode[] = [];
afterEach(async () => {
  for (const node of open.splice(0)) await node.close();
});
const started = async () => {
  const node = await FaultyNode.open(null);
  open.push(node);
  return node;
};
/** Each node has the blocks of the chain that its rule names. */
const nodesOf = async (chain: readonly number[], ...rules: readonly ((slot: number) => boolean)[]) => {
  const endpoints: Endpoint[] = [];
  for (const has of rules) {
    const node = await started();
    serveBlocks(node, chain, has);
    endpoints.push(new Endpoint(node.url, new RequestBudget(0, REAL_CLOCK), REAL_CLOCK));
  }
  return new Nodes(endpoints, 'confirmed', signal, REAL_CLOCK);
};
const whole = () => true;
const jumped = (slot: number) => slot < 110 || slot > 130;

describe('the blocks of a range', () => {
  const range = { fromSlot: 100, toSlot: 119 };

  it('have nothing missing where slots were skipped, at the end of the range too', async () => {
    const skipped = [100, 104, 105, 106, 118, 119, 120, 121];
    const lists = new BlockLists(await nodesOf(chainOf(90, 200, skipped), whole));
    expect(await lists.inRange(range, OPTIONS)).toEqual({ slots: chainOf(100, 119, skipped), missing: [] });
  });

  it('cost one small request for each run of skipped slots', async () => {
    const nodes = await nodesOf(chainOf(90, 200, [104, 105, 118, 119]), whole);
    await new BlockLists(nodes).inRange(range, OPTIONS);
    expect([open[0]?.asked.get('getBlocks'), open[0]?.asked.get('getBlock')]).toEqual([1, 2]);
  });

  it('lack those that a node lost at a jump to a newer snapshot', async () => {
    const lists = new BlockLists(await nodesOf(chainOf(90, 200, [105, 128, 129]), jumped));
    expect(await lists.inRange(range, OPTIONS)).toEqual({
      slots: chainOf(100, 109, [105]),
      missing: [{ fromSlot: 110, toSlot: 119 }],
    });
    expect(await lists.inRange({ fromSlot: 120, toSlot: 139 }, OPTIONS)).toEqual({
      slots: chainOf(131, 139),
      missing: [{ fromSlot: 120, toSlot: 130 }],
    });
  });

  it('lack all of them on a node that pruned them', async () => {
    const chain = [...chainOf(90, 200), ...chainOf(5_000, 5_100)];
    const lists = new BlockLists(await nodesOf(chain, (slot) => slot > 4_000));
    expect(await lists.inRange(range, OPTIONS)).toEqual({ slots: [], missing: [range] });
  });

  it('come from another node where one lacks them', async () => {
    const lists = new BlockLists(await nodesOf(chainOf(90, 200, [105]), jumped, whole));
    expect(await lists.inRange(range, OPTIONS)).toEqual({ slots: chainOf(100, 119, [105]), missing: [] });
  });

  it('are not known while the node that may have them does not answer', async () => {
    const nodes = await nodesOf(chainOf(90, 200), jumped, whole);
    const second = open[1];
    if (second) second.http = () => ({ status: 403 });
    await expect(new BlockLists(nodes).inRange(range, OPTIONS)).rejects.toThrow('403');
  });
});

describe('a jump', () => {
  const skipped = chainOf(300, 399);
  const chain = chainOf(90, 1_000, skipped);
  const lost = (slot: number) => slot < 510 || slot > 700;

  it('is a long run of slots whose blocks a node lost, not one that the chain skipped', async () => {
    const lists = new BlockLists(await nodesOf(chain, lost));
    expect(await lists.compare(100, OPTIONS)).toMatchObject({
      jumps: [{ fromSlot: 510, toSlot: 700 }],
      whole: new Set(),
    });
    expect([open[0]?.asked.get('getBlocks'), open[0]?.asked.get('getBlock')]).toEqual([1, 2]);
  });

  it('is seen when nothing before it is asked for, and not where a node holds no older blocks', async () => {
    const jumpedNode = new BlockLists(await nodesOf(chain, lost));
    expect((await jumpedNode.compare(510, OPTIONS)).jumps).toEqual([{ fromSlot: 510, toSlot: 700 }]);
    const prunedNode = new BlockLists(await nodesOf(chain, (slot) => slot > 700));
    expect((await prunedNode.compare(510, OPTIONS)).jumps).toEqual([]);
  });

  it('of one node is none beside a whole node', async () => {
    const nodes = await nodesOf(chain, lost, whole);
    const compared = await new BlockLists(nodes).compare(100, OPTIONS);
    expect(compared.jumps).toEqual([]);
    expect([...compared.whole]).toEqual([nodes.endpoints[1]]);
  });

  it('counts where another node pruned the blocks before it', async () => {
    const compared = await new BlockLists(await nodesOf(chain, lost, (slot) => slot > 600)).compare(100, OPTIONS);
    expect(compared).toMatchObject({ jumps: [{ fromSlot: 510, toSlot: 700 }], whole: new Set() });
  });

  it('is inconclusive while a node that may have its blocks stands far behind', async () => {
    const compared = await new BlockLists(await nodesOf(chain, lost, (slot) => slot <= 600)).compare(100, OPTIONS);
    expect(compared).toMatchObject({
      jumps: [{ fromSlot: 510, toSlot: 700 }],
      whole: new Set(),
      unanswered: { code: BEHIND },
    });
  });

  it('is not looked for at a silent node for long', async () => {
    const nodes = await nodesOf(chain, lost, whole);
    open[0]?.on('getSlot', () => new Promise(() => {}));
    const compared = await new BlockLists(nodes).compare(100, OPTIONS);
    expect([...compared.whole]).toEqual([nodes.endpoints[1]]);
    expect([...compared.tips]).toEqual([[nodes.endpoints[1], 1_000]]);
  });

  it('is not hidden by the blocks that a node lists after it booted and does not have', async () => {
    const remembered = chain.filter((slot) => slot <= 700);
    const booting = await nodesOf(chain, (slot) => slot < 510);
    open[0]?.on('getSlot', () => ({ result: 700 }));
    if (open[0]) listRemembered(open[0], remembered, (slot) => slot < 510);
    await expect(new BlockLists(booting).compare(100, OPTIONS)).rejects.toThrow('newest slot');
  });

  it('is none where the finalized blocks end far below the newest one', async () => {
    const nodes = await nodesOf(chain, whole);
    if (open[0]) serveBlocks(open[0], chain, whole, (slot) => slot < 250);
    const compared = await new BlockLists(nodes).compare(100, OPTIONS);
    expect(compared.jumps).toEqual([]);
    expect([...compared.whole]).toEqual(nodes.endpoints);
  });

  it('is not known before the node has blocks behind it', async () => {
    const nodes = await nodesOf(chain, (slot) => slot < 510);
    open[0]?.on('getSlot', () => ({ result: 700 }));
    await expect(new BlockLists(nodes).compare(100, OPTIONS)).rejects.toThrow('newest slot');
  });
});

describe('the finalized chain', () => {
  const chainWith = async (chain: readonly number[], ...rules: readonly ((slot: number) => boolean)[]) => {
    const nodes = await nodesOf(chain, ...rules);
    // After some minutes a node has no status of any signature.
    for (const node of open)
      node.on('getSignatureStatuses', ([asked]) => ({
        result: { context: { slot: 6_000 }, value: (asked as readonly unknown[]).map(() => null) },
      }));
    return new FinalizedChain(nodes, signal);
  };
  const places = [
    { slot: 108, signature: '108' },
    { slot: 115, signature: '115' },
  ];

  it('lacks a transaction whose slot the next block proves skipped', async () => {
    const chain = await chainWith(chainOf(90, 200, [114, 115, 116]), whole);
    expect(await chain.lacking(places)).toEqual([{ slot: 115, signature: '115' }]);
  });

  it('lacks a transaction whose slot has another block, with other transactions or with none', async () => {
    const chain = await chainWith(chainOf(90, 200), whole);
    const dropped = { slot: 115, signature: 'dropped' };
    expect(await chain.lacking([...places, dropped])).toEqual([dropped]);
    open[0]?.on('getBlock', () => ({ result: { parentSlot: 1, blockhash: 'other', signatures: [] } }));
    expect(await chain.lacking([dropped])).toEqual([dropped]);
  });

  it('lacks a transaction that stands in its slot and fails there, as in another block of the same slot', async () => {
    const chain = await chainWith(chainOf(90, 200), whole);
    const status = { slot: 115, confirmationStatus: 'finalized', err: { InstructionError: [0, { Custom: 6_000 }] } };
    const value = [{ ...status, slot: 108, err: null }, status];
    open[0]?.on('getSignatureStatuses', () => ({ result: { context: { slot: 6_000 }, value } }));
    expect(await chain.lacking(places)).toEqual([{ slot: 115, signature: '115' }]);
    expect(open[0]?.asked.get('getBlock')).toBeUndefined();
  });

  it('lacks none because a node lost its block: that is no answer', async () => {
    const chain = await chainWith(chainOf(90, 200), jumped);
    await expect(chain.lacking(places)).rejects.toThrow('ledger jump');
  });

  it('does not answer while no node has a later block', async () => {
    const chain = await chainWith(chainOf(90, 200), (slot) => slot < 110);
    await expect(chain.lacking(places)).rejects.toThrow('ledger jump');
  });
});
