// What the audits say about gaps.

import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../platform/index.ts';
import type { ChainGap } from '../../schemas/index.ts';
import { withNotice, withProgress } from '../gaps.ts';
import { UpdateQueue } from '../queue.ts';
import type { GapNotice, ResumePoint, SlotRange } from '../source.ts';
import type { Endpoint } from './endpoint.ts';
import { BEHIND, RpcError } from './errors.ts';
import { FAILED_SWEEPS_MAX, History, type Sweep, type SweepOptions } from './history.ts';
import { TransactionAudit } from './transaction-audit.ts';

const DONE: Sweep = { found: 0, missing: 0, holes: [], isProven: true, cutSlot: null };

/** A history by script: each sweep moves the resume point and has a result. */
function scripted(sweeps: readonly { readonly slot: number; readonly live: number; readonly sweep: Sweep }[]) {
  const left = [...sweeps];
  const history = {
    resume: { slot: 100, signatures: {}, chain: '' },
    liveSlot: 100,
    sweep: async () => {
      const next = left.shift();
      history.resume = { slot: next?.slot ?? 0, signatures: {}, chain: '' };
      history.liveSlot = next?.live ?? 0;
      return next?.sweep ?? DONE;
    },
    failed: () => null,
  };
  return history as unknown as History;
}

type Options = ConstructorParameters<typeof TransactionAudit>[0];
type Compare = Options['rpc']['blockLists']['compare'];
type Jumps = (fromSlot: number) => Promise<readonly SlotRange[]>;

/** Nodes whose lists of blocks agree. */
const AGREED = { whole: new Set<Endpoint>(), tips: new Map<Endpoint, number>(), jumps: [], unanswered: null };

/** An audit of a history whose nodes compare their lists of blocks so. */
function auditOf(history: History, queue: UpdateQueue, compare: Compare = async () => AGREED): TransactionAudit {
  return new TransactionAudit({
    rpc: { firstAvailableBlock: async () => 0, blockLists: { compare } },
    history,
    reader: { counts: {} },
    queue,
    logger: silentLogger(),
    signal: new AbortController().signal,
  });
}

async function gapsOf(history: History, turns: number, jumps: Jumps = async () => []): Promise<GapNotice[]> {
  const queue = new UpdateQueue(1_000);
  const audit = auditOf(history, queue, async (fromSlot) => ({ ...AGREED, jumps: await jumps(fromSlot) }));
  await audit.begin(() => {});
  for (let turn = 0; turn < turns; turn++) await audit.turn();
  queue.end();
  const gaps: GapNotice[] = [];
  for await (const batch of queue.batches()) for (const one of batch) if (one.kind === 'gap') gaps.push(one);
  return gaps;
}

describe('a gap', () => {
  it('of transactions without a notification is filled up to the resume point, not to the newest notification', async () => {
    const found = { ...DONE, found: 3 };
    const history = scripted([
      { slot: 110, live: 110, sweep: DONE },
      { slot: 120, live: 131, sweep: found },
    ]);
    const filled = (await gapsOf(history, 1)).filter((gap) => gap.filled).at(-1);
    expect(filled).toMatchObject({ fromSlot: 110, toSlot: 120, filled: true });
  });

  it('of transactions that no node returned stays open until the resume point has passed it', async () => {
    const history = scripted([
      { slot: 110, live: 110, sweep: DONE },
      { slot: 112, live: 130, sweep: { ...DONE, missing: 2 } },
      { slot: 125, live: 140, sweep: DONE },
      { slot: 132, live: 141, sweep: DONE },
    ]);
    const gaps = (await gapsOf(history, 3)).slice(2);
    expect(gaps).toMatchObject([
      { fromSlot: 112, toSlot: 130, filled: false },
      { fromSlot: 112, toSlot: 132, filled: true },
    ]);
  });

  it('of blocks that the node lost while it was away is lasting, and reported once', async () => {
    const history = scripted([
      { slot: 9_050, live: 9_050, sweep: { ...DONE, found: 50 } },
      { slot: 9_060, live: 9_060, sweep: DONE },
    ]);
    const asked: number[] = [];
    const gaps = await gapsOf(history, 1, async (fromSlot) => {
      asked.push(fromSlot);
      return [{ fromSlot: 101, toSlot: 9_000 }];
    });
    expect(asked).toEqual([101]);
    const lasting = gaps.filter(({ isLasting }) => isLasting);
    expect(lasting).toMatchObject([{ fromSlot: 101, toSlot: 9_000, filled: false }]);
  });

  it('is not filled before the blocks of the node were compared', async () => {
    const history = scripted([{ slot: 110, live: 110, sweep: DONE }]);
    let isBehind = true;
    const filled = async (turns: number) => {
      const refuse: Jumps = async () => {
        if (isBehind) throw new RpcError('the node is behind', BEHIND);
        return [];
      };
      return (await gapsOf(history, turns, refuse)).filter((gap) => gap.filled);
    };
    expect(await filled(2)).toEqual([]);
    expect(history.resume?.slot).toBe(100);
    isBehind = false;
    expect(await filled(0)).toMatchObject([{ fromSlot: 100, toSlot: 110 }]);
  });

  it('is filled where nodes do not list blocks', async () => {
    const history = scripted([{ slot: 110, live: 110, sweep: DONE }]);
    const refuse: Jumps = async () => {
      throw new RpcError('Method not found', -32601);
    };
    expect((await gapsOf(history, 0, refuse)).filter((gap) => gap.filled)).toMatchObject([{ toSlot: 110 }]);
  });
});

