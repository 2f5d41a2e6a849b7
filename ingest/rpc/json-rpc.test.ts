// How accounts are read from nodes that refuse to list them in pages.

import { describe, expect, it } from 'vitest';
import type { AccountStream } from './account-stream.ts';
import { RequestBudget } from './budget.ts';
import { REAL_CLOCK } from './clock.ts';
import { Endpoint } from './endpoint.ts';
import { JsonRpc } from './json-rpc.ts';
import { Nodes } from './nodes.ts';
import type { Transport } from './transport.ts';

const OPTIONS = { commitment: 'confirmed' } as const;
const PAGED = 'getProgramAccountsV2';
const WHOLE = 'getProgramAccounts';
const FULL = { result: { context: { slot: 5_000 }, value: [] } };
const GONE = { status: 410 };

/** What a node answers to a large read: an HTTP status, or an envelope. */
type Answer =
  | { readonly status: number }
  | { readonly result: unknown }
  | { readonly error: { readonly code: number } };

/** A node by script. `asked` has the large reads in their order. */
function nodeOf(answers: Readonly<Record<string, Answer>>) {
  const asked: string[] = [];
  const transport: Pick<Transport, 'post'> = {
    post: async () => ({
      ok: true,
      status: 200,
      retryAfter: null,
      text: async () => JSON.stringify({ result: 5_000 }),
      chunks: async function* () {},
      cancel: async () => {},
    }),
  };
  const endpoint = new Endpoint(
    'http://node.example',
    new RequestBudget(0, REAL_CLOCK),
    REAL_CLOCK,
    transport as Transport,
  );
  const stream: Pick<AccountStream, 'read'> = {
    read: async (_, body) => {
      const { method } = body as { readonly method: string };
      asked.push(method);
      const answer = answers[method] ?? { error: { code: -32601 } };
      if ('status' in answer) endpoint.settle(answer.status, null);
      return answer;
    },
  };
  const nodes = new Nodes([endpoint], 'confirmed', new AbortController().signal, REAL_CLOCK);
  const rpc = new JsonRpc(nodes, stream as AccountStream);
  return {
    asked,
    read: () => rpc.programAccounts('exchange', [], OPTIONS),
    changed: () => rpc.changedAccounts('exchange', [], 4_000, OPTIONS),
  };
}

describe('a read of accounts', () => {
  it.each([
    { refusal: GONE, asked: [PAGED, WHOLE, WHOLE] },
    { refusal: { status: 403 }, asked: [PAGED, WHOLE, WHOLE] },
    { refusal: { error: { code: -32601 } }, asked: [PAGED, WHOLE, WHOLE] },
    { refusal: { error: { code: -32600 } }, asked: [PAGED, WHOLE, PAGED, WHOLE] },
    { refusal: { error: { code: -32602 } }, asked: [PAGED, WHOLE, PAGED, WHOLE] },
    { refusal: { error: { code: -33_000 } }, asked: [PAGED, WHOLE, PAGED, WHOLE] },
  ])('of a node that refuses pages with $refusal asks it for all at once', async ({ refusal, asked }) => {
    const node = nodeOf({ [PAGED]: refusal, [WHOLE]: FULL });
    expect((await node.read()).slot).toBe(5_000);
    await node.read();
    expect(node.asked).toEqual(asked);
  });

  it('of a node that refuses everything learns nothing about pages', async () => {
    const answers: Record<string, Answer> = { [PAGED]: { status: 401 }, [WHOLE]: { status: 401 } };
    const node = nodeOf(answers);
    await expect(node.read()).rejects.toThrow('401');
    answers[PAGED] = FULL;
    expect((await node.read()).slot).toBe(5_000);
    expect(node.asked).toEqual([PAGED, WHOLE, PAGED]);
  });

  it('of a node that has listed pages before asks for them again after a refusal by HTTP', async () => {
    const answers: Record<string, Answer> = { [PAGED]: FULL, [WHOLE]: FULL };
    const node = nodeOf(answers);
    await node.read();
    answers[PAGED] = GONE;
    await node.read();
    answers[PAGED] = FULL;
    await node.read();
    expect(node.asked).toEqual([PAGED, PAGED, WHOLE, PAGED]);
  });

  it('that a busy node refuses is repeated in pages', async () => {
    const left: Answer[] = [{ status: 429 }];
    const node = nodeOf({
      get [PAGED]() {
        return left.shift() ?? FULL;
      },
      [WHOLE]: FULL,
    });
    await node.read();
    expect(node.asked).toEqual([PAGED, PAGED]);
  });

  it('of changed accounts returns nothing when the node refuses pages', async () => {
    for (const refusal of [GONE, { error: { code: -32602 } }, { error: { code: -32601 } }])
      expect(await nodeOf({ [PAGED]: refusal }).changed()).toBeNull();
  });
});
