// Lists that are early, empty or out of date do not move the resume point beyond what they prove.

import { describe, expect, it } from 'vitest';
import type { ResumePoint, TransactionLogs } from '../source.ts';
import { RpcError } from './errors.ts';
import { History, MISSING_SWEEPS_MAX } from './history.ts';
import { type JsonRpc, type ListedSignature, TRANSACTION_BATCH } from './json-rpc.ts';

type Lists = Pick<JsonRpc, 'signatures' | 'transactions'>;

const EXCHANGE = 'exchange';
const VAULTS = 'vaults';
const OPTIONS = {
  programs: [EXCHANGE, VAULTS],
  commitment: 'confirmed',
  firstSignaturesMax: 1_000,
  chain: 'chain',
} as const;
const NOW = { lagSlots: 0, emptySlot: 0 };

const listed = (slot: number): ListedSignature => ({ signature: `signature ${slot}`, slot, failed: false });

/** A node whose lists are scripted: newest first, without pages. */
function node(lists: Record<string, readonly ListedSignature[]>): Lists {
  return {
    signatures: async (program, { before }) => (before === null ? (lists[program] ?? []) : []),
    transactions: async (signatures) =>
      signatures.map((signature) => {
        const found: TransactionLogs = {
          kind: 'transaction',
          slot: Number(signature.split(' ')[1]),
          signature,
          failed: false,
          logs: [],
          blockIndex: null,
          blockTime: null,
        };
        return { found };
      }),
  };
}

function sweep(history: History) {
  return history.sweep(NOW, async () => {}, new AbortController().signal);
}

describe('the resume point', () => {
  const resume: ResumePoint = {
    slot: 100,
    signatures: { [EXCHANGE]: 'signature 100', [VAULTS]: 'signature 99' },
    chain: 'chain',
  };

  it('does not pass slots that one list was asked too early for', async () => {
    const lists = { [EXCHANGE]: [listed(105), listed(100)], [VAULTS]: [listed(106), listed(99)] };
    const history = new History(node(lists), OPTIONS, resume);
    await sweep(history);
    expect(history.resume?.slot).toBe(105);
    await sweep(history);
    expect(history.resume?.slot).toBe(106);
  });

  it('does not move on an empty list of a program that has transactions', async () => {
    const history = new History(node({ [VAULTS]: [listed(106)] }), OPTIONS, null);
    history.notified(EXCHANGE, 104);
    for (let turn = 0; turn < 3; turn++) expect(await sweep(history)).toMatchObject({ isProven: false });
    expect(history.resume).toBeNull();
  });

  it('moves on past a program whose last notified transaction is long ago', async () => {
    const lists = { [EXCHANGE]: [listed(101), listed(100)], [VAULTS]: [listed(101), listed(99)] };
    const history = new History(node(lists), OPTIONS, resume);
    history.notified(VAULTS, 101);
    for (const slot of [300, 500, 700, 900]) {
      for (let turn = 0; turn < 3; turn++) await sweep(history);
      lists[EXCHANGE].unshift(listed(slot));
    }
    for (let turn = 0; turn < 3; turn++) await sweep(history);
    expect(history.resume?.slot).toBe(900);
  });

  it('moves past a program without transactions after three empty lists', async () => {
    const history = new History(node({ [EXCHANGE]: [listed(104)] }), OPTIONS, null);
    const slots: (number | undefined)[] = [];
    for (let turn = 0; turn < 3; turn++) {
      await sweep(history);
      slots.push(history.resume?.slot);
    }
    expect(slots).toEqual([undefined, undefined, 104]);
  });
});

describe('a transaction that a node did not get to', () => {
  const resume: ResumePoint = { slot: 100, signatures: { [EXCHANGE]: 'signature 100' }, chain: 'chain' };
  const options = { ...OPTIONS, programs: [EXCHANGE] };
  const slots = Array.from({ length: TRANSACTION_BATCH + 4 }, (_, index) => 101 + index);
  const lists = { [EXCHANGE]: [...slots.toReversed(), 100].map(listed) };

  it('delays no other transaction of its round and does not count as missed', async () => {
    const whole = node(lists);
    let isBusy = true;
    const history = new History(
      {
        ...whole,
        transactions: async (signatures, commitment) => {
          if (isBusy && signatures.includes('signature 101')) throw new RpcError('busy', 429, { isTransport: true });
          return whole.transactions(signatures, commitment);
        },
      },
      options,
      resume,
    );
    expect(await sweep(history)).toMatchObject({ found: 5, missing: TRANSACTION_BATCH });
    for (let turn = 0; turn < MISSING_SWEEPS_MAX; turn++) await expect(sweep(history)).rejects.toThrow('busy');
    expect(history.resume?.slot).toBe(100);
    isBusy = false;
    expect(await sweep(history)).toMatchObject({ found: TRANSACTION_BATCH, holes: [] });
    expect(history.resume?.slot).toBe(slots.at(-1));
  });

  it('is no hole while others of its batch are answered', async () => {
    const whole = node(lists);
    const history = new History(
      {
        ...whole,
        transactions: async (signatures, commitment) => {
          const outcomes = await whole.transactions(signatures, commitment);
          const busy = { found: null, reason: 'busy', miss: 'busy' } as const;
          const lacking = { found: null, reason: 'no node has it', miss: 'lacking' } as const;
          return outcomes.map((one, at) =>
            signatures[at] === 'signature 101' ? busy : signatures[at] === 'signature 102' ? lacking : one,
          );
        },
      },
      options,
      resume,
    );
    const holes: string[] = [];
    for (let turn = 0; turn < MISSING_SWEEPS_MAX; turn++)
      holes.push(...(await sweep(history)).holes.map(({ reason }) => reason));
    expect(holes).toEqual(['signature 102: no node has it']);
    expect(history.resume?.slot).toBe(100);
  });
});