describe('a comparison of blocks', () => {
  it('is repeated when the node that was whole lists no signatures any more', async () => {
    const [whole, other] = [{} as Endpoint, {} as Endpoint];
    let isAway = false;
    let compared = 0;
    const listed: string[] = [];
    const history = {
      resume: { slot: 100, signatures: {}, chain: '' },
      liveSlot: 100,
      sweep: async ({ mayList = () => true }: SweepOptions) => {
        if (!isAway && mayList(whole)) listed.push('whole');
        else if (mayList(other)) listed.push('other');
        else throw new RpcError('away', null, { remedy: 'later' });
        return DONE;
      },
      failed: () => null,
    } as unknown as History;
    const audit = auditOf(history, new UpdateQueue(1_000), async () => {
      compared += 1;
      const tips = new Map([whole, other].map((one) => [one, 200] as const));
      return { ...AGREED, whole: new Set([isAway ? other : whole]), tips };
    });
    await audit.begin(() => {});
    isAway = true;
    for (let turn = 0; turn < 4; turn++) await audit.turn();
    expect(listed).toEqual(['whole', 'other']);
    expect(compared).toBe(2);
  });
});

describe('lists of signatures that a node refuses', () => {
  const CHAIN = 'chain';

  /** Audits with a live transaction of a new slot before each. The node lists and has them all once it does not refuse. */
  const watch = async (resume: ResumePoint | null, firstLive: number) => {
    let newest = firstLive - 1;
    const node = { isRefusing: true };
    const listed = (slot: number) => ({ signature: `signature ${slot}`, slot, failed: false });
    const rpc: ConstructorParameters<typeof History>[0] = {
      signatures: async (_, { before }) => {
        if (node.isRefusing) throw new RpcError('no transaction history', -32011);
        const from = before === null ? newest : Number(before.split(' ')[1]) - 1;
        return Array.from({ length: from + 1 }, (_, index) => listed(from - index));
      },
      transactions: async (signatures) =>
        signatures.map((signature) => {
          const slot = Number(signature.split(' ')[1]);
          const rest = { failed: false, logs: [], blockIndex: null, blockTime: null };
          return { found: { kind: 'transaction', slot, signature, ...rest } };
        }),
    };
    const options = { programs: ['P'], commitment: 'confirmed', firstSignaturesMax: 1_000, chain: CHAIN } as const;
    const history = new History(rpc, options, resume);
    const queue = new UpdateQueue(1_000_000);
    const audit = auditOf(history, queue);
    await audit.begin(() => {});
    const turn = async () => {
      newest += 1;
      history.notified('P', newest);
      history.take(`signature ${newest}`, newest);
      await audit.turn();
    };
    /** The list of gaps, and the resume points that ingest saves. */
    const written = async () => {
      queue.end();
      let gaps: readonly ChainGap[] = [];
      const resumes: number[] = [];
      for await (const batch of queue.batches())
        for (const one of batch) {
          if (one.kind === 'gap') gaps = withNotice(gaps, one, 1);
          if (one.kind !== 'progress') continue;
          gaps = withProgress(gaps, one.resume.slot, 1);
          resumes.push(one.resume.slot);
        }
      const open = gaps.filter(({ filledAtMs }) => filledAtMs === null);
      return { resumes, open: open.map(({ fromSlot, toSlot, isLasting }) => ({ fromSlot, toSlot, isLasting })) };
    };
    return { history, node, turn, written };
  };
  const resumed: ResumePoint = { slot: 100, signatures: {}, chain: CHAIN };
  const TURNS = 5 * FAILED_SWEEPS_MAX;

  it('leave an open gap from the resume point that grows', async () => {
    const { turn, written } = await watch(resumed, 150);
    for (let count = 0; count < TURNS; count++) await turn();
    const { open, resumes } = await written();
    expect(open).toEqual([{ fromSlot: 100, toSlot: 149 + TURNS, isLasting: false }]);
    expect(resumes).toEqual([]);
  });

  it('leave no gap once they are answered, and nothing is missing', async () => {
    const { node, turn, written, history } = await watch(resumed, 150);
    for (let count = 0; count < TURNS; count++) await turn();
    node.isRefusing = false;
    for (let count = 0; count < 20; count++) await turn();
    expect((await written()).open).toEqual([]);
    expect(history.resume?.slot).toBeGreaterThan(149 + TURNS);
  });

  it('do not keep a first start from a resume point: it stands before the first live transaction', async () => {
    const { turn, written, history } = await watch(null, 200);
    for (let count = 0; count < TURNS; count++) await turn();
    expect(history.resume).toEqual({ slot: 199, signatures: {}, chain: CHAIN });
    const { open, resumes } = await written();
    expect(resumes).toEqual([199]);
    expect(open).toEqual([
      { fromSlot: 0, toSlot: 199, isLasting: true },
      { fromSlot: 199, toSlot: 199 + TURNS, isLasting: false },
    ]);
  });
});