describe('a transaction that no node returns', () => {
  it('becomes a hole although the sweep that gave it up failed', async () => {
    // The first round of 100 stays without an answer, and the nodes fail at the second.
    const entries = Array.from({ length: 150 }, (_, index) => listed(1_000 + index)).reverse();
    const whole = node({ [EXCHANGE]: [...entries, listed(800)] });
    let isDown = true;
    const transactions: Lists['transactions'] = async (signatures, ...rest) => {
      const outcomes = await whole.transactions(signatures, ...rest);
      const isLacking = outcomes.map((one) => (one.found?.slot ?? 0) < 1_100);
      if (isDown && isLacking.includes(false)) throw new RpcError('HTTP 503', 503, { isTransport: true });
      const lacking = { found: null, reason: 'no node has it', miss: 'lacking' } as const;
      return outcomes.map((one, index) => (isLacking[index] ? lacking : one));
    };
    const resume = { slot: 950, signatures: { [EXCHANGE]: 'signature 800' }, chain: 'chain' };
    const history = new History({ ...whole, transactions }, { ...OPTIONS, programs: [EXCHANGE] }, resume);
    for (let turn = 0; turn < MISSING_SWEEPS_MAX; turn++) await expect(sweep(history)).rejects.toThrow('503');
    isDown = false;
    const { holes } = await sweep(history);
    expect(holes.map(({ fromSlot }) => fromSlot)).toEqual(Array.from({ length: 100 }, (_, index) => 1_000 + index));
    expect(history.resume?.slot).toBe(1_149);
    expect((await sweep(history)).holes).toEqual([]);
  });
});

describe('a first start', () => {
  it('names the slot up to which it does not read, until it has a resume point', async () => {
    const lists = { [EXCHANGE]: [listed(106), listed(105), listed(104)] };
    const history = new History(node(lists), { ...OPTIONS, firstSignaturesMax: 2 }, null);
    expect(await sweep(history)).toMatchObject({ cutSlot: 105, found: 2 });
  });

  it.each([false, true])(
    'that reads nothing back begins after the newest signature (a live one came first: %s)',
    async (isLive) => {
      const lists = {
        [EXCHANGE]: [listed(106), { ...listed(106), signature: 'signature 106 too' }, listed(105)],
        [VAULTS]: [listed(90)],
      };
      const history = new History(node(lists), { ...OPTIONS, firstSignaturesMax: 0 }, null);
      if (isLive) history.notified(EXCHANGE, 107);
      expect(await sweep(history)).toMatchObject({ cutSlot: 106, found: 0, missing: 0, isProven: true });
      lists[EXCHANGE].unshift(listed(107));
      const found: number[] = [];
      for (let turn = 0; turn < 3; turn++) {
        const { cutSlot } = await history.sweep(
          NOW,
          async ({ slot }) => void found.push(slot),
          new AbortController().signal,
        );
        expect(cutSlot).toBeNull();
      }
      expect(found).toEqual([107]);
      expect(history.resume?.slot).toBe(107);
    },
  );

  it('reads no more of a program than its limit because another one is quiet for long', async () => {
    const lists = { [EXCHANGE]: [listed(906), listed(905), listed(904), listed(500)], [VAULTS]: [listed(400)] };
    const history = new History(node(lists), { ...OPTIONS, firstSignaturesMax: 2 }, null);
    expect(await sweep(history)).toMatchObject({ cutSlot: 905, found: 3 });
    for (let turn = 0; turn < 3; turn++) expect(await sweep(history)).toMatchObject({ found: 0, isProven: true });
    expect(history.resume?.slot).toBe(906);
  });

  it('does not take empty pages for the begin of the history', async () => {
    const pages = [[listed(106)], [], [], [listed(105)]];
    const lists = { ...node({}), signatures: async () => pages.shift() ?? [] };
    const history = new History(lists, { ...OPTIONS, programs: [EXCHANGE] }, null);
    expect(await sweep(history)).toMatchObject({ found: 2, isProven: true });
    pages.push([listed(107)]);
    expect(await sweep(history)).toMatchObject({ found: 1, isProven: false });
    expect(history.resume?.slot).toBe(106);
  });
});
